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

#include "tracing_core/dispatch/dispatch.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/export/line_sink.h"

namespace tracing::inline v1::bridge {
namespace {

using LoggerPtr = std::shared_ptr<spdlog::logger>;

constinit std::atomic<internal::RegistryNode*> added_registries{nullptr};

// ---- events ----

// Spdlog's string views are fmt's or the standard library's.
template <class View>
std::string_view text_of(View const& view) noexcept {
  return {view.data(), view.size()};
}

// The constant parts of the events of one logging statement.
struct Statement {
  std::string_view target;
  Level level;
  std::string_view file{};  // empty: not known
  std::uint32_t line = 0;
  char const* function = nullptr;

  explicit Statement(spdlog::details::log_msg const& message) noexcept
      : target(text_of(message.logger_name)), level(from_spdlog(message.level)) {
    if (target.empty()) target = "spdlog";
    if (message.source.filename == nullptr || message.source.line <= 0) return;
    file = message.source.filename;
    line = static_cast<std::uint32_t>(message.source.line);
    function = message.source.funcname;
  }

  std::size_t hash() const noexcept {
    std::hash<std::string_view> const hash_text;
    return hash_text(target) + 31 * hash_text(file) + 1021 * line + static_cast<std::size_t>(level);
  }
  bool is_of(Metadata const& metadata) const noexcept {
    return metadata.level() == level && metadata.line() == line && metadata.target() == target &&
           metadata.file() == file;
  }
  RuntimeCallsite make_callsite() const {
    CallsiteDescription description{.target = target, .level = level, .fields = {"message"}, .file = file};
    if (line > 0) description.line = line;
    if (function != nullptr) description.function = function;
    return RuntimeCallsite(description);
  }
};

// The callsites of statements that have logged: a hash table that is only added to, so that reading takes no lock.
// Programs that make up names or places as they run fill it; their later messages have callsites of their own.
constexpr std::size_t kSlots = 2048;
constexpr std::size_t kMaxProbes = 16;
constinit std::atomic<RuntimeCallsite const*> callsites[kSlots];

// Null if there is no slot left.
RuntimeCallsite const* find_or_add(Statement const& statement) {
  std::size_t const hash = statement.hash();
  std::unique_ptr<RuntimeCallsite> made;
  for (std::size_t i = 0; i < kMaxProbes; ++i) {
    auto& slot = callsites[(hash + i) % kSlots];
    RuntimeCallsite const* found = slot.load(std::memory_order_acquire);
    if (found == nullptr) {
      if (made == nullptr) made = std::make_unique<RuntimeCallsite>(statement.make_callsite());
      if (slot.compare_exchange_strong(found, made.get(), std::memory_order_acq_rel)) return made.release();
    }
    if (statement.is_of(found->metadata())) return found;
  }
  return nullptr;
}

void emit_at(Callsite& callsite, spdlog::details::log_msg const& message) noexcept {
  LayerMask const mask = callsite.enabled();
  if (mask == 0) return;
  Value const text = Value::of_verbatim(text_of(message.payload));
  auto const time = std::chrono::duration_cast<std::chrono::nanoseconds>(message.time.time_since_epoch());
  tracing::internal::dispatch_event_at(callsite, mask, &text, {}, Origin{.time = Instant{time.count()}});
}

// Emits the message as an event of this thread with the message's time. Without a lock once the statement has logged.
// Throws if memory runs out. REQUIRES: the thread is not in a subscriber.
void emit(spdlog::details::log_msg const& message) {
  Statement const statement(message);
  if (RuntimeCallsite const* const kept = find_or_add(statement)) return emit_at(kept->callsite(), message);
  return emit_at(statement.make_callsite().callsite(), message);
}

// ---- console sinks ----

template <class... Kinds>
bool is_one_of(spdlog::sinks::sink const& sink) noexcept {
  return (... || (dynamic_cast<Kinds const*>(&sink) != nullptr));
}

// The descriptor that a console sink writes to; -1 for other sinks.
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
  OpenFile file{descriptor};  // when it was set aside

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
      if (one.sink->should_log(message.level) && (in_subscriber || one.is_redirected())) one.sink->log(message);
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
  spdlog::apply_all(visit);
  for (auto const* node = added_registries.load(std::memory_order_acquire); node != nullptr; node = node->next) {
    node->apply_all(visit);
  }
}

}  // namespace

spdlog::sink_ptr spdlog_sink() { return std::make_shared<SpdlogSink>(); }

bool attach(LoggerPtr const& logger, Console console) {
  if (logger == nullptr) return false;
  auto& sinks = logger->sinks();
  if (std::any_of(sinks.begin(), sinks.end(), is_ours)) return false;
  std::vector<ConsoleSink> set_aside;
  for (auto const& sink : sinks) {
    if (console == Console::set_aside && is_console(sink)) set_aside.push_back({sink, console_of(sink)});
  }
  auto ours = std::make_shared<SpdlogSink>(set_aside);
  if (set_aside.empty()) {
    sinks.insert(sinks.begin(), std::move(ours));
  } else {  // in its place, so that the vector as a rule keeps its size
    *std::find_if(sinks.begin(), sinks.end(), is_console) = std::move(ours);
    std::erase_if(sinks, is_console);
  }
  return true;
}

bool detach(LoggerPtr const& logger) {
  if (logger == nullptr) return false;
  auto& sinks = logger->sinks();
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
}  // namespace tracing::inline v1::bridge
