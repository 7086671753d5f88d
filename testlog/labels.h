// LabelledFormat: marks the lines of records that do not belong to the running test or come from other threads.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "testlog/attribution.h"
#include "testlog/environment.h"
#include "tracing_core/format/event_format.h"

namespace testlog::inline v1 {

/// Whether lines of text of this thread have its name.
bool names_thread(ThreadLabels labels, tracing::Track const& track, Attribution const& attribution) noexcept;

/// Appends the members "test", "late" and "thread" to the JSON object on the line that ends a text.
void append_json_members(tracing::TextBuffer& out, Attribution const& attribution, Owner owner,
                         tracing::Track const& track) noexcept;

/// Wraps another format. In text, labels precede each line: `[outside any test]` or `[late, from Suite.Name]`, and
/// `[worker-1]`; in a report the time precedes them. JSON objects end with the members "test", "late" and "thread".
class LabelledFormat final : public tracing::EventFormat {
 public:
  LabelledFormat(std::shared_ptr<tracing::EventFormat const> format, Attribution& attribution, bool is_json,
                 ThreadLabels threads)
      : format_(std::move(format)), attribution_(attribution), is_json_(is_json), threads_(threads) {}

  bool append(tracing::TextBuffer& out, tracing::EventView const& event) const noexcept override;

  /// While one exists, the lines that this thread makes are those of captured records, with what is set here.
  class Replaying {
   public:
    /// With `threads` in place of those of the format.
    explicit Replaying(ThreadLabels threads) noexcept;
    Replaying(Replaying const&) = delete;
    Replaying& operator=(Replaying const&) = delete;
    ~Replaying();

    void set_owner(Owner owner) noexcept { owner_ = owner; }
    /// The text before each line, which must live until it is set again; not in JSON.
    void set_prefix(std::string_view prefix) noexcept { prefix_ = prefix; }

   private:
    friend class LabelledFormat;
    ThreadLabels const threads_;
    Owner owner_;
    std::string_view prefix_ = "";  // not null, for memcpy()
  };

 private:
  void append_owner(tracing::TextBuffer& out, Owner owner) const noexcept;

  std::shared_ptr<tracing::EventFormat const> format_;
  Attribution& attribution_;
  bool const is_json_;
  ThreadLabels const threads_;
};

}  // namespace testlog::inline v1
