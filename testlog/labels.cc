#include "testlog/labels.h"

namespace testlog::inline v1 {
namespace {

constinit thread_local LabelledFormat::Replaying const* replaying = nullptr;

// In JSON the label becomes a member.
void append_labelled(tracing::TextBuffer& out, std::string_view label, std::string_view text) noexcept {
  if (!text.starts_with('{')) {
    out.append(label);
    out.append(" ");
    return out.append(text);
  }
  out.append("{\"testlog\":\"");
  out.append(label.substr(1, label.size() - 2));  // without brackets
  out.append(text.starts_with("{}") ? "\"" : "\",");
  out.append(text.substr(1));
}

}  // namespace

std::string label(Owner owner, TestTag running, Attribution const& attribution) {
  if (owner.test == 0) return running == 0 || !owner.late ? "[outside any test]" : std::string();
  if (!owner.late) return {};
  std::string_view const name = attribution.name_of(owner.test);
  std::string text = "[late, from ";
  text.append(name.empty() ? "an earlier test" : name);
  return text.append("]");
}

LabelledFormat::Replaying::Replaying() noexcept { replaying = this; }
LabelledFormat::Replaying::~Replaying() { replaying = nullptr; }

bool LabelledFormat::append(tracing::TextBuffer& out, tracing::EventView const& event) const noexcept {
  if (replaying == nullptr) attribution_.observe_event();
  Owner const owner = replaying == nullptr ? attribution_.owner_now(event.shown) : Owner{};
  bool const usual = replaying == nullptr ? owner.test != 0 && !owner.late : replaying->label_.empty();
  if (usual) [[likely]] return format_->append(out, event);
  tracing::InlineTextBuffer<512> text;
  if (!format_->append(text, event)) return false;
  append_labelled(out, replaying == nullptr ? label(owner, attribution_.running(), attribution_) : replaying->label_,
                  text.view());
  return true;
}

}  // namespace testlog::inline v1
