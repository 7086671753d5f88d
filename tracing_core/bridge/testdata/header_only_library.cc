#include "tracing_core/bridge/testdata/header_only_library.h"

#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>

#include "tracing_core/bridge/spdlog.h"

#ifndef SPDLOG_HEADER_ONLY
#error "this is to be compiled with spdlog as headers only"
#endif

namespace LIBRARY {

// Not by a factory: the template is in the program, too, where it is that of the shared spdlog.
static std::shared_ptr<spdlog::logger> named() {
  static auto const logger = [] {
    auto made = std::make_shared<spdlog::logger>("library", std::make_shared<spdlog::sinks::null_sink_mt>());
    spdlog::register_logger(made);
    return made;
  }();
  return logger;
}

void log_by_default(std::string const& text) {
  spdlog::info(text);
  spdlog::debug(text);
}
void log_by_name(std::string const& text) {
  named()->info(text);
  named()->debug(text);
}
bool attach() { return tracing::bridge::attach(named()); }

}  // namespace LIBRARY
