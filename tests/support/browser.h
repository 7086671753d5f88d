// Declares Browser, a Chromium without a window that a test looks at pages with and presses keys in.
#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tracing_test {

/// The path of an installed Chromium or Chrome: that of the variable TESTLOG_CHROMIUM, else what the PATH has; empty where
/// there is none.
std::string find_browser();

/// One browser with one page, steered by Chromium's own protocol over a pipe: pointer and keys go the way that a user's go.
/// Throws std::runtime_error where the browser does not answer. It fetches nothing by itself.
class Browser {
 public:
  using Json = nlohmann::json;

  Browser(std::string const& program, int width, int height);
  Browser(Browser const&) = delete;
  Browser& operator=(Browser const&) = delete;
  ~Browser();

  /// Opens a page and returns when it is loaded.
  void open(std::string const& url);
  /// The value of a JavaScript expression.
  Json evaluate(std::string const& expression);

  void move_to(double x, double y);
  void click(double x, double y);
  /// Into what has the focus.
  void type(std::string const& text);
  /// A key by its name (`Escape`, `f`), perhaps with Ctrl held down.
  void press(std::string const& key, bool with_control = false);

  /// A PNG of what is shown.
  std::string screenshot();

  /// URLs that pages asked for, but those of the browser's own.
  std::vector<std::string> const& requests() const { return requests_; }
  /// What scripts complained of.
  std::vector<std::string> const& complaints() const { return complaints_; }

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
  std::vector<std::string> complaints_;
};

}  // namespace tracing_test
