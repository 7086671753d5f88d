#include "tracing_core/bridge/spdlog.h"

#include <sys/stat.h>
#include <unistd.h>

#include <spdlog/details/log_msg.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/emit/log_event.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/spdlog_calls.h"

#if !defined(SPDLOG_HEADER_ONLY)
// Null in a program that does not use spdlog, which then is not loaded.
namespace spdlog {
[[gnu::weak]] decltype(apply_all) apply_all;
}
#endif

namespace tracing { inline namespace v1 { namespace bridge {
namespace {

using LoggerPtr = std::shared_ptr<spdlog::logger>;

constinit std::atomic<internal::RegistryNode*> added_registries{nullptr};

// ---- events ----

// Spdlog's string views are either fmt's or the standard library's.
template <class View>
std::string_view text_of(View const& view) noexcept {
  return {view.data(), view.size()};
}

// Emits the message as an event of this thread with the message's time. Takes no lock, except when a statement logs for
// the first time.
void emit(spdlog::details::log_msg const& message) noexcept {
  tracing::internal::LogStatement statement{.target = text_of(message.logger_name),
                                            .level = from_spdlog(message.level)};
  if (statement.target.empty()) statement.target = "spdlog";
  if (message.source.filename != nullptr && message.source.line > 0) {
    statement.file = message.source.filename;
    statement.line = static_cast<std::uint32_t>(message.source.line);
    statement.function = message.source.funcname;
  }
  auto const time = std::chrono::duration_cast<std::chrono::nanoseconds>(message.time.time_since_epoch());
  tracing::internal::emit_logged(statement, text_of(message.payload), Origin{.time = Instant{time.count()}});
}

// ---- console sinks ----

template <class... Kinds>
bool is_one_of(spdlog::sinks::sink const& sink) noexcept {
  return (... || (dynamic_cast<Kinds const*>(&sink) != nullptr));
}

// Returns the descriptor to which a console sink writes; -1 for other sinks.
int console_of(spdlog::sink_ptr const& sink) noexcept {
  using namespace spdlog::sinks;
  if (sink == nullptr) return -1;
  if (is_one_of<stdout_color_sink_mt, stdout_color_sink_st, stdout_sink_mt, stdout_sink_st>(*sink))
    return STDOUT_FILENO;
  if (is_one_of<stderr_color_sink_mt, stderr_color_sink_st, stderr_sink_mt, stderr_sink_st>(*sink))
    return STDERR_FILENO;
  return -1;
}

// The file that a descriptor refers to.
struct OpenFile {
  dev_t device{};
  ino_t inode{};

  explicit OpenFile(int descriptor) noexcept {
    struct stat status;
    if (fstat(descriptor, &status) == 0) device = status.st_dev, inode = status.st_ino;
  }
  friend bool operator==(OpenFile const&, OpenFile const&) = default;
};

// A console sink that was set aside.
struct ConsoleSink {
  spdlog::sink_ptr sink;
  int descriptor;
  OpenFile file{descriptor};  // the file when the sink was set aside

  bool is_redirected() const noexcept { return OpenFile(descriptor) != file; }
};

class SpdlogSink final : public spdlog::sinks::sink {
 public:
  explicit SpdlogSink(std::vector<ConsoleSink> set_aside = {}) : set_aside_(std::move(set_aside)) {}

  std::vector<ConsoleSink> const& set_aside() const noexcept { return set_aside_; }

  void log(spdlog::details::log_msg const& message) override {
    bool const in_subscriber = tracing::internal::thread_state.in_subscriber;  // an event would loop
    if (!in_subscriber) emit(message);
    for (ConsoleSink const& one : set_aside_) {
      bool const is_logged = tracing::internal::should_log(*one.sink, message.level);
      if (is_logged && (in_subscriber || one.is_redirected())) one.sink->log(message);
    }
  }
  void flush() override {
    for (ConsoleSink const& one : set_aside_) one.sink->flush();
  }
  void set_pattern(std::string const& pattern) override {
    for (ConsoleSink const& one : set_aside_) one.sink->set_pattern(pattern);
  }
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
    for (ConsoleSink const& one : set_aside_) one.sink->set_formatter(formatter->clone());
  }

 private:
  std::vector<ConsoleSink> const set_aside_;
};

bool is_console(spdlog::sink_ptr const& sink) noexcept { return console_of(sink) >= 0; }
bool is_ours(spdlog::sink_ptr const& sink) noexcept { return dynamic_cast<SpdlogSink const*>(sink.get()) != nullptr; }

void for_each_registered(std::function<void(LoggerPtr)> const& visit) {
#if defined(SPDLOG_HEADER_ONLY)
  spdlog::apply_all(visit);
#else
  if (&spdlog::apply_all != nullptr) spdlog::apply_all(visit);
#endif
  for (auto const* node = added_registries.load(std::memory_order_acquire); node != nullptr; node = node->next) {
    node->apply_all(visit);
  }
}

}  // namespace

spdlog::sink_ptr spdlog_sink() { return std::make_shared<SpdlogSink>(); }

bool attach(LoggerPtr const& logger, Console console) {
  if (logger == nullptr) return false;
  auto& sinks = tracing::internal::sinks_of(*logger);
  if (std::any_of(sinks.begin(), sinks.end(), is_ours)) return false;
  std::vector<ConsoleSink> set_aside;
  for (auto const& sink : sinks) {
    if (console == Console::set_aside && is_console(sink)) set_aside.push_back({sink, console_of(sink)});
  }
  auto ours = std::make_shared<SpdlogSink>(set_aside);
  if (set_aside.empty()) {
    sinks.insert(sinks.begin(), std::move(ours));
  } else {  // takes the place of a console sink, so that the vector seldom grows
    *std::find_if(sinks.begin(), sinks.end(), is_console) = std::move(ours);
    std::erase_if(sinks, is_console);
  }
  return true;
}

bool detach(LoggerPtr const& logger) {
  if (logger == nullptr) return false;
  auto& sinks = tracing::internal::sinks_of(*logger);
  auto const found = std::find_if(sinks.begin(), sinks.end(), is_ours);
  if (found == sinks.end()) return false;
  auto const ours = std::static_pointer_cast<SpdlogSink>(*found);
  sinks.erase(found);
  for (ConsoleSink const& one : ours->set_aside()) sinks.push_back(one.sink);
  return true;
}

void attach_all(Console console) {
  for_each_registered([console](LoggerPtr const& logger) { attach(logger, console); });
}

void detach_all() { for_each_registered(detach); }

namespace internal {

bool add_registry(RegistryNode& node) noexcept {
  node.next = added_registries.load(std::memory_order_relaxed);
  while (!added_registries.compare_exchange_weak(node.next, &node, std::memory_order_release)) {
  }
  return true;
}

}  // namespace internal
}}}  // namespace tracing::v1::bridge
