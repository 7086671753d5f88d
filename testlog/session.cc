#include "testlog/session.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "testlog/capture.h"
#include "testlog/internal/throw_periods.h"
#include "testlog/internal/warm_data.h"
#include "testlog/labels.h"
#include "tracing_core/bridge/spdlog.h"
#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/internal/never_destroyed.h"

namespace testlog::inline v1 {
namespace {

TESTLOG_INTERNAL_WARM constinit std::atomic<Session*> session{nullptr};
constinit tracing::internal::NeverDestroyed<Attribution> the_attribution;

std::shared_ptr<tracing::Timer const> timer_of(TimeStyle style) {
  switch (style) {
    case TimeStyle::utc: return tracing::utc_timer();
    case TimeStyle::local: return tracing::local_timer();
    case TimeStyle::uptime: return tracing::uptime_timer(tracing::Instant::now());
    case TimeStyle::none: break;
  }
  return nullptr;
}

// TRACE_COLOR, NO_COLOR, CLICOLOR_FORCE, --gtest_color in any case, the terminal.
bool use_color(Environment const& environment, std::string gtest_color, bool is_terminal) {
  for (char& c : gtest_color) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (environment.color != tracing::ColorChoice::automatic) return environment.color == tracing::ColorChoice::always;
  if (environment.no_color) return false;
  if (environment.force_color) return true;
  if (gtest_color == "yes" || gtest_color == "true" || gtest_color == "t" || gtest_color == "1") return true;
  return (gtest_color.empty() || gtest_color == "auto") && is_terminal;
}

// Prints nothing: that it is asked marks the records that TRACE_FILTER selects.
class MarkingLayer final : public tracing::Layer {
 public:
  tracing::Hooks hooks() const noexcept override { return tracing::Hooks::none; }
};

// Of a text that is blank, or wrong as a whole: the default holds.
bool has_no_directive(tracing::EnvFilter const& filter) { return filter.to_string().empty(); }

// `used` is what holds where none of the directives is right.
std::string rendered(std::vector<tracing::ParseError> const& errors, std::string_view text, std::string_view origin,
                     std::string_view used = {}) {
  std::string all;
  for (auto const& error : errors) all.append("testlog: ").append(tracing::render(error, text, origin)).append("\n");
  if (errors.empty() || used.empty()) return all;
  all.pop_back();
  return all.append(". Using ").append(used).append(".\n");
}

}  // namespace

Session* Session::get() noexcept { return session.load(std::memory_order_acquire); }

void Session::start(internal::ProcessRole const& role) {
  if (role.listing || get() != nullptr) return;
  auto* const made = new Session(role);
  session.store(made, std::memory_order_release);
  pthread_atfork([] { get()->lock_for_fork(); }, [] { get()->unlock_after_fork(); },
                 [] {
                   get()->unlock_after_fork();
                   get()->set_telling(false);  // tests are the parent's
                 });
  tracing::set_global_default(made->registry_);
  if (!made->environment_.spdlog || !made->listens()) return;
  tracing::bridge::install_spdlog(
      {.mute_console = !made->is_mute(),
       .is_kept = [](tracing::Verdict verdict) noexcept { return get()->is_sure_to_keep(verdict); }});
}

// Whether an event that these layers saw is printed by now, or waits for a story.
bool Session::is_sure_to_keep(tracing::Verdict verdict) const noexcept {
  tracing::Subscriber const* const own = tracing::internal::thread_state.subscriber;
  if (own != nullptr && own != registry_.get()) return false;  // a test's, and so are the layers
  if (environment_.show == Show::live && was_selected(verdict)) return true;
  return ring_ != nullptr && (verdict & kCaptureVerdict) != 0 && tells_;
}

Session::Session(internal::ProcessRole const& role)
    : in_death_test_child_(role.death_test_child), mute_(role.death_test_child), attribution_(*the_attribution) {
  std::vector<BadValue> bad;
  environment_ = read_environment([](char const* name) -> char const* { return std::getenv(name); }, bad);
  for (BadValue const& one : bad) reports_ += one.report();
  if (!environment_.redact.empty()) tracing::redact(environment_.redact, environment_.redact_token);
  if (environment_.show == Show::none) mute_ = true;
  if (!role.death_test_child) {
    output_.open(environment_.output);
    std::atexit([] { get()->output_.tell_missing(); });  // behind the files, which write to it
  }
  make_capture();
  make_format(role);
  if (!role.death_test_child) make_files();
  if (std::string const& wrong = environment_.perf.wrong; !wrong.empty()) {
    std::vector<tracing::ParseError> errors;
    (void)tracing::EnvFilter::parse_lossy(wrong, {}, &errors);
    reports_ += rendered(errors, wrong, "TRACE_PERF", in_words(environment_.perf));
  }
  if (environment_.perf.any()) {
    perf_ = std::make_unique<PerfOutputs>(environment_.perf, output_, !role.death_test_child, reports_);
    if (!role.death_test_child) std::atexit([] { get()->perf_->finish(); });
  }
  make_registry();
}

void Session::make_capture() {
  if (environment_.capture_off) return;
  if (std::string const text = environment_.capture.value_or("trace"); text != "trace") {  // no filter is the fastest
    std::vector<tracing::ParseError> errors;
    capture_filter_ = std::make_unique<tracing::EnvFilter>(tracing::EnvFilter::parse_lossy(text, {}, &errors));
    bool const none = has_no_directive(*capture_filter_);
    reports_ += rendered(errors, text, "TRACE_CAPTURE", none ? "trace" : "");
    if (none) capture_filter_.reset();
    captured_ = capture_filter_.get();
  }
  if (captured_ == nullptr || captured_->max_level_hint() != tracing::LevelFilter::off) {
    ring_ = tracing::RecordRing::make();
  } else {  // another way to say off
    captured_ = nullptr;
    capture_filter_.reset();
  }
}

void Session::make_format(internal::ProcessRole const& role) {
  tracing::FormatOptions options;
  options.kind = environment_.format;
  options.ansi = use_color(environment_, std::string(role.gtest_color), output_.is_terminal());
  options.timer = timer_ = timer_of(environment_.time);
  format_ = std::make_shared<LabelledFormat>(tracing::make_event_format(options), attribution_);
}

tracing::PrintOptions Session::print_options(tracing::WriterPtr writer) const {
  return {.format = {.timer = timer_},
          .event_format = format_,
          .span_events = environment_.span_events,
          .writer = std::move(writer)};
}

void Session::make_registry() {
  std::string const text = environment_.filter.value_or(environment_.default_filter);
  std::vector<tracing::ParseError> errors;
  auto filter = std::make_unique<ShowFilter>(text, &errors);
  bool const none = has_no_directive(filter->current());
  reports_ += rendered(errors, text, "TRACE_FILTER", none ? environment_.default_filter : "");
  if (none) {  // as if it were not set
    environment_.filter.reset();
    filter = std::make_unique<ShowFilter>(environment_.default_filter, nullptr);
  }
  show_filter_ = filter.get();
  filter_outside_ = filter->directives();
  std::unique_ptr<tracing::Layer> show = std::make_unique<MarkingLayer>();
  if (environment_.show == Show::live && !mute_) {
    auto sink = tracing::make_sink([this](tracing::Level, std::string_view line) { output_.write(line); });
    show = tracing::print_layer(print_options(tracing::to_sink(std::move(sink))));
  }
  std::unique_ptr<tracing::Layer> capture;
  if (ring_ != nullptr) capture = capture_layer(ring_->make_layer(), attribution_);
  auto builder = tracing::RegistryBuilder()
                     .with(std::move(show), std::move(filter))
                     .with(std::move(capture), std::move(capture_filter_));
  if (files_ != nullptr) {
    for (auto& layer : files_->take_layers()) std::move(builder).with(std::move(layer), file_filter());
  }
  if (perf_ != nullptr) std::move(builder).with(std::move(perf_->layer().layer), std::move(perf_->layer().filter));
  registry_ = std::move(builder).build();
}

void Session::make_files() {
  if (environment_.chrome.empty() && environment_.flame.empty()) return;
  files_ = std::make_unique<FileOutputs>(environment_, attribution_, output_, reports_);
  std::atexit([] { get()->files_->finish(); });  // runs after all that the program itself registers
}

// What TRACE_CAPTURE names is in the files, everything where it names nothing: they are read later, when it is too late to ask
// for more.
std::unique_ptr<tracing::Filter> Session::file_filter() const {
  std::string const text = environment_.capture.value_or("trace");
  if (text == "trace") return nullptr;
  std::vector<tracing::ParseError> ignored;
  auto filter = std::make_unique<tracing::EnvFilter>(tracing::EnvFilter::parse_lossy(text, {}, &ignored));
  if (has_no_directive(*filter) || filter->max_level_hint() == tracing::LevelFilter::off) return nullptr;
  return filter;
}

void Session::begin_test(std::string const& name, Settings const* settings) {
  output_.set_test(name);
  if (files_ != nullptr) files_->begin_test(name);
  if (perf_ != nullptr) perf_->begin_test(name);
  filter_outside_ = show_filter_->directives();
  if (settings != nullptr && !settings->default_filter.empty() && !environment_.filter) set_filter(settings->default_filter);
  TestTag const tag = attribution_.begin_test(name);
  if (ring_ == nullptr) return;
  ring_->set_tag(tag);
  first_record_ = ring_->next_number();
}

void Session::end_test() {
  attribution_.end_test();
  if (ring_ != nullptr) ring_->set_tag(0);
  if (show_filter_->set(filter_outside_, nullptr)) tracing::rebuild_interest();
  output_.set_test({});
  if (files_ != nullptr) files_->end_test();
  if (perf_ != nullptr) perf_->end_test();
}

void Session::report_bad_values() {
  if (!reports_.empty() && !in_death_test_child_) output_.write(reports_);
  reports_.clear();
}

void Session::lock_for_fork() {
  attribution_.lock_for_fork();
  show_filter_->lock_for_fork();
  internal::lock_throw_periods_for_fork();
}

void Session::unlock_after_fork() {
  internal::unlock_throw_periods_after_fork();
  show_filter_->unlock_after_fork();
  attribution_.unlock_after_fork();
}

bool Session::set_filter(std::string_view directives) {
  std::vector<tracing::ParseError> errors;
  if (show_filter_->set(directives, &errors)) tracing::rebuild_interest();
  if (!errors.empty() && !mute_) output_.write(rendered(errors, directives, "the test's filter"));
  return errors.empty();
}

}  // namespace testlog::inline v1
