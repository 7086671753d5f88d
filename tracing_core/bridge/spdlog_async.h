// Declares async_factory, which makes async loggers whose messages are events on the thread that logs.
#pragma once

#include <spdlog/async.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "tracing_core/bridge/async_sink.h"
#include "tracing_core/bridge/spdlog.h"

namespace tracing::inline v1::bridge {

/// Takes the place of spdlog::async_factory where spdlog is used as headers only:
/// `spdlog::basic_logger_mt<tracing::bridge::async_factory>("name", "file.log")`. The logger's messages become events before
/// they are queued; its sinks stand behind the queue. Works as well with the shared spdlog, which does not need it.
template <spdlog::async_overflow_policy kPolicy>
struct AsyncFactory {
  template <class Sink, class... A>
  static std::shared_ptr<spdlog::logger> create(std::string name, A&&... args) {
    auto& registry = spdlog::details::registry::instance();
    std::lock_guard<std::recursive_mutex> const lock(registry.tp_mutex());
    auto pool = registry.get_tp();
    if (pool == nullptr) {
      pool = std::make_shared<spdlog::details::thread_pool>(spdlog::details::default_async_q_size, 1U);
      registry.set_tp(pool);
    }
    auto sink = std::make_shared<internal::ArrivalSink>(std::make_shared<Sink>(std::forward<A>(args)...));
    auto behind = std::make_shared<spdlog::async_logger>(name, std::move(sink), std::move(pool), kPolicy);
    behind->set_level(spdlog::level::trace);
    auto logger = std::make_shared<spdlog::logger>(std::move(name), std::make_shared<internal::AsyncSink>(std::move(behind)));
    registry.initialize_logger(logger);
    attach(logger);
    return logger;
  }
};

using async_factory = AsyncFactory<spdlog::async_overflow_policy::block>;
using async_factory_nonblock = AsyncFactory<spdlog::async_overflow_policy::overrun_oldest>;

}  // namespace tracing::inline v1::bridge
