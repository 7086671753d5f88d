// Declares GateSink, which hears a logger of spdlog as headers only.
#pragma once

#include <spdlog/logger.h>
#include <spdlog/sinks/sink.h>

#include <atomic>
#include <memory>
#include <string>

namespace tracing::inline v1::bridge::internal {

/// The first sink of a logger: makes events of its messages and hands them on to the sinks behind it, but for those that come
/// only because the bridge lowered the logger's level. Thread-safe.
class GateSink final : public spdlog::sinks::sink {
 public:
  explicit GateSink(std::shared_ptr<spdlog::logger> const& logger);

  /// The level that the user wants, while the logger has the level `lowered_to`.
  void set_levels(int user_level, int lowered_to) noexcept;

  void log(spdlog::details::log_msg const& message) override;
  void flush() override {}
  void set_pattern(std::string const&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

 private:
  bool is_of_logger(spdlog::details::log_msg const& message) const noexcept;
  void hand_on(spdlog::details::log_msg const& message);

  spdlog::logger* const logger_;
  std::weak_ptr<spdlog::logger> const alive_;  // others may take its sinks over, and live longer
  std::atomic<int> user_level_;
  std::atomic<int> lowered_to_;
};

}  // namespace tracing::inline v1::bridge::internal
