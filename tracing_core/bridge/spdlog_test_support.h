// Declares Bridged, a test's own bridge, and what comes over it as text.
#pragma once

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "tracing_core/bridge/spdlog.h"
#include "tracing_core/setup.h"
#include "tracing_core/tracing.h"

namespace tracing_test {

/// While it lives, what this thread logs is printed as events that `filter` selects.
class Bridged {
 public:
  explicit Bridged(std::string_view filter = "trace", tracing::bridge::SpdlogOptions const& options = {},
                   tracing::FormatOptions format = {.timer = nullptr})
      : subscriber_(make(filter, std::move(format))) {
    tracing::bridge::install_spdlog(options);
  }
  Bridged(Bridged const&) = delete;
  Bridged& operator=(Bridged const&) = delete;
  ~Bridged() { tracing::bridge::uninstall_spdlog(); }

  /// What was printed since the last take().
  std::string take() {
    std::lock_guard const lock(mutex_);
    return std::exchange(text_, {});
  }

 private:
  std::shared_ptr<tracing::Registry> make(std::string_view filter, tracing::FormatOptions format) {
    format.ansi = false;
    auto sink = tracing::make_sink([this](tracing::Level, std::string_view line) {
      std::lock_guard const lock(mutex_);
      text_.append(line);
    });
    tracing::PrintOptions options{.format = std::move(format), .writer = tracing::to_sink(std::move(sink))};
    return tracing::RegistryBuilder()
        .with(tracing::print_layer(std::move(options)), tracing::boxed(tracing::EnvFilter::parse_lossy(filter)))
        .build();
  }

  std::mutex mutex_;
  std::string text_;
  tracing::ScopedDefault subscriber_;
};

/// A sink of the user's own, which keeps messages.
struct Kept {
  std::ostringstream text;
  std::shared_ptr<spdlog::sinks::ostream_sink_mt> sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(text, true);

  Kept() { sink->set_pattern("%l %v"); }
  std::string take() {
    std::string taken = text.str();
    text.str({});
    return taken;
  }
};

/// A logger that goes to `kept`, in no registry.
inline std::shared_ptr<spdlog::logger> make_logger(std::string name, Kept const& kept) {
  return std::make_shared<spdlog::logger>(std::move(name), kept.sink);
}

/// Takes a logger out of the registry at its end.
class Registered {
 public:
  explicit Registered(std::shared_ptr<spdlog::logger> logger) : logger_(std::move(logger)) {}
  Registered(Registered const&) = delete;
  Registered& operator=(Registered const&) = delete;
  ~Registered() { spdlog::drop(logger_->name()); }
  spdlog::logger* operator->() const { return logger_.get(); }

 private:
  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace tracing_test
