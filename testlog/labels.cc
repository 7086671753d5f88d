#include "testlog/labels.h"

#include "tracing_core/model/text_escape.h"

namespace testlog::inline v1 {
namespace {

constinit thread_local LabelledFormat::Replaying const* replaying = nullptr;

}  // namespace

void append_thread_name(tracing::TextBuffer& out, tracing::Track const& track) noexcept {
  if (!track.name.empty()) return tracing::append_sanitized_in_line(out, track.name);
  out.append("thread ");
  out.append_uint(track.number);
}

bool names_thread(ThreadLabels labels, tracing::Track const& track, Attribution const& attribution) noexcept {
  return labels == ThreadLabels::on || (labels == ThreadLabels::automatic && !attribution.runs_tests(track.number));
}

LabelledFormat::Replaying::Replaying() noexcept { replaying = this; }
LabelledFormat::Replaying::~Replaying() { replaying = nullptr; }

bool LabelledFormat::append(tracing::TextBuffer& out, tracing::EventView const& event) const noexcept {
  if (replaying == nullptr) attribution_.observe_event();
  Owner const owner = replaying == nullptr ? attribution_.owner_now(event.shown) : replaying->owner_;
  if (is_json_) return append_json(out, event, owner);
  tracing::Track const& track = event.context.track();
  bool const has_owner = owner.test == 0 || owner.late;
  bool const has_thread = names_thread(threads_, track, attribution_);
  if (!has_owner && !has_thread) [[likely]]
    return format_->append(out, event);
  std::size_t const begin = out.size();
  if (has_owner) append_owner(out, owner);
  if (has_thread) {
    out.push_back('[');
    append_thread_name(out, track);
    out.append("] ");
  }
  if (format_->append(out, event)) return true;
  out.resize_down(begin);
  return false;
}

void LabelledFormat::append_owner(tracing::TextBuffer& out, Owner owner) const noexcept {
  if (owner.test == 0) return out.append("[outside any test] ");
  std::string_view const name = attribution_.name_of(owner.test);
  out.append("[late, from ");
  out.append(name.empty() ? "an earlier test" : name);
  out.append("] ");
}

bool LabelledFormat::append_json(tracing::TextBuffer& out, tracing::EventView const& event,
                                 Owner owner) const noexcept {
  if (!format_->append(out, event)) return false;
  if (!out.view().ends_with("}\n")) return true;  // out of memory
  out.resize_down(out.size() - 2);
  auto const append_key = [&out](std::string_view key) {
    if (!out.view().ends_with('{')) out.push_back(',');
    out.append(key);
  };
  if (std::string_view const name = attribution_.name_of(owner.test); !name.empty()) {
    append_key("\"test\":");
    tracing::append_json_string(out, name);
  }
  if (owner.late) append_key("\"late\":true");
  append_key("\"thread\":");
  tracing::InlineTextBuffer<64> thread;
  append_thread_name(thread, event.context.track());
  tracing::append_json_string(out, thread.view());
  out.append("}\n");
  return true;
}

}  // namespace testlog::inline v1
