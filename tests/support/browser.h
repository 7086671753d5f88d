// Browser is a headless Chromium that tests use to load pages, press keys and take screenshots.
#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tracing_test {

/// Returns the path of an installed Chromium or Chrome: the value of TESTLOG_CHROMIUM, or a browser on the PATH; empty
/// if neither exists.
std::string find_browser();

/// A browser with one page, controlled by the DevTools protocol over a pipe. Pointer and key events take the path of a
/// user's events. Throws std::runtime_error if the browser does not answer. Its background network access is turned
/// off.
class Browser {
 public:
  using Json = nlohmann::json;

  Browser(std::string const& program, int width, int height);
  Browser(Browser const&) = delete;
  Browser& operator=(Browser const&) = delete;
  ~Browser();

  /// Opens a page; returns when it is loaded.
  void open(std::string const& url);
  /// Evaluates a JavaScript expression.
  Json evaluate(std::string const& expression);

  void move_to(double x, double y);
  void click(double x, double y);
  /// Types into the focused element.
  void type(std::string const& text);
  /// Presses a key by its name (`Escape`, `f`), with Ctrl if asked.
  void press(std::string const& key, bool with_control = false);

  /// Returns the page as a PNG.
  std::string screenshot();

  /// Returns the URLs that pages requested, without the browser's internal URLs.
  std::vector<std::string> const& requests() const { return requests_; }
  /// Returns the errors that scripts reported.
  std::vector<std::string> const& script_errors() const { return script_errors_; }

 private:
  void start(std::string const& program, int width, int height);
  Json call(std::string const& method, Json parameters);
  Json read_message();
  void note(Json const& event);
  void stop() noexcept;

  std::string profile_;
  pid_t process_ = 0;
  int to_ = -1;
  int from_ = -1;
  int last_id_ = 0;
  std::string session_;
  std::string unread_;
  std::vector<std::string> requests_;
  std::vector<std::string> script_errors_;
};

}  // namespace tracing_test
