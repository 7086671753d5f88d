// PageWriter: writes the HTML file of `testlog report`.
//
// All that comes from recordings is in base64, so no text of a test can end an element or become markup. The policy in
// the head lets the browser run only the script that the page has been made with, and load nothing.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace testlog::cli::page {

/// Compresses bytes with gzip if that is available, and returns them in base64.
std::string packed(std::string_view bytes);

class PageWriter {
 public:
  using Out = std::function<void(std::string_view)>;
  /// Writes the beginning of the page.
  explicit PageWriter(Out out);
  PageWriter(PageWriter const&) = delete;
  PageWriter& operator=(PageWriter const&) = delete;

  /// Adds what packed() returned, as an element with this id, such as `b42`.
  void add(std::string_view id, std::string_view packed);
  void finish();

 private:
  Out const out_;
};

}  // namespace testlog::cli::page
