// Declares LabelledFormat, which marks lines of records that do not belong to the running test.
#pragma once

#include <memory>
#include <string>

#include "testlog/attribution.h"
#include "tracing_core/format/event_format.h"

namespace testlog::inline v1 {

/// `[outside any test] ` or `[late, from Suite.Name] `; empty for a record of `running`.
std::string label(Owner owner, TestTag running, Attribution const& attribution);

/// Another format with the label in front of each line, or as the first member "testlog" of each JSON object.
class LabelledFormat final : public tracing::EventFormat {
 public:
  LabelledFormat(std::shared_ptr<tracing::EventFormat const> format, Attribution& attribution)
      : format_(std::move(format)), attribution_(attribution) {}

  bool append(tracing::TextBuffer& out, tracing::EventView const& event) const noexcept override;

  /// While it lives, lines that this thread makes are those of a kept record, whose label is given.
  class Replaying {
   public:
    Replaying() noexcept;
    Replaying(Replaying const&) = delete;
    Replaying& operator=(Replaying const&) = delete;
    ~Replaying();

    void set_label(std::string label) noexcept { label_ = std::move(label); }

   private:
    friend class LabelledFormat;
    std::string label_;
  };

 private:
  std::shared_ptr<tracing::EventFormat const> format_;
  Attribution& attribution_;
};

}  // namespace testlog::inline v1
