// LineSink: a spdlog sink that takes complete lines as they are; make_sink(): makes a LineSink that calls a function.
#pragma once

#include <spdlog/sinks/sink.h>

#include <memory>
#include <string_view>
#include <utility>

#include "tracing_core/model/level.h"

namespace tracing { inline namespace v1 {

/// Takes text as it is, unlike other sinks of spdlog: complete lines, including colours and line ends. Thread-safe
/// without an outer lock. A spdlog logger may use it, too: the logger's messages are formatted if a formatter was set,
/// and otherwise get a line end.
class LineSink : public spdlog::sinks::sink {
 public:
  LineSink();
  ~LineSink() override;

  /// Writes one line, or several lines that belong together. Thread-safe.
  virtual void write(Level level, std::string_view text) noexcept = 0;
  /// Returns true if write() may also get lines that do not belong together, with the level of the first line. A
  /// NonBlockingSink then passes as many waiting lines as fit into 4096 bytes by one call.
  virtual bool takes_joined_lines() const noexcept { return false; }

  /// Returns true if set_level() lets lines of this level pass.
  bool takes(Level level) const noexcept;

  void log(spdlog::details::log_msg const& message) final;
  void flush() override {}
  void set_pattern(std::string const& pattern) final;
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) final;

 private:
  struct Formatting;
  std::unique_ptr<Formatting> const formatting_;
};

/// Makes a sink that calls `write`, a `void(Level level, std::string_view text)` that is thread-safe and does not
/// throw.
template <class F>
std::shared_ptr<LineSink> make_sink(F write) {
  class Calling final : public LineSink {
   public:
    explicit Calling(F&& f) : write_(std::move(f)) {}
    void write(Level level, std::string_view text) noexcept override { write_(level, text); }

   private:
    F write_;
  };
  return std::make_shared<Calling>(std::move(write));
}

/// Returns the level in spdlog's terms.
constexpr spdlog::level::level_enum to_spdlog(Level level) noexcept {
  return static_cast<spdlog::level::level_enum>(static_cast<int>(Level::trace) - static_cast<int>(level));
}
/// Returns spdlog's level in our terms; spdlog's critical becomes an error.
constexpr Level from_spdlog(spdlog::level::level_enum level) noexcept {
  return level >= spdlog::level::err ? Level::error
                                     : static_cast<Level>(static_cast<int>(Level::trace) - static_cast<int>(level));
}

inline bool LineSink::takes(Level level) const noexcept {
  return to_spdlog(level) >= level_.load(std::memory_order_relaxed);
}

}}  // namespace tracing::v1
