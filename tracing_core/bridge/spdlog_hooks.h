// Declares what the functions call that stand in a program in place of spdlog's own: see spdlog_functions.cc.
#pragma once

#include <spdlog/details/log_msg.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace spdlog {
class logger;
namespace details {
class registry;
}
}  // namespace spdlog

namespace tracing::inline v1::bridge::internal {

/// Whether the bridge is installed.
bool is_bridged() noexcept;

/// The handling of one message on the thread that logs: makes an event of it. While it lives, sinks of ours know that this
/// was done.
class Heard {
 public:
  /// `level` is the logger's own, as it stands in it.
  Heard(spdlog::logger& logger, int level, spdlog::details::log_msg const& message) noexcept;
  /// A sink got it.
  explicit Heard(spdlog::details::log_msg const& message) noexcept;
  Heard(Heard const&) = delete;
  Heard& operator=(Heard const&) = delete;
  ~Heard();

  /// Whether the logger's sinks would see the message without the bridge.
  bool is_for_sinks() const noexcept { return for_sinks_; }
  /// False where an event was made of it on the way, or the bridge is not installed.
  bool is_new() const noexcept { return new_; }

 private:
  void hear(spdlog::logger* logger, int level, spdlog::details::log_msg const& message) noexcept;

  void const* before_;
  bool muted_before_;
  bool for_sinks_ = true;
  bool new_ = false;
};

/// While it lives, the message tells those who get a copy of it whether console sinks are mute for it. Around queuing it.
class Sent {
 public:
  explicit Sent(spdlog::details::log_msg const& message) noexcept;
  Sent(Sent const&) = delete;
  Sent& operator=(Sent const&) = delete;
  ~Sent();

 private:
  spdlog::details::log_msg const& message_;
};

/// While it lives, console sinks are mute on this thread where they were so for the copy's sender.
class Arrived {
 public:
  explicit Arrived(spdlog::details::log_msg const& copy) noexcept;
  Arrived(Arrived const&) = delete;
  Arrived& operator=(Arrived const&) = delete;
  ~Arrived();

 private:
  bool muted_before_;
};

/// A logger was registered.
void on_new_logger(std::shared_ptr<spdlog::logger> const& logger) noexcept;
/// The user sets `level`: stores what the logger is to have.
void on_set_level(spdlog::logger& logger, int level) noexcept;
/// The level that the user set, where `level` is stored.
int user_level(spdlog::logger const& logger, int level) noexcept;

/// The registry that code with spdlog as headers only has, to be used where `make` returns true: by then it is made. It lives
/// for good.
void add_registry(spdlog::details::registry& registry, bool (*make)() noexcept) noexcept;

}  // namespace tracing::inline v1::bridge::internal
