#include "testlog/cuda/health.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "testlog/checks.h"
#include "testlog/listener.h"
#include "testlog/records.h"
#include "tracing_core/cuda/errors.h"
#include "tracing_core/format/span_path.h"

namespace testlog::inline v1 {
namespace {

constexpr std::size_t kMostCandidates = 8;

std::string name_of(testing::TestInfo const& test) { return std::string(test.test_suite_name()) + "." + test.name(); }

}  // namespace

void CudaHealthListener::OnTestEnd(testing::TestInfo const& test) {
  if (session_.environment().cuda_health == CudaHealth::off) return;
  if (!broken_by_.empty()) return mark_consequence(test);
  bool has_devices = false;
  tracing::cuda::for_each_driver([&](tracing::cuda::Driver& driver) {
    if (!driver.has_device()) return;
    has_devices = true;
    check(driver, test);
  });
  for (tracing::cuda::Loss const& loss : tracing::cuda::take_losses_of_gone_drivers())
    fail(test, loss.to_string() + candidates_of(loss), true);
  if (has_devices) return;
  if (CUresult const result = process_driver_.synchronize(); result != CUDA_SUCCESS) {
    fail(test, tracing::cuda::error_text(result) + launches_of_test(),
         tracing::cuda::lost_with(result) != tracing::cuda::Lost::nothing);
  }
}

void CudaHealthListener::check(tracing::cuda::Driver& driver, testing::TestInfo const& test) {
  CUresult const result = driver.check();
  if (auto const loss = driver.loss()) {
    fail(test, loss->to_string() + candidates_of(*loss), true);
  } else if (result != CUDA_SUCCESS) {
    fail(test, tracing::cuda::error_text(result, &driver.api()), false);
  }
}

std::string CudaHealthListener::launches_of_test() const {
  if (std::string const why = why_incomplete(session_); !why.empty()) return "\n  Its launches are not known: " + why + ".";
  std::vector<Record> launches = records();
  std::erase_if(launches, [](Record const& record) {
    return !record.is_span || record.name != "launch" || record.field("kernel.name") == nullptr;
  });
  if (launches.empty())
    return "\n  It made no launch by TRACE_LAUNCH or a tracing::cuda::Driver, whose launches are named here.";
  std::ostringstream text;
  text << "\n  One of its " << launches.size() << " launches may have done it:";
  if (launches.size() > kMostCandidates) text << " the last " << kMostCandidates << " of them are";
  for (std::size_t i = launches.size() - std::min(launches.size(), kMostCandidates); i < launches.size(); ++i) {
    text << "\n    " << launches[i];
  }
  return text.str();
}

void CudaHealthListener::fail(testing::TestInfo const& test, std::string const& what, bool for_good) {
  bool const stops = for_good && session_.environment().cuda_health == CudaHealth::stop;
  std::string const outlook =
      stops ? "\n  No further test runs: TRACE_CUDA_HEALTH=stop."
            : "\n  What fails after it in this process may be its consequence; TRACE_CUDA_HEALTH=stop runs no further test.";
  GTEST_MESSAGE_AT_(test.file(), test.line(), "", testing::TestPartResult::kNonFatalFailure)
      << (for_good ? "The CUDA device was broken by this test: " : "The CUDA device is not well after this test: ") << what
      << (for_good ? outlook : "");
  if (for_good && broken_by_.empty()) broken_by_ = name_of(test);
  if (stops) GTEST_FLAG_SET(fail_fast, true);
}

void CudaHealthListener::mark_consequence(testing::TestInfo const& test) {
  if (!test.result()->Failed()) return;
  testing::Test::RecordProperty("cuda_device_broken_by", broken_by_);
  if (session_.is_mute()) return;
  session_.output().write("    The CUDA device was broken by " + broken_by_ + ": this failure may be its consequence.\n");
}

std::string CudaHealthListener::candidates_of(tracing::cuda::Loss const& loss) const {
  std::string text;
  for (std::size_t i = 0; i < std::min(loss.candidates.size(), kMostCandidates); ++i) {
    tracing::cuda::Launch const& launch = loss.candidates[i];
    // Spans of another subscriber are not known here.
    if (!launch.span || launch.span.open().subscriber != &session_.registry()) continue;
    tracing::InlineTextBuffer<512> path;
    tracing::append_span_path(path, session_.registry().span(launch.span.id()));
    text.append("\n    ").append(path.view());
  }
  return text;
}

namespace {

// As testlog's own listeners, which are to stand before this one: ends are told in reverse, so that what is found here is
// part of the test's story.
[[maybe_unused]] bool const installed = [] {
  internal::install_listeners();
  Session* const session = Session::get();
  if (session == nullptr) return false;
  testing::UnitTest::GetInstance()->listeners().Append(new CudaHealthListener(*session));
  return true;
}();

}  // namespace
}  // namespace testlog::inline v1

int const testlog_cuda_keep_linked = 1;
