// Declares AsyncSink, which hands messages on to an async logger.
#pragma once

#include <spdlog/async_logger.h>
#include <spdlog/sinks/sink.h>

#include <memory>
#include <string>
#include <utility>

#include "tracing_core/bridge/spdlog_hooks.h"

namespace tracing::inline v1::bridge::internal {

/// The only sink of a logger made by AsyncFactory: what stands behind it is written on another thread. Thread-safe.
class AsyncSink final : public spdlog::sinks::sink {
 public:
  explicit AsyncSink(std::shared_ptr<spdlog::async_logger> behind) : behind_(std::move(behind)) {}

  spdlog::async_logger& behind() const noexcept { return *behind_; }

  void log(spdlog::details::log_msg const& message) override {
    Forwarding const forwarding;
    behind_->log(message.time, message.source, message.level, message.payload);
  }
  void flush() override { behind_->flush(); }
  void set_pattern(std::string const& pattern) override { behind_->set_pattern(pattern); }
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override { behind_->set_formatter(std::move(formatter)); }

 private:
  std::shared_ptr<spdlog::async_logger> behind_;
};

}  // namespace tracing::inline v1::bridge::internal
