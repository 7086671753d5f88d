#include "testlog/outputs/labels.h"

#include "testlog/capture/death_tests.h"
#include "tracing_core/environment/thread_labels.h"
#include "tracing_core/format/repeated_fields.h"
#include "tracing_core/format/span_prefix.h"
#include "tracing_core/model/text_escape.h"

namespace testlog { inline namespace v1 {
namespace {

constinit thread_local LabelledFormat::Replaying const* replaying = nullptr;

}  // namespace

bool names_thread(ThreadLabels labels, tracing::Track const& track, Attribution const& attribution) noexcept {
  if (labels == ThreadLabels::on || DeathTests::has_track(track.number)) return true;
  return labels == ThreadLabels::automatic && !attribution.runs_tests(track.number);
}

LabelledFormat::Replaying::Replaying(ThreadLabels threads) noexcept : threads_(threads) { replaying = this; }
LabelledFormat::Replaying::~Replaying() { replaying = nullptr; }

bool LabelledFormat::append(tracing::TextBuffer& out, tracing::EventView const& event) const noexcept {
  if (replaying == nullptr) attribution_.observe_event();
  Owner const owner = replaying == nullptr ? attribution_.owner_now(event.shown) : replaying->owner_;
  tracing::Track const& track = event.context.track();
  if (is_json_) {
    bool const appended = format_->append(out, event);
    if (appended) append_json_members(out, attribution_, owner, track);
    return appended;
  }
  bool const has_thread = names_thread(replaying == nullptr ? threads_ : replaying->threads_, track, attribution_);
  std::size_t const begin = out.size();
  if (replaying != nullptr) out.append(replaying->prefix_);
  append_owner(out, attribution_, owner);
  if (has_thread) tracing::environment::append_thread_label(out, track);
  if (append_text(out, event, begin)) return true;
  out.resize_down(begin);
  return false;
}

// Appends the line after its labels, which begin at `begin`. Returns false if the line is left out.
bool LabelledFormat::append_text(tracing::TextBuffer& out, tracing::EventView const& event,
                                 std::size_t begin) const noexcept {
  EqualLines* const equal_lines = shortening_.equal_lines;
  std::size_t const label_end = out.size();
  if (equal_lines != nullptr) EqualLines::begin_line();
  if (!format_->append(out, event)) return false;
  if (shortening_.prefix != nullptr) shortening_.prefix->end_line(out, begin);
  if (equal_lines != nullptr && !equal_lines->keeps(event.metadata, out, begin, label_end)) return false;
  if (shortening_.repeated != nullptr) shortening_.repeated->end_line(out, shortening_.output->writes());
  return true;
}

std::string_view name_of_late_test(Attribution const& attribution, Owner owner) noexcept {
  std::string_view const name = attribution.name_of(owner.test);
  return name.empty() ? "an earlier test" : name;
}

void append_owner(tracing::TextBuffer& out, Attribution const& attribution, Owner owner) noexcept {
  if (owner.test == 0) return out.append("[outside any test] ");
  if (!owner.late) return;
  out.append("[late, from ");
  out.append(name_of_late_test(attribution, owner));
  out.append("] ");
}

void append_json_members(tracing::TextBuffer& out, Attribution const& attribution, Owner owner,
                         tracing::Track const& track) noexcept {
  tracing::environment::JsonMembers members(out);
  if (!members.is_open()) return;
  if (std::string_view const name = attribution.name_of(owner.test); !name.empty())
    tracing::append_json_string(members.add("test"), name);
  if (owner.late) members.add("late").append("true");
  members.add_thread(track);
}

}}  // namespace testlog::v1
