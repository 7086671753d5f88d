// LinkServer: an HTTP server for one file.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tracing::inline v1::internal {

// Answers on 127.0.0.1:9001 what a page of one of its origins asks: GET and HEAD of the file, OPTIONS as a preflight. Refuses
// other methods, other origins and other names of the host, and reads neither a body nor a range. Sends the file to one client
// at a time: another one waits until it is known whether the first has the whole file.
class LinkServer {
 public:
  struct File {
    int descriptor;  // which remains the caller's
    std::size_t size;
    std::string path;  // in the URL, without the slash before it and without characters that are special there
  };
  // What the server's thread reports.
  struct Events {
    std::function<void()> begun;            // somebody fetches the file
    std::function<void(bool whole)> ended;  // and has it, or has not
  };

  static constexpr std::size_t kMaxHeadBytes = 8192;         // of a request
  static constexpr std::chrono::seconds kMaxHeadTime{2};     // from the first byte to the end of the head
  static constexpr std::chrono::seconds kMaxQuiet{60};       // to the first byte: a browser may ask its user before it asks
  static constexpr std::chrono::seconds kMaxSilence{5};      // of a client to which the file is sent
  static constexpr std::size_t kMaxClients = 64;             // at a time; the oldest that has not asked for the file makes room

  // Null, and why, if it cannot serve. Pages of `origins` may fetch the file, of which the first is told to clients that name
  // none.
  static std::unique_ptr<LinkServer> start(File file, std::vector<std::string> origins, Events events, std::string& error);
  // Ends what is in progress.
  virtual ~LinkServer() = default;
};

}  // namespace tracing::inline v1::internal
