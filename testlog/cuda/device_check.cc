#define TRACE_TARGET "testlog::cuda"
#include "testlog/cuda/device_check.h"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <string_view>

#include "testlog/googletest.h"
#include "testlog/records.h"
#include "testlog/run/state_report.h"
#include "tracing_core/cuda/device_times.h"
#include "tracing_core/cuda/errors.h"
#include "tracing_core/format/span_path.h"

namespace testlog { inline namespace v1 {
namespace {

constexpr std::size_t kMaxCandidates = 8;
constexpr std::size_t kMaxLaunches = 32;  // in the report of a hang

std::string name_of(testing::TestInfo const& test) { return std::string(test.test_suite_name()) + "." + test.name(); }

}  // namespace

void DeviceCheckListener::OnTestEnd(testing::TestInfo const& test) {
  if (session_.environment().device_check == DeviceCheck::off) return tracing::cuda::flush_device_times();
  check_devices(test);
  tracing::cuda::flush_device_times(true);  // after the check, which waits for the devices
}

void DeviceCheckListener::check_devices(testing::TestInfo const& test) {
  if (!broken_by_.empty()) return mark_consequence(test);
  bool has_devices = false;
  tracing::cuda::for_each_driver([&](tracing::cuda::Driver& driver) {
    if (!driver.has_device()) return;
    has_devices = true;
    check(driver, test);
  });
  for (tracing::cuda::Loss const& loss : tracing::cuda::take_losses_of_destroyed_drivers())
    fail(test, loss.to_string() + candidates_of(loss), true);
  if (has_devices) return;
  if (CUresult const result = process_driver_.synchronize(); result != CUDA_SUCCESS) {
    fail(test, tracing::cuda::error_text(result) + launches_of_test(),
         tracing::cuda::lost_with(result) != tracing::cuda::Lost::nothing);
  }
}

void DeviceCheckListener::OnTestProgramStart(testing::UnitTest const&) { tracing::cuda::start_device_times_if_asked(); }

void DeviceCheckListener::check(tracing::cuda::Driver& driver, testing::TestInfo const& test) {
  CUresult const result = driver.check_device();
  if (auto const loss = driver.loss()) {
    fail(test, loss->to_string() + candidates_of(*loss), true);
  } else if (result != CUDA_SUCCESS) {
    fail(test, tracing::cuda::error_text(result, &driver.api()), false);
  }
}

std::string DeviceCheckListener::launches_of_test() const {
  if (std::string const why = session_.capture().why_incomplete(); !why.empty())
    return "\n  Its launches are unknown: " + why + ".";
  std::vector<Record> launches = records();
  std::erase_if(launches, [](Record const& record) {
    return !record.is_span || record.name != "launch" || record.field("kernel.name") == nullptr;
  });
  if (launches.empty())
    return "\n  It made no launch with TRACE_LAUNCH or tracing::cuda::Driver; other launches are not recorded.";
  std::size_t const shown = std::min(launches.size(), kMaxCandidates);
  std::ostringstream text;
  text << "\n  One of its " << launches.size() << " launches may be the cause";
  if (shown < launches.size()) text << " (the last " << shown << " are listed)";
  text << ":";
  for (std::size_t i = launches.size() - shown; i < launches.size(); ++i) text << "\n    " << launches[i];
  return text.str();
}

void DeviceCheckListener::fail(testing::TestInfo const& test, std::string const& error, bool lost) {
  bool const stops = lost && session_.environment().device_check == DeviceCheck::stop;
  char const* const outlook =
      !lost ? ""
      : stops
          ? "\n  The remaining tests are skipped: TRACE_CUDA_HEALTH=stop."
          : "\n  Later failures in this process may be consequences; TRACE_CUDA_HEALTH=stop skips the remaining tests.";
  ADD_FAILURE_AT(test.file(), test.line())
      << (lost ? "The CUDA device was broken by this test: " : "The CUDA device reported an error after this test: ")
      << error << outlook;
  if (lost && broken_by_.empty()) broken_by_ = name_of(test);
  if (stops) GTEST_FLAG_SET(fail_fast, true);
}

void DeviceCheckListener::mark_consequence(testing::TestInfo const& test) {
  if (!test.result()->Failed()) return;
  testing::Test::RecordProperty("cuda_device_broken_by", broken_by_);
  if (session_.is_mute()) return;
  session_.output().write_note(
      "failure", "    The CUDA device was broken by " + broken_by_ + "; this failure may be a consequence.\n");
}

std::string DeviceCheckListener::candidates_of(tracing::cuda::Loss const& loss) const {
  std::string text;
  for (std::size_t i = 0; i < std::min(loss.candidates.size(), kMaxCandidates); ++i) {
    tracing::cuda::Launch const& launch = loss.candidates[i];
    // The registry of the session knows only its own spans.
    if (!launch.span || launch.span.open().subscriber != &session_.registry()) continue;
    tracing::InlineTextBuffer<512> path;
    tracing::append_span_path(path, session_.registry().span(launch.span.id()));
    text.append("\n    ").append(path.view());
  }
  return text;
}

namespace {

void add_dim(CrashLine& line, std::string_view before, tracing::cuda::Dim3 const& dim) noexcept {
  line << before << std::uint64_t{dim.x} << ", " << std::uint64_t{dim.y} << ", " << std::uint64_t{dim.z};
}

// The part of a hang report that lists what the devices have not finished.
void write_outstanding_launches(CrashLine& line, Output& output) noexcept {
  struct Visiting {
    CrashLine& line;
    Output& output;
    std::size_t count = 0;
  } visiting{line, output};
  bool const is_complete = tracing::cuda::Driver::visit_outstanding(
      [](void* context, tracing::cuda::Launch const& launch) {
        auto& all = *static_cast<Visiting*>(context);
        if (all.count++ == 0) {
          all.line << "  launches whose end was not observed, the oldest first:";
          all.line.write_to(all.output);
        }
        if (all.count > kMaxLaunches) return;
        all.line << "    " << (launch.stream == 0 ? "the default stream" : "stream ");
        if (launch.stream != 0) all.line << launch.stream;
        all.line << ": launch " << launch.id << " of ";
        all.line.add_text(launch.kernel);
        add_dim(all.line, ", grid (", launch.grid);
        add_dim(all.line, "), block (", launch.block);
        all.line << "), launched ";
        auto const age = std::chrono::steady_clock::now() - launch.at;
        all.line.add_duration(static_cast<std::uint64_t>(std::chrono::nanoseconds(age).count()));
        all.line << " ago";
        all.line.write_to(all.output);
      },
      &visiting);
  if (visiting.count > kMaxLaunches) {
    line << "    and " << visiting.count - kMaxLaunches << " more";
    line.write_to(output);
  }
  if (is_complete) return;
  line << "  launches of drivers that are in use are left out";
  line.write_to(output);
}

// Appended after testlog's own listeners. OnTestEnd() is called in reverse order, so this failure is reported as part
// of the test.
[[maybe_unused]] bool const installed = [] {
  internal::install_listeners();
  Session* const session = Session::get();
  if (session == nullptr) return false;
  testing::UnitTest::GetInstance()->listeners().Append(new DeviceCheckListener(*session));
  StateReport::get().add_section(write_outstanding_launches);
  return true;
}();

}  // namespace
}}  // namespace testlog::v1

int const testlog_cuda_keep_linked = 1;
