// ThrowingSink is a spdlog sink that throws from log() and flush().
#pragma once

#include <spdlog/sinks/sink.h>

#include <memory>
#include <string>

namespace tracing_test {

class ThrowingSink final : public spdlog::sinks::sink {
 public:
  void log(spdlog::details::log_msg const&) override { throw 1; }
  void flush() override { throw 2; }
  void set_pattern(std::string const&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}
};

}  // namespace tracing_test
