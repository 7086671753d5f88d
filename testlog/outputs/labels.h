// LabelledFormat: marks the lines of records that do not belong to the running test or come from other threads.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "testlog/capture/attribution.h"
#include "testlog/environment.h"
#include "testlog/outputs/equal_lines.h"
#include "tracing_core/format/event_format.h"

namespace testlog { inline namespace v1 {

/// Returns true if lines of text name the thread of `track`. Lines of a death test's child always do.
bool names_thread(ThreadLabels labels, tracing::Track const& track, Attribution const& attribution) noexcept;

/// Appends the members "test", "late" and "thread" to the JSON object at the end of `out`.
void append_json_members(tracing::TextBuffer& out, Attribution const& attribution, Owner owner,
                         tracing::Track const& track) noexcept;

/// Returns the name of the test; `an earlier test` if it is no longer known.
std::string_view name_of_late_test(Attribution const& attribution, Owner owner) noexcept;

/// Appends `[late, from Suite.Name] ` or `[outside any test] `; nothing for the running test.
void append_owner(tracing::TextBuffer& out, Attribution const& attribution, Owner owner) noexcept;

/// Wraps another format. In text, labels precede each line: `[outside any test]` or `[late, from Suite.Name]`, and
/// `[worker-1]`; in a report the time precedes them. JSON objects end with the members "test", "late" and "thread".
class LabelledFormat final : public tracing::EventFormat {
 public:
  /// What decides about lines of text; null: nothing is left out.
  struct Shortening {
    EqualLines* equal_lines = nullptr;                          ///< requires that the format has an observed timer
    std::shared_ptr<tracing::SpanPrefix> prefix{};              ///< that of the format
    std::shared_ptr<tracing::RepeatedFields const> repeated{};  ///< that of the format
    Output const* output = nullptr;                             ///< to which the lines are written; only for `repeated`
  };

  LabelledFormat(std::shared_ptr<tracing::EventFormat const> format, Attribution& attribution, bool is_json,
                 ThreadLabels threads, Shortening shortening)
      : format_(std::move(format)),
        attribution_(attribution),
        is_json_(is_json),
        threads_(threads),
        shortening_(std::move(shortening)) {}

  bool append(tracing::TextBuffer& out, tracing::EventView const& event) const noexcept override;

  /// While it exists, this thread makes the lines of captured records, with the owner and the prefix that are set here.
  class Replaying {
   public:
    /// `threads` replaces the value that the format has.
    explicit Replaying(ThreadLabels threads) noexcept;
    Replaying(Replaying const&) = delete;
    Replaying& operator=(Replaying const&) = delete;
    ~Replaying();

    void set_owner(Owner owner) noexcept { owner_ = owner; }
    /// Sets the text before each line; JSON does not have it. The text must live until the next call.
    void set_prefix(std::string_view prefix) noexcept { prefix_ = prefix; }

   private:
    friend class LabelledFormat;
    ThreadLabels const threads_;
    Owner owner_;
    std::string_view prefix_ = "";  // not null, for memcpy()
  };

 private:
  bool append_text(tracing::TextBuffer& out, tracing::EventView const& event, std::size_t begin) const noexcept;

  std::shared_ptr<tracing::EventFormat const> format_;
  Attribution& attribution_;
  bool const is_json_;
  ThreadLabels const threads_;
  Shortening const shortening_;
};

}}  // namespace testlog::v1
