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
  Heard(Heard const&) = delete;
  Heard& operator=(Heard const&) = delete;
  ~Heard();

  /// Whether the logger's sinks would see the message without the bridge.
  bool is_for_sinks() const noexcept { return for_sinks_; }

 private:
  void const* before_;
  bool for_sinks_;
};

/// While it lives, what this thread logs is the same message once more, for other sinks.
class Forwarding {
 public:
  Forwarding() noexcept;
  Forwarding(Forwarding const&) = delete;
  Forwarding& operator=(Forwarding const&) = delete;
  ~Forwarding();

 private:
  bool before_;
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
