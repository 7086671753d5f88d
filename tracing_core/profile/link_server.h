// LinkServer: an HTTP server for one file.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace tracing::inline v1::internal {

// Answers on 127.0.0.1:9001 what ui.perfetto.dev asks: GET and HEAD of the file, OPTIONS as a preflight, 404 for all else,
// as POST, by which the page looks for a trace processor first. Every answer is for pages of any origin.
class LinkServer {
 public:
  struct File {
    int descriptor;  // which remains the caller's
    std::size_t size;
    std::string name;  // in the URL, without characters that are special there
  };
  // What a thread of the server reports.
  struct Events {
    std::function<void()> begun;            // somebody fetches the whole file
    std::function<void(bool whole)> ended;  // and has it, or has not
  };

  // Null, and why, if it cannot serve.
  static std::unique_ptr<LinkServer> start(File file, Events events, std::string& error);
  // Ends what is in progress.
  virtual ~LinkServer() = default;
};

}  // namespace tracing::inline v1::internal
