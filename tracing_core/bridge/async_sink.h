// Declares AsyncSink, which hands messages on to an async logger, and what stands in that one before the sink of the user's.
#pragma once

#include <spdlog/async_logger.h>
#include <spdlog/sinks/sink.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tracing_core/bridge/spdlog_hooks.h"

namespace tracing::inline v1::bridge::internal {

/// The only sink of a logger made by AsyncFactory: what stands behind it is written on another thread. Thread-safe.
class AsyncSink final : public spdlog::sinks::sink {
 public:
  explicit AsyncSink(std::shared_ptr<spdlog::async_logger> behind) : behind_(std::move(behind)) {}

  spdlog::async_logger& behind() const noexcept { return *behind_; }

  /// Queues the message as it is, with the name of the logger that it comes from.
  void log(spdlog::details::log_msg const& message) override {
    using SinkIt = void (spdlog::logger::*)(spdlog::details::log_msg const&);
    struct Access : spdlog::logger {
      static SinkIt sink_it() noexcept { return &Access::sink_it_; }
    };
    Sent const sent(message);
    (*behind_.*Access::sink_it())(message);
  }
  void flush() override { behind_->flush(); }
  void set_pattern(std::string const& pattern) override { behind_->set_pattern(pattern); }
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override { behind_->set_formatter(std::move(formatter)); }

 private:
  std::shared_ptr<spdlog::async_logger> behind_;
};

/// The only sink of that async logger: writes by the user's sink, knowing what the sender knew.
class ArrivalSink final : public spdlog::sinks::sink {
 public:
  explicit ArrivalSink(std::shared_ptr<spdlog::sinks::sink> own) : sinks_{std::move(own)} {}

  std::vector<std::shared_ptr<spdlog::sinks::sink>> const& sinks() const noexcept { return sinks_; }

  void log(spdlog::details::log_msg const& message) override {
    Arrived const arrived(message);
    if (sinks_[0]->should_log(message.level)) sinks_[0]->log(message);
  }
  void flush() override { sinks_[0]->flush(); }
  void set_pattern(std::string const& pattern) override { sinks_[0]->set_pattern(pattern); }
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override { sinks_[0]->set_formatter(std::move(formatter)); }

 private:
  std::vector<std::shared_ptr<spdlog::sinks::sink>> const sinks_;
};

}  // namespace tracing::inline v1::bridge::internal
