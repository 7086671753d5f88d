#include "testlog/session.h"

#include <errno.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "testlog/outputs/labels.h"
#include "testlog/outputs/nvtx.h"
#include "testlog/run/hang.h"
#include "testlog/run/sanitizer.h"
#include "tracing_core/dispatch/carried_context.h"
#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/environment/trace_context.h"
#include "tracing_core/support/fork.h"
#include "tracing_core/support/never_destroyed.h"

namespace testlog { inline namespace v1 {
namespace {

constinit std::atomic<Session*> session{nullptr};
constinit tracing::support::NeverDestroyed<Attribution> the_attribution;

}  // namespace

Session* Session::get() noexcept { return session.load(std::memory_order_acquire); }

void Session::start(framework::Process const& role) {
  if (get() != nullptr) return;
  auto* const made = new Session(role);
  session.store(made, std::memory_order_release);
  static constexpr auto kLock = []() noexcept {
    get()->live_->filter().lock_for_fork();
    get()->fail_on_->lock_for_fork();
  };
  static constexpr auto kUnlock = []() noexcept {
    get()->fail_on_->unlock_after_fork();
    get()->live_->filter().unlock_after_fork();
  };
  tracing::support::set_fork_handler(tracing::support::ForkStage::session,
                                     {.before = kLock, .in_parent = kUnlock, .in_child = kUnlock});
  static constexpr tracing::ContextCarrier kRunningTest{
      .capture = []() noexcept { return get()->attribution_.test_of_this_thread(); },
      .adopt = [](std::uint32_t test) noexcept { return get()->attribution_.begin_work(test); },
      .restore = [](std::uint32_t test) noexcept { get()->attribution_.end_work(test); }};
  tracing::set_context_carrier(&kRunningTest);
  tracing::set_global_default(made->registry_);
  if (!role.death_test_child && !made->mute_) watch_for_hangs(made->report_parts(), role.only_test);
  watch_sanitizer(made->report_parts());
}

Session::Session(framework::Process const& role) : attribution_(*the_attribution) {
  std::string reports;
  environment_ = read_environment(tracing::environment::environment_variable, reports);
  auto const tables = {tracing::environment::common_variables(), test_variables()};
  tracing::environment::report_misspelt_variables(tables, environ, reports);
  tracing::environment::report_ignored_variables(tables, environ, reports);
  mute_ = role.death_test_child || environment_.show == Show::none;
  if (!environment_.redact.empty()) tracing::redact(environment_.redact, environment_.redact_token);
  // Functions registered first run last, so the output is finished after the files, which report to it.
  if (!role.death_test_child) {
    output_.open(environment_.output, tracing::formatting::is_json(environment_.format));
    std::atexit([] { get()->output_.report_missing(); });
  }
  bool const has_profiles = !role.death_test_child && tracing::environment::ProfileOutputs::are_wanted(environment_);
  make_capture(role, has_profiles);
  // The folder is for the tests that CTest runs. Programs that these tests start may be test programs, too.
  unsetenv("TRACE_RECORD_DEFAULT");
  if (has_profiles) {
    profiles_ = std::make_unique<Profiles>(environment_, output_, attribution_, *capture_);
    std::atexit(
        [] { get()->profiles_->finish(program_invocation_short_name, std::string(get()->output_.outside_tests())); });
  }
  live_ = std::make_unique<LiveOutput>(environment_, output_, attribution_, role.color, mute_);
  fail_on_ = std::make_unique<FailOn>(environment_, output_, attribution_, mute_);
  if (live_->equal_lines() != nullptr) std::atexit([] { get()->live_->equal_lines()->finish(); });
  if (!role.death_test_child && !(environment_.chrome.empty() && environment_.flame.empty())) make_files();
  make_perf(role);
  make_registry(start_nvtx(environment_.nvtx, reports));
  set_span_source();
  report_parts_.emplace(ReportParts{environment_, output_, attribution_, *capture_, *live_, recording_file_,
                                    run_records_.get(), files_.get(), *registry_, mute_});
  if (!reports.empty()) output_.write_note("report", reports);
}

void Session::make_capture(framework::Process const& role, bool has_profiles) {
  bool const records = !environment_.record.empty() || !environment_.record_default.empty() || has_profiles;
  tracing::environment::Run const run =
      records ? tracing::environment::run_of_this_process() : tracing::environment::Run();
  run_ = run.id;
  std::unique_ptr<tracing::internal::Region> region;
  if (!role.death_test_child) region = recording_file_.open(environment_, output_, role, run);
  capture_ = std::make_unique<Capture>(environment_, std::move(region), attribution_);
  test_records_.emplace(*capture_, attribution_);
  prepare_for_death_tests(role);
  if ((!recording_file_.path().empty() || has_profiles) && capture_->recording() != nullptr) {
    run_records_ = std::make_unique<RunRecords>(*capture_->recording());
    run_records_->begin_process(role.argc, role.argv, run.id, recording_file_.attempt(), environment_);
    run_records_->ci(tracing::environment::ci_job());
  }
  if (role.death_test_child) return;
  std::atexit([] {
    tracing::internal::RecordStore* const store = get()->capture_->recording();
    get()->recording_file_.finish(store == nullptr ? nullptr : &store->region());
  });
}

// In the style "threadsafe" the child of a death test is a new process, in the style "fast" a fork.
void Session::prepare_for_death_tests(framework::Process const& role) {
  tracing::internal::RecordStore* const store = capture_->recording();
  if (store == nullptr) return;
  if (role.death_test_child) {
    death_tests_.move(store->region(), true);
    return;
  }
  death_tests_.open();
  store->set_in_child([](tracing::internal::Region& child) noexcept {
    return framework::current().is_death_test_child() && get()->death_tests_.move(child, false);
  });
}

void Session::make_files() {
  auto const is_of_running_test = [this](tracing::SpanRef span) {
    attribution_.observe_event();
    Owner const owner = attribution_.owner_now(span);
    return owner.test != 0 && !owner.late;
  };
  files_ = std::make_unique<FileOutputs>(environment_, output_, is_of_running_test, recording_file_.run_began());
  std::atexit([] { get()->files_->finish(); });
}

void Session::make_perf(framework::Process const& role) {
  auto const append_members = [this](tracing::TextBuffer& line, tracing::SpanRef span, tracing::Track const& track) {
    attribution_.observe_event();
    append_json_members(line, attribution_, attribution_.owner_now(span), track);
  };
  perf_ = std::make_unique<PerfOutputs>(
      environment_.perf, output_,
      PerfOutputs::Use{.files = !role.death_test_child, .tests = true, .append_members = append_members});
  if (!role.death_test_child) std::atexit([] { get()->perf_->finish(); });
}

// The capturing layer comes first, since the other layers take their times from it. The perturbing layer comes last, so
// a waiting thread has already recorded where it is.
void Session::make_registry(std::unique_ptr<tracing::Layer> nvtx_layer) {
  auto builder = tracing::RegistryBuilder()
                     .with(capture_->make_layer(mute_ ? 0 : LiveOutput::kLayer), capture_->take_filter())
                     .with(live_->make_layer(), live_->take_filter())
                     .with(fail_on_->make_layer(), fail_on_->take_filter());
  if (files_ != nullptr) {
    for (auto& layer : files_->take_layers()) builder.with(std::move(layer), file_filter());
  }
  for (auto& [layer, filter, statistics] : perf_->take_layers()) builder.with(std::move(layer), std::move(filter));
  if (nvtx_layer != nullptr) builder.with(std::move(nvtx_layer), file_filter());
  if (environment_.perturb) builder.with(make_perturbing_layer(*environment_.perturb), file_filter());
  registry_ = std::move(builder).build();
}

void Session::set_span_source() {
  tracing::environment::set_span_source(
      {.store = recording_file_.path().empty() ? nullptr : capture_->recording(),
       .registry = registry_.get(),
       .run = run_,
       .traceparent = environment_.traceparent,
       .tracestate = environment_.tracestate,
       .tag_of = [](tracing::SpanRef span) noexcept { return get()->attribution_.tag_in_recording(span); }});
}

// Files contain what TRACE_CAPTURE selects or, if it selects nothing, everything: no record can be added later.
std::unique_ptr<tracing::Filter> Session::file_filter() const {
  if (environment_.capture == "trace") return nullptr;
  return std::make_unique<tracing::EnvFilter>(tracing::environment::filter_of(environment_.capture));
}

void Session::begin_test(std::string const& name, Settings const& settings) {
  tracing::internal::InSubscriber const in_subscriber;  // a statement in an allocation function would take locks again
  output_.set_test(name);
  if (files_ != nullptr) files_->begin_test(name);
  perf_->begin_test(name, settings.perf.value_or(false));
  live_->begin_test(settings);
  TestTag const tag = attribution_.begin_test(name);
  if (settings.fail_on) {
    fail_on_->begin_test(tag, tracing::as_filter(*settings.fail_on), "its .fail_on");
  } else {
    fail_on_->begin_test(tag, environment_.fail_on, "TRACE_FAIL_ON");
  }
  capture_->begin_test();
}

void Session::end_test() {
  tracing::internal::InSubscriber const in_subscriber;
  if (profiles_ != nullptr)
    profiles_->end_test(attribution_.running(), std::string(attribution_.name_of(attribution_.running())));
  attribution_.end_test();
  test_records_->forget();
  live_->end_test();
  output_.set_test({});
  if (files_ != nullptr) files_->end_test();
  perf_->end_test();
}

}}  // namespace testlog::v1
