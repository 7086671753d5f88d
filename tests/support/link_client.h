// What tests of links to ui.perfetto.dev need: the port, which the machine has once, and a client.
#pragma once

#include <string>

namespace tracing_test {

/// Keeps other tests from 127.0.0.1:9001 while it exists, also those of other programs and build folders.
class LinkPort {
 public:
  LinkPort();
  LinkPort(LinkPort const&) = delete;
  LinkPort& operator=(LinkPort const&) = delete;
  ~LinkPort();

  /// Whether nobody listens there, so that a test can.
  static bool is_free();
  /// Why a test cannot use a link; empty if it can.
  static std::string why_not();
  /// A socket that listens there. REQUIRES: it is free.
  static int listen();

 private:
  int lock_;
};

/// A connection to 127.0.0.1:9001, for which it waits up to ten seconds until somebody listens; negative if nobody does.
int connect_to_link();
/// Sends a request, `GET /run.pftrace`, with the headers that a browser sends, and returns the answer with its headers.
std::string ask_link(std::string const& request, std::string const& more_headers = "");
/// Sends these bytes and returns the answer, as far as it came: of a refused client the kernel may discard it.
std::string ask_link_raw(std::string const& bytes);
/// The path in the link that `text` contains, from the slash on; empty if there is none.
std::string path_of_link(std::string const& text);
/// What follows the headers.
std::string body_of(std::string const& answer);

}  // namespace tracing_test
