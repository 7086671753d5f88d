#include "testlog/session.h"

#include <errno.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "testlog/hang.h"
#include "testlog/labels.h"
#include "testlog/perf.h"
#include "testlog/sanitizer.h"
#include "tracing_core/dispatch/carried_context.h"
#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/internal/fork.h"
#include "tracing_core/internal/never_destroyed.h"

namespace testlog::inline v1 {
namespace {

constinit std::atomic<Session*> session{nullptr};
constinit tracing::internal::NeverDestroyed<Attribution> the_attribution;

}  // namespace

Session* Session::get() noexcept { return session.load(std::memory_order_acquire); }

void Session::start(internal::ProcessRole const& role) {
  if (role.listing || get() != nullptr) return;
  auto* const made = new Session(role);
  session.store(made, std::memory_order_release);
  static constexpr auto kLock = []() noexcept {
    get()->live_->filter().lock_for_fork();
    get()->fail_on_.lock_for_fork();
  };
  static constexpr auto kUnlock = []() noexcept {
    get()->fail_on_.unlock_after_fork();
    get()->live_->filter().unlock_after_fork();
  };
  tracing::internal::set_fork_handler(tracing::internal::ForkStage::session,
                                      {.before = kLock, .in_parent = kUnlock, .in_child = kUnlock});
  static constexpr tracing::ContextCarrier kRunningTest{
      .capture = []() noexcept { return get()->attribution_.test_of_this_thread(); },
      .adopt = [](std::uint32_t test) noexcept { return get()->attribution_.begin_work(test); },
      .restore = [](std::uint32_t test) noexcept { get()->attribution_.end_work(test); }};
  tracing::set_context_carrier(&kRunningTest);
  tracing::set_global_default(made->registry_);
  if (!role.death_test_child && !made->mute_) watch_for_hangs(*made, role.only_test);
  watch_sanitizer(*made);
}

Session::Session(internal::ProcessRole const& role) : attribution_(*the_attribution), fail_on_(attribution_) {
  std::string reports;
  environment_ = read_environment(tracing::internal::environment_variable, reports);
  auto const tables = {tracing::internal::common_variables(), test_variables()};
  tracing::internal::report_misspelt_variables(tables, environ, reports);
  tracing::internal::report_ignored_variables(tables, environ, reports);
  mute_ = role.death_test_child || environment_.show == Show::none;
  if (!environment_.redact.empty()) tracing::redact(environment_.redact, environment_.redact_token);
  // Functions registered first run last, so the output is finished after the files, which report to it.
  if (!role.death_test_child) {
    output_.open(environment_.output, environment_.format == tracing::FormatKind::json);
    std::atexit([] { get()->output_.report_missing(); });
  }
  std::unique_ptr<tracing::internal::Region> region;
  bool const has_profiles = !role.death_test_child && tracing::internal::ProfileOutputs::are_wanted(environment_);
  bool const records = !environment_.record.empty() || !environment_.record_default.empty() || has_profiles;
  tracing::internal::Run const run = records ? tracing::internal::run_of_this_process() : tracing::internal::Run();
  if (!role.death_test_child) region = recording_file_.open(environment_, output_, role, run);
  capture_ = std::make_unique<Capture>(environment_, std::move(region), attribution_);
  if ((!recording_file_.path().empty() || has_profiles) && capture_->recording() != nullptr) {
    run_records_ = std::make_unique<RunRecords>(*capture_->recording());
    run_records_->begin_process(role.argc, role.argv, run.id);
  }
  if (!role.death_test_child) std::atexit([] { get()->recording_file_.finish(); });
  // This folder is for the tests that CTest runs. Programs that these start may be test programs, too.
  unsetenv("TRACE_RECORD_DEFAULT");
  if (has_profiles) {
    profiles_ = std::make_unique<Profiles>(environment_, output_, attribution_, *capture_);
    std::atexit([] { get()->profiles_->finish(program_invocation_short_name, std::string(get()->output_.outside_tests())); });
  }
  live_ = std::make_unique<LiveOutput>(environment_, output_, attribution_, role.gtest_color, mute_);
  if (!role.death_test_child && !(environment_.chrome.empty() && environment_.flame.empty())) {
    auto const is_of_running_test = [this](tracing::SpanRef span) {
      attribution_.observe_event();
      Owner const owner = attribution_.owner_now(span);
      return owner.test != 0 && !owner.late;
    };
    files_ = std::make_unique<FileOutputs>(environment_, output_, is_of_running_test, recording_file_.run_began());
    std::atexit([] { get()->files_->finish(); });
  }
  auto const append_members = [this](tracing::TextBuffer& line, tracing::SpanRef span, tracing::Track const& track) {
    attribution_.observe_event();
    append_json_members(line, attribution_, attribution_.owner_now(span), track);
  };
  perf_ = std::make_unique<PerfOutputs>(
      environment_.perf, output_,
      PerfOutputs::Use{.files = !role.death_test_child, .tests = true, .append_members = append_members});
  if (!role.death_test_child) std::atexit([] { get()->perf_->finish(); });
  make_registry();
  if (!reports.empty()) output_.write_note("report", reports);
}

// The layer that captures comes first, since the others take their times from it.
void Session::make_registry() {
  auto builder = tracing::RegistryBuilder()
                     .with(capture_->make_layer(mute_ ? 0 : LiveOutput::kLayer), capture_->take_filter())
                     .with(live_->make_layer(), live_->take_filter())
                     .with(fail_on_.make_layer(), fail_on_.take_filter());
  if (files_ != nullptr) {
    for (auto& layer : files_->take_layers()) builder.with(std::move(layer), file_filter());
  }
  for (auto& [layer, filter, statistics] : perf_->take_layers()) builder.with(std::move(layer), std::move(filter));
  registry_ = std::move(builder).build();
}

// Files contain what TRACE_CAPTURE selects, or everything if it selects nothing, since records cannot be added later.
std::unique_ptr<tracing::Filter> Session::file_filter() const {
  if (environment_.capture == "trace") return nullptr;
  return std::make_unique<tracing::EnvFilter>(tracing::internal::filter_of(environment_.capture));
}

void Session::begin_test(std::string const& name, Settings const& settings) {
  tracing::internal::InSubscriber const in_subscriber;  // a statement of an allocation function would take locks again
  output_.set_test(name);
  if (files_ != nullptr) files_->begin_test(name);
  perf_->begin_test(name, settings.perf.value_or(false));
  live_->begin_test(settings);
  TestTag const tag = attribution_.begin_test(name);
  if (settings.fail_on) {
    fail_on_.begin_test(tag, tracing::as_filter(*settings.fail_on), "its .fail_on");
  } else {
    fail_on_.begin_test(tag, environment_.fail_on, "TRACE_FAIL_ON");
  }
  capture_->begin_test();
}

void Session::end_test() {
  tracing::internal::InSubscriber const in_subscriber;
  if (profiles_ != nullptr) profiles_->end_test(attribution_.running(), std::string(attribution_.name_of(attribution_.running())));
  attribution_.end_test();
  live_->end_test();
  output_.set_test({});
  if (files_ != nullptr) files_->end_test();
  perf_->end_test();
}

tracing::PerfSummary perf_summary() {
  Session* const started = Session::get();
  return started == nullptr ? tracing::PerfSummary() : started->perf().of_test();
}

}  // namespace testlog::inline v1
