// serve_perfetto_link(): a link that opens a trace in ui.perfetto.dev, which fetches the file from this machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tracing::inline v1 {

struct LinkOptions {
  /// How long to wait until a browser asks for the file; a year at most.
  std::chrono::milliseconds time_limit = std::chrono::minutes(5);
  /// Opens the link by xdg-open. Not on a machine that is used by ssh, whose browser is elsewhere.
  bool opens_browser = false;
  /// Is called with whole lines, without their ends. Null: standard error.
  std::function<void(std::string_view)> print{};
};

enum class LinkResult : std::uint8_t {
  fetched,      ///< a browser has the file
  in_ci,        ///< the variable CI is set: nobody would open the link
  unavailable,  ///< the port is taken, the file cannot be read, the process has no descriptor or thread left, or cpp-httplib
                ///< was missing when this was built
  timed_out,
  interrupted,  ///< by SIGINT, which ends the wait but not the program
};

/// Prints a link and waits until the page that it opens has fetched the file, once; the page keeps a copy. Serves nothing but
/// this file, any that the page can read, on 127.0.0.1:9001, from which alone ui.perfetto.dev accepts one. However it ends,
/// it prints a sentence with the path of the file. Its threads have ended when it returns, and the process handles signals as
/// before. Throws what LinkOptions::print throws. One call at a time: for another the port is taken.
LinkResult serve_perfetto_link(std::string const& path, LinkOptions const& options = {});

}  // namespace tracing::inline v1
