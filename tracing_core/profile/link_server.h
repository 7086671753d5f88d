// LinkServer: an HTTP server for one file.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tracing { inline namespace v1 { namespace internal {

// Answers, on 127.0.0.1:9001, the requests of pages of its origins: GET and HEAD of the file, and OPTIONS as a
// preflight. Refuses other methods, origins and names of the host, and reads neither a body nor a range. Sends the file
// to one client at a time: the next client waits until it is known if the first has the whole file.
class LinkServer {
 public:
  struct File {
    int descriptor;  // remains the caller's
    std::size_t size;
    std::string path;  // of the URL, without its leading slash, and without characters that are special in a URL
  };
  // Called by the server's thread.
  struct Events {
    std::function<void()> begun;            // a client begins to fetch the file
    std::function<void(bool whole)> ended;  // that client has the whole file, or has given up
  };

  static constexpr std::size_t kMaxHeadBytes = 8192;      // of a request
  static constexpr std::chrono::seconds kMaxHeadTime{2};  // from the first byte to the end of the head
  static constexpr std::chrono::seconds kMaxQuiet{60};    // to the first byte: a browser may first ask its user
  static constexpr std::chrono::seconds kMaxSilence{5};   // of a client to which the file is sent
  static constexpr std::size_t kMaxClients = 64;  // at a time; the oldest that has not asked for the file makes room

  // Starts a server. If that fails, returns null and sets `error`. Pages of `origins` may fetch the file. A client that
  // names no origin is told the first of them.
  static std::unique_ptr<LinkServer> start(File file, std::vector<std::string> origins, Events events,
                                           std::string& error);
  // Ends the answers that are in progress.
  virtual ~LinkServer() = default;
};

}}}  // namespace tracing::v1::internal
