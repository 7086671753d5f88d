// Declares Story, which prints what a test recorded and did not show.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "testlog/session.h"

namespace testlog::inline v1 {

/// Whose story it is.
struct Headline {
  std::string_view text{};
  bool is_news = false;  ///< printed also where there is nothing to tell
};

/// Prints the captured records of the process, each at most once, under a headline. Single-thread.
class Story {
 public:
  explicit Story(Session& session) noexcept : session_(session) {}

  /// Prints what was captured since the last call of skip() or of this, and while what is tested was set up, and was not
  /// shown. Nothing where there is nothing to tell.
  void tell_unshown(Headline headline);
  /// Prints what TRACE_FILTER selected, without a headline, for a test that passed.
  void tell_selected();
  /// What tests have recorded so far is told, or will never be.
  void skip() noexcept;

 private:
  template <class Select>
  std::string lines_of(tracing::RecordSnapshot const& records, std::unique_ptr<tracing::Filter> filter, Select&& select) const;
  template <class Select>
  void tell(Headline headline, std::uint64_t from, std::unique_ptr<tracing::Filter> filter, Select&& select);

  Session& session_;
};

}  // namespace testlog::inline v1
