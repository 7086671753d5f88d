// serve_perfetto_link(): prints a link that opens a trace in ui.perfetto.dev, which fetches the file from this machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 {

struct LinkOptions {
  /// The time to wait until a browser asks for the file; a year at most.
  std::chrono::milliseconds time_limit = std::chrono::minutes(5);
  /// On: open the link by xdg-open. Has no effect on a machine that is used by ssh, since the browser is elsewhere.
  bool opens_browser = false;
  /// Further origins whose pages may fetch the file, such as `http://localhost:10000` of one's own Perfetto UI.
  std::vector<std::string> origins{};
  /// Called with whole lines, without their ends. Null: lines go to standard error.
  std::function<void(std::string_view)> print{};
};

enum class LinkResult : std::uint8_t {
  fetched,      ///< a browser has the file
  in_ci,        ///< the variable CI is set: nobody would open the link
  unavailable,  ///< the port is taken, the file cannot be read, or the process has no descriptor or thread left
  timed_out,
  interrupted,  ///< by SIGINT, which ends the wait but not the program
};

/// Prints a link and waits until the page that it opens has fetched the file, once; the page keeps a copy. The file may
/// be any file that the page can read. Serves nothing else, on 127.0.0.1:9001, the only address from which
/// ui.perfetto.dev accepts a file. Only a client that knows the link can fetch the file, since its path has 128 random
/// bits; and if the client is a web page, it must belong to ui.perfetto.dev or to `origins`. However the wait ends,
/// prints a sentence with the path of the file. When the function returns, its threads have ended, and the process
/// handles signals as before. Throws what LinkOptions::print throws. Call it once at a time: a second call finds the
/// port taken.
LinkResult serve_perfetto_link(std::string const& path, LinkOptions const& options = {});

}}  // namespace tracing::v1
