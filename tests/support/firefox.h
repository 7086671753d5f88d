// Firefox is a headless Firefox that tests use to load pages and read them.
#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <string>

namespace tracing_test {

/// Returns the path of an installed Firefox: the value of TESTLOG_FIREFOX, or a browser on the PATH; empty if neither
/// exists.
std::string find_firefox();

/// A browser with one page, controlled by the Marionette protocol over a local socket. Throws std::runtime_error if the
/// browser does not answer.
class Firefox {
 public:
  using Json = nlohmann::json;

  explicit Firefox(std::string const& program);
  Firefox(Firefox const&) = delete;
  Firefox& operator=(Firefox const&) = delete;
  ~Firefox();

  /// Opens a page; returns when it is loaded.
  void open(std::string const& url);
  /// Runs a script in the page. Returns what it returns.
  Json run(std::string const& script);

 private:
  void start(std::string const& program);
  Json call(std::string const& command, Json const& parameters);
  Json read_message();
  void stop() noexcept;

  std::string profile_;
  pid_t process_ = 0;
  int socket_ = -1;
  int last_id_ = 0;
  std::string unread_;
};

}  // namespace tracing_test
