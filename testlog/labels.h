// LabelledFormat: marks the lines of records that do not belong to the running test.
#pragma once

#include <memory>
#include <string>

#include "testlog/attribution.h"
#include "tracing_core/format/event_format.h"

namespace testlog::inline v1 {

/// `[outside any test] ` or `[late, from Suite.Name] `; empty for a record of `running`.
std::string label(Owner owner, TestTag running, Attribution const& attribution);

/// Wraps another format: a label precedes each line or, as its first member "testlog", is inside each JSON object.
class LabelledFormat final : public tracing::EventFormat {
 public:
  LabelledFormat(std::shared_ptr<tracing::EventFormat const> format, Attribution& attribution)
      : format_(std::move(format)), attribution_(attribution) {}

  bool append(tracing::TextBuffer& out, tracing::EventView const& event) const noexcept override;

  /// While one exists, the lines that this thread makes are those of captured records, with the label that is set here.
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
