// For tests of links to ui.perfetto.dev: the port, of which a machine has one, and a client.
#pragma once

#include <string>

namespace tracing_test {

/// Keeps other tests from 127.0.0.1:9001 while it exists, including tests of other programs and build folders.
class LinkPort {
 public:
  LinkPort();
  LinkPort(LinkPort const&) = delete;
  LinkPort& operator=(LinkPort const&) = delete;
  ~LinkPort();

  /// Returns true if nobody listens there, so that a test can.
  static bool is_free();
  /// Returns the reason why a test cannot use a link; empty if it can.
  static std::string why_not();
  /// Returns a socket that listens there. REQUIRES: is_free().
  static int listen();

 private:
  int lock_;
};

/// Returns a connection to 127.0.0.1:9001. Waits up to ten seconds until somebody listens; negative if nobody does.
int connect_to_link();
/// Sends a request, `GET /run.pftrace`, with the headers that a browser sends, and returns the answer with its headers.
std::string ask_link(std::string const& request, std::string const& more_headers = "");
/// Sends these bytes and returns the answer as far as it came: the kernel may discard the answer to a refused client.
std::string ask_link_raw(std::string const& bytes);
/// Returns the path in the link that `text` contains, from the slash on; empty if `text` has no link.
std::string path_of_link(std::string const& text);
/// Returns the part of the answer after the headers.
std::string body_of(std::string const& answer);

}  // namespace tracing_test
