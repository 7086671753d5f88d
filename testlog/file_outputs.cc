#include "testlog/file_outputs.h"

#include <time.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

#include "testlog/file_names.h"
#include "tracing_core/export/chrome.h"
#include "tracing_core/export/fd_sink.h"
#include "tracing_core/export/flame.h"
#include "tracing_core/export/flame_lines.h"
#include "tracing_core/export/fork_count.h"

namespace testlog::inline v1 {

using tracing::Context;
using tracing::Layer;
using tracing::SpanRef;

// What a variable asks for.
struct FileOutputs::Plan {
  std::string variable;
  std::string path;  // with %p and %t, absolute: tests may change their folder
  bool by_test = false;
};

// The files of one kind, one after the other. Thread-safe.
class FileOutputs::Series {
 public:
  Series(Plan plan, Output& output) : plan_(std::move(plan)), output_(output), forks_when_made_(fork_count_now()) {}
  Series(Series const&) = delete;
  Series& operator=(Series const&) = delete;
  virtual ~Series() = default;

  virtual Layer& layer() noexcept = 0;
  virtual std::unique_ptr<Layer> take_layer() = 0;
  // Whether there is a file to write to; one is opened where that `may_open` one.
  virtual bool is_ready(bool may_open) noexcept = 0;
  // The file is complete. The next one is opened when there is something to write, and named after `test`.
  virtual void begin(std::string_view test) = 0;
  virtual void flush() = 0;
  virtual void finish() = 0;
  // Whether a thread will write what is not written yet. Async-signal-safe.
  virtual bool is_behind() const noexcept { return false; }

  // As long as this is set, what goes wrong is added to it.
  void set_reports(std::string* reports) noexcept { reports_ = reports; }

 protected:
  bool is_in_forked_child() const noexcept { return tracing::internal::fork_count() != forks_when_made_; }
  std::string next_path(std::string_view test) const { return filled_in(plan_.path, test); }
  int complain_to() const noexcept { return output_.complaints(); }

  void tell_taken(std::string const& path, std::string const& own) {
    if (path == own || std::exchange(told_taken_, true)) return;
    tell("testlog: " + plan_.variable + ": " + path + " is there already and stays as it is; this process writes " + own +
         (plan_.by_test ? ", and so on.\n" : ".\n"));
  }
  void tell_missing(std::uint64_t lines) const {
    if (!is_in_forked_child()) tell_missing_lines(complain_to(), plan_.variable, plan_.path, lines);
  }
  void tell_failed(std::string const& path, std::error_code error) {
    if (std::exchange(told_failed_, true)) return;
    tell("testlog: " + plan_.variable + "=" + path + " cannot be opened: " + error.message() +
         ". Nothing is written there; valid are a path that can be written to and a folder.\n");
  }

 private:
  static unsigned fork_count_now() noexcept {
    tracing::internal::count_forks();
    return tracing::internal::fork_count();
  }
  void tell(std::string const& text) {
    if (reports_ != nullptr) {
      *reports_ += text;
    } else {
      output_.write(text);
    }
  }

  Plan const plan_;
  Output& output_;
  unsigned const forks_when_made_;
  std::string* reports_ = nullptr;
  bool told_taken_ = false;
  bool told_failed_ = false;
};

class FileOutputs::ChromeSeries final : public Series {
 public:
  ChromeSeries(Plan plan, Output& output) : Series(std::move(plan), output) {
    tracing::ChromeOptions options;
    options.started = false;
    options.complain_to = complain_to();
    std::tie(layer_, guard_) = tracing::chrome_layer(std::move(options));
  }

  Layer& layer() noexcept override { return *layer_; }
  std::unique_ptr<Layer> take_layer() override { return std::move(layer_); }

  bool is_ready(bool may_open) noexcept override {
    State const state = state_.load(std::memory_order_acquire);
    if (state == State::open || !may_open) [[likely]] return state == State::open;
    return state == State::closed && open();
  }
  void begin(std::string_view test) override {
    std::lock_guard const lock(mutex_);
    stop();
    test_ = test;
    state_ = State::closed;
  }
  void flush() override { guard_.flush(); }
  void finish() override {
    std::lock_guard const lock(mutex_);
    stop();
  }
  bool is_behind() const noexcept override { return guard_.is_behind(); }

 private:
  enum class State : unsigned char { closed, open, failed };

  void stop() {
    state_ = State::failed;
    guard_.stop();
  }
  bool open() noexcept {
    if (is_in_forked_child()) return false;
    std::lock_guard const lock(mutex_);
    if (state_ != State::closed) return state_ == State::open;
    state_ = State::failed;
    try {
      std::error_code error;
      std::string const path = next_path(test_);
      std::string const own = claim_file(path, error);
      if (error) {
        tell_failed(own, error);
      } else if (!guard_.start_new(own)) {
        tell_taken(path, own);
        state_ = State::open;
      }
    } catch (...) {  // without memory there is no file
    }
    return state_ == State::open;
  }

  std::unique_ptr<Layer> layer_;
  tracing::ChromeGuard guard_;
  std::atomic<State> state_{State::closed};  // stored under mutex_
  std::mutex mutex_;
  std::string test_{kOutsideTests};
};

class FileOutputs::FlameSeries final : public Series {
 public:
  FlameSeries(Plan plan, Output& output) : Series(std::move(plan), output), file_(std::make_shared<File>(*this)) {
    std::tie(layer_, guard_) = tracing::flame_layer(tracing::to_sink(file_));
  }

  Layer& layer() noexcept override { return *layer_; }
  std::unique_ptr<Layer> take_layer() override { return std::move(layer_); }

  // The layer's block of lines waits for its file.
  bool is_ready(bool may_open) noexcept override { return !may_open || file_->open(); }
  void begin(std::string_view test) override {
    guard_.flush();
    file_->close(test);
  }
  void flush() override { guard_.flush(); }
  void finish() override {
    std::uint64_t const without_memory = guard_.dropped_lines();
    guard_ = {};
    file_->tell_missing(without_memory);
  }

 private:
  // Opened when it is first written to.
  class File final : public tracing::LineSink {
   public:
    explicit File(FlameSeries& series) : series_(series) {}

    bool open() noexcept {
      std::lock_guard const lock(mutex_);
      return is_open();
    }
    void close(std::string_view test) {
      std::lock_guard const lock(mutex_);
      if (file_ != nullptr) missing_ += file_->missing_lines();
      file_ = nullptr;
      failed_ = false;
      test_ = test;
    }
    void write(tracing::Level level, std::string_view text) noexcept override {
      std::lock_guard const lock(mutex_);
      if (is_open()) file_->write(level, text);
    }
    void tell_missing(std::uint64_t others) {
      std::lock_guard const lock(mutex_);
      series_.tell_missing(others + missing_ + (file_ == nullptr ? 0 : file_->missing_lines()));
    }

   private:
    bool is_open() noexcept {
      if (file_ != nullptr || failed_ || series_.is_in_forked_child()) return file_ != nullptr;
      failed_ = true;
      try {
        std::error_code error;
        std::string const path = series_.next_path(test_);
        file_ = tracing::FdSink::append_to(path, error, series_.complain_to(), tracing::internal::kEndOfBrokenStack);
        if (error) series_.tell_failed(path, error);
      } catch (...) {  // without memory there is no file
      }
      return file_ != nullptr;
    }

    FlameSeries& series_;
    std::mutex mutex_;
    // Guarded by mutex_:
    std::shared_ptr<tracing::FdSink> file_;
    std::uint64_t missing_ = 0;  // in files that were closed
    bool failed_ = false;
    std::string test_{kOutsideTests};
  };

  std::shared_ptr<File> const file_;
  std::unique_ptr<Layer> layer_;
  tracing::FlameGuard guard_;
};

// Records of the running test to one series, all others to another.
class FileOutputs::ByTest final : public Layer {
 public:
  ByTest(Series& of_tests, Series& outside, Attribution& attribution)
      : of_tests_(of_tests), outside_(outside), attribution_(attribution) {}

  tracing::Hooks hooks() const noexcept override { return of_tests_.layer().hooks(); }
  void on_enter(SpanRef span, Context const& context) noexcept override {
    if (Series& series = series_of(span); series.is_ready(true)) series.layer().on_enter(span, context);
  }
  void on_exit(SpanRef span, Context const& context) noexcept override {
    if (Series& series = series_of(span); series.is_ready(false)) series.layer().on_exit(span, context);
  }
  void on_event(tracing::Event const& event, Context const& context) noexcept override {
    if (Series& series = series_of(context.event_span(event)); series.is_ready(true)) series.layer().on_event(event, context);
  }
  void flush() noexcept override {
    of_tests_.layer().flush();
    outside_.layer().flush();
  }

 private:
  Series& series_of(SpanRef span) noexcept {
    attribution_.observe_event();
    Owner const owner = attribution_.owner_now(span);
    return owner.test != 0 && !owner.late ? of_tests_ : outside_;
  }

  Series& of_tests_;
  Series& outside_;
  Attribution& attribution_;
};

namespace {

// A folder that is there, or that a path ending in `/` names, which is made.
bool is_folder(std::string const& path) {
  std::error_code ignored;
  if (path.ends_with('/')) std::filesystem::create_directories(path, ignored);
  return path.ends_with('/') || std::filesystem::is_directory(path, ignored);
}

}  // namespace

FileOutputs::FileOutputs(Environment const& environment, Attribution& attribution, Output& output, std::string& reports)
    : attribution_(attribution), output_(output) {
  std::string path;
  if (!environment.chrome.empty()) path = add<ChromeSeries>("TRACE_CHROME", environment.chrome, ".json", {}, reports);
  if (!environment.flame.empty()) add<FlameSeries>("TRACE_FLAME", environment.flame, ".folded", path, reports);
}

FileOutputs::~FileOutputs() = default;

// Returns the path that it writes to; empty where it cannot. `taken` is another one's.
template <class S>
std::string FileOutputs::add(char const* variable, std::string const& path, char const* suffix, std::string const& taken,
                             std::string& reports) {
  std::error_code ignored;
  Plan plan{variable, std::filesystem::absolute(path, ignored).string()};
  if (is_folder(plan.path)) plan.path += std::string(plan.path.ends_with('/') ? "%t" : "/%t") + suffix;
  plan.by_test = plan.path.find("%t") != plan.path.npos;
  if (plan.path == taken && !is_no_file(plan.path)) {
    reports += "testlog: " + plan.variable + "=" + path + " is where a trace of another format goes. Nothing is written there; "
               "valid are a path of its own and a folder, which all formats may share.\n";
    return {};
  }
  bool is_open = plan.by_test;
  auto outside = std::make_unique<S>(plan, output_);
  if (plan.by_test) {
    auto of_tests = std::make_unique<S>(plan, output_);
    layers_.push_back(std::make_unique<ByTest>(*of_tests, *outside, attribution_));
    of_tests_.push_back(std::move(of_tests));
  } else {
    outside->set_reports(&reports);
    is_open = outside->is_ready(true);
    outside->set_reports(nullptr);
    if (is_open) layers_.push_back(outside->take_layer());
  }
  outside_.push_back(std::move(outside));
  return is_open ? plan.path : std::string();
}

std::vector<std::unique_ptr<Layer>> FileOutputs::take_layers() { return std::move(layers_); }

void FileOutputs::begin_test(std::string const& name) {
  for (auto const& series : of_tests_) series->begin(name);
}

void FileOutputs::end_test() {
  for (auto const& series : of_tests_) series->begin(kOutsideTests);
  flush();
}

void FileOutputs::flush() {
  for (auto const& series : of_tests_) series->flush();
  for (auto const& series : outside_) series->flush();
}

void FileOutputs::wait_for_writers() const noexcept {
  constexpr timespec kMoment{0, 1'000'000};
  for (int i = 0; i < 100; ++i) {
    bool behind = false;
    for (auto const& series : of_tests_) behind = behind || series->is_behind();
    for (auto const& series : outside_) behind = behind || series->is_behind();
    if (!behind) return;
    nanosleep(&kMoment, nullptr);
  }
}

void FileOutputs::finish() {
  for (auto const& series : of_tests_) series->finish();
  for (auto const& series : outside_) series->finish();
}

}  // namespace testlog::inline v1
