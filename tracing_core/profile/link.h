// serve_perfetto_link(): a link that opens a trace in ui.perfetto.dev, which fetches the file from this machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tracing::inline v1 {

struct LinkOptions {
  /// How long to wait until a browser asks for the file; a year at most.
  std::chrono::milliseconds time_limit = std::chrono::minutes(5);
  /// Opens the link by xdg-open. Not on a machine that is used by ssh, whose browser is elsewhere.
  bool opens_browser = false;
  /// Origins, such as `http://localhost:10000` of a Perfetto UI of one's own, whose pages may fetch the file, too.
  std::vector<std::string> origins{};
  /// Is called with whole lines, without their ends. Null: standard error.
  std::function<void(std::string_view)> print{};
};

enum class LinkResult : std::uint8_t {
  fetched,      ///< a browser has the file
  in_ci,        ///< the variable CI is set: nobody would open the link
  unavailable,  ///< the port is taken, the file cannot be read, or the process has no descriptor or thread left
  timed_out,
  interrupted,  ///< by SIGINT, which ends the wait but not the program
};

/// Prints a link and waits until the page that it opens has fetched the file, once; the page keeps a copy. Serves nothing but
/// this file, any that the page can read, on 127.0.0.1:9001, from which alone ui.perfetto.dev accepts one. Only who knows the
/// link can fetch it, since its path has 128 random bits, and of web pages only those of ui.perfetto.dev and `origins`. However it ends,
/// it prints a sentence with the path of the file. Its threads have ended when it returns, and the process handles signals as
/// before. Throws what LinkOptions::print throws. One call at a time: for another the port is taken.
LinkResult serve_perfetto_link(std::string const& path, LinkOptions const& options = {});

}  // namespace tracing::inline v1
