// Declares Story, which prints what a test recorded and did not show.
#pragma once

#include <memory>
#include <string_view>

#include "testlog/session.h"

namespace testlog::inline v1 {

/// Prints the captured records of the process, each at most once, under a headline. Single-thread.
class Story {
 public:
  explicit Story(Session& session) noexcept : session_(session) {}

  /// Prints what was captured since the last call of skip() or tell_everything() and was not shown. `headline` says whose
  /// story it is. Nothing where there is nothing to tell.
  void tell_unshown(std::string_view headline);
  /// Prints what TRACE_FILTER selected, without a headline, for a test that passed.
  void tell_selected();
  /// What was captured so far is told, or will never be.
  void skip() noexcept;

 private:
  template <class Select>
  void tell(std::string_view headline, std::unique_ptr<tracing::Filter> filter, Select&& select);

  Session& session_;
};

}  // namespace testlog::inline v1
