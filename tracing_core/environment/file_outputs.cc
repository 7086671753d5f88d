#include "tracing_core/environment/file_outputs.h"

#include <fcntl.h>
#include <time.h>

#include <atomic>
#include <filesystem>
#include <system_error>
#include <utility>

#include "tracing_core/collect/forwarding_layer.h"
#include "tracing_core/environment/file_names.h"
#include "tracing_core/environment/line_file.h"
#include "tracing_core/export/chrome.h"
#include "tracing_core/export/flame.h"
#include "tracing_core/export/flame/flame_lines.h"
#include "tracing_core/support/mutex.h"
#include "tracing_core/support/scoped_no_cancellation.h"

namespace tracing { inline namespace v1 { namespace environment {

// The files of one variable, one after the other. Thread-safe.
class FileOutputs::Series {
 public:
  Series() = default;
  Series(Series const&) = delete;
  Series& operator=(Series const&) = delete;
  virtual ~Series() = default;

  virtual Layer& layer() noexcept = 0;
  virtual std::unique_ptr<Layer> take_layer() = 0;
  // Opens the file. Returns false if that fails.
  virtual bool open() noexcept = 0;
  // Returns true if the layer can take a record now. If `may_open`, may open the file for the record.
  virtual bool is_ready(bool may_open) noexcept = 0;
  // Completes the file. The next file is named after `test`, which is empty if no test runs, and is opened by its first
  // record.
  virtual void begin(std::string_view test) = 0;
  // Notes that a test begins or ends whose records share a file with the records of other tests.
  virtual void begin_test(std::string_view) noexcept {}
  virtual void end_test() noexcept {}
  virtual void flush() = 0;
  virtual void finish() = 0;
  // Returns true if a thread still has records to write. Async-signal-safe.
  virtual bool is_behind() const noexcept { return false; }
};

class FileOutputs::ChromeSeries final : public Series {
 public:
  // `path` may contain %p and %t.
  ChromeSeries(std::string variable, std::string path, Output& output)
      : variable_(std::move(variable)), path_(std::move(path)), output_(output) {
    ChromeOptions options;
    options.started = false;
    options.error_fd = output.error_fd();
    std::tie(layer_, guard_) = chrome_layer(std::move(options));
  }

  Layer& layer() noexcept override { return *layer_; }
  std::unique_ptr<Layer> take_layer() override { return std::move(layer_); }

  bool open() noexcept override {
    if (is_in_forked_child()) return false;
    MutexLock const lock(mutex_);
    if (state_ != State::closed) return state_ == State::open;
    state_ = State::failed;
    ScopedNoCancellation const no_cancellation;  // open(2) is a cancellation point
    try {
      std::error_code error;
      std::string const path = filled_in(path_, test_.empty() ? output_.outside_tests() : test_);
      auto const [own, descriptor] = create_unique_file(path, name_kind(path_), O_WRONLY | O_APPEND, error);
      if (error) {
        report(cannot_open(variable_, own, error));
      } else if (!internal::start_new_in(guard_, descriptor, own)) {
        if (own != path)
          report("testlog: " + variable_ + ": " + path + " already exists; writing " + own + " instead\n");
        state_ = State::open;
      }
    } catch (...) {  // out of memory
    }
    return state_ == State::open;
  }
  bool is_ready(bool may_open) noexcept override {
    State const state = state_.load(std::memory_order_acquire);
    if (state == State::open || !may_open) [[likely]]
      return state == State::open;
    return state == State::closed && open();
  }
  void begin(std::string_view test) override {
    if (is_in_forked_child()) return;
    MutexLock const lock(mutex_);
    stop();
    test_ = test;
    state_ = State::closed;
  }
  void begin_test(std::string_view test) noexcept override {
    if (is_in_forked_child()) return;
    shown_test_ = test;
    guard_.begin_slice(test);
  }
  void end_test() noexcept override {
    if (!is_in_forked_child()) guard_.end_slice(shown_test_);
  }
  void flush() override { guard_.flush(); }
  void finish() override {
    if (is_in_forked_child()) return;
    MutexLock const lock(mutex_);
    stop();
  }
  bool is_behind() const noexcept override { return guard_.is_behind(); }

 private:
  enum class State : unsigned char { closed, open, failed };

  // Must be checked before any lock is taken, since another thread of the parent may have held the lock.
  bool is_in_forked_child() const noexcept { return output_.is_in_forked_child(); }
  void report(std::string const& line) TRACING_REQUIRES(mutex_) {
    if (!std::exchange(reported_, true)) output_.write_note("report", line);
  }
  void stop() TRACING_REQUIRES(mutex_) {
    state_ = State::failed;
    guard_.stop();
  }

  std::string const variable_;
  std::string const path_;
  Output& output_;
  std::unique_ptr<Layer> layer_;
  ChromeGuard guard_;
  std::atomic<State> state_{State::closed};  // stored while mutex_ is held
  Mutex mutex_;
  bool reported_ TRACING_GUARDED_BY(mutex_) = false;  // a failure or another name was reported
  std::string test_ TRACING_GUARDED_BY(mutex_);
  std::string_view shown_test_;  // the running test; its name lives as long as the program
};

class FileOutputs::FlameSeries final : public Series {
 public:
  FlameSeries(std::string variable, std::string path, Output& output, FlameOptions const& options, bool test_is_root,
              std::optional<Instant> run_began)
      : output_(output),
        file_(std::make_shared<LineFile>(std::move(variable), std::move(path), output, internal::kEndOfBrokenStack,
                                         test_is_root, run_began)) {
    std::tie(layer_, guard_) = flame_layer(to_sink(file_), options);
  }

  Layer& layer() noexcept override { return *layer_; }
  std::unique_ptr<Layer> take_layer() override { return std::move(layer_); }
  bool open() noexcept override { return file_->open(); }
  bool is_ready(bool) noexcept override { return true; }  // lines wait in the layer
  void begin(std::string_view test) override {
    if (output_.is_in_forked_child()) return;
    guard_.flush();
    file_->set_test(test);
  }
  void flush() override { guard_.flush(); }
  void finish() override {
    if (output_.is_in_forked_child()) return;
    std::uint64_t const dropped = guard_.dropped_lines();
    guard_ = {};
    file_->report_missing(dropped);
  }

 private:
  Output& output_;
  std::shared_ptr<LineFile> const file_;
  std::unique_ptr<Layer> layer_;
  FlameGuard guard_;
};

// Forwards records of the running test to the layer of one series, and all other records to the layer of another.
class FileOutputs::ByTest final : public RoutingLayer<FileOutputs::ByTest> {
 public:
  ByTest(Series& of_tests, Series& outside, IsOfRunningTest const& is_of_running_test)
      : of_tests_(of_tests), outside_(outside), is_of_running_test_(is_of_running_test) {}

  Hooks hooks() const noexcept override { return of_tests_.layer().hooks(); }
  void flush() noexcept override {
    of_tests_.layer().flush();
    outside_.layer().flush();
  }

  // Returns null if the record has no file. A span that is entered and an event open the file.
  Layer* layer_for(SpanRef span, bool may_open) noexcept {
    Series& series = is_of_running_test_(span) ? of_tests_ : outside_;
    return series.is_ready(may_open) ? &series.layer() : nullptr;
  }
  Layer* layer_for(Event const& event, Context const& context) noexcept {
    return layer_for(context.event_span(event), true);
  }

 private:
  Series& of_tests_;
  Series& outside_;
  IsOfRunningTest const& is_of_running_test_;
};

FileOutputs::FileOutputs(EnvOptions const& options, Output& output, IsOfRunningTest is_of_running_test,
                         std::optional<Instant> run_began)
    : output_(output), is_of_running_test_(std::move(is_of_running_test)) {
  std::string const& chrome = options.chrome;
  std::string const& flame = options.flame;
  if (!chrome.empty()) add<ChromeSeries>("TRACE_CHROME", chrome, ".json", false);
  if (!flame.empty() && flame == chrome && !is_folder(flame) && !is_no_file(flame, name_kind(flame))) {
    output.write_note("report", "testlog: TRACE_FLAME=" + flame +
                                    ": is already used by TRACE_CHROME; expected another path, or a folder\n");
  } else if (!flame.empty()) {
    add<FlameSeries>("TRACE_FLAME", flame, ".folded", options.flame_tests,
                     FlameOptions{.empty_samples = options.flame_idle}, options.flame_tests, run_began);
  }
}

FileOutputs::~FileOutputs() = default;

template <class S, class... Options>
void FileOutputs::add(char const* variable, std::string path, char const* suffix, bool separates_tests,
                      Options const&... options) {
  std::error_code ignored;
  path = std::filesystem::absolute(path, ignored).string();  // tests may change their working directory
  if (is_folder(path)) path.append(path.ends_with('/') ? "%t" : "/%t").append(suffix);
  auto outside = std::make_unique<S>(variable, path, output_, options...);
  if (is_of_running_test_ && (separates_tests || path.find("%t") != path.npos)) {
    auto of_tests = std::make_unique<S>(variable, path, output_, options...);
    layers_.push_back(std::make_unique<ByTest>(*of_tests, *outside, is_of_running_test_));
    of_tests_.push_back(std::move(of_tests));
  } else if (outside->open()) {
    layers_.push_back(outside->take_layer());
  }
  outside_.push_back(std::move(outside));
}

std::vector<std::unique_ptr<Layer>> FileOutputs::take_layers() { return std::move(layers_); }

void FileOutputs::begin_test(std::string const& name) {
  for (auto const& series : of_tests_) series->begin(name);
  for (auto const& series : outside_) series->begin_test(name);
}

void FileOutputs::end_test() {
  for (auto const& series : of_tests_) series->begin({});
  for (auto const& series : outside_) series->end_test();
  flush();
}

void FileOutputs::flush() {
  for (auto const& series : of_tests_) series->flush();
  for (auto const& series : outside_) series->flush();
}

void FileOutputs::finish() {
  for (auto const& series : of_tests_) series->finish();
  for (auto const& series : outside_) series->finish();
}

void FileOutputs::wait_for_writers() const noexcept {
  constexpr timespec kMillisecond{0, 1'000'000};
  auto const is_behind = [](auto const& all) {
    for (auto const& series : all) {
      if (series->is_behind()) return true;
    }
    return false;
  };
  for (int i = 0; i < 100 && (is_behind(of_tests_) || is_behind(outside_)); ++i) nanosleep(&kMillisecond, nullptr);
}

}}}  // namespace tracing::v1::environment
