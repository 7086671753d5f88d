#include "tracing_core/environment/thread_labels.h"

#include "tracing_core/export/timeline/trace_source.h"
#include "tracing_core/model/text_escape.h"
#include "tracing_core/support/thread_info.h"

namespace tracing { inline namespace v1 { namespace environment {

void append_thread_name(TextBuffer& out, Track const& track) noexcept {
  if (!track.name.empty()) return append_sanitized_in_line(out, track.name);
  recording::append_name_of_thread(out, track);
}

void append_thread_label(TextBuffer& out, Track const& track) noexcept {
  out.push_back('[');
  append_thread_name(out, track);
  out.append("] ");
}

JsonMembers::JsonMembers(TextBuffer& out) noexcept : out_(out), is_open_(out.view().ends_with("}\n")) {
  if (is_open_) out_.resize_down(out_.size() - 2);
}

JsonMembers::~JsonMembers() {
  if (is_open_) out_.append("}\n");
}

TextBuffer& JsonMembers::add(std::string_view name) noexcept {
  if (!out_.view().ends_with('{')) out_.push_back(',');
  out_.push_back('"');
  out_.append(name);
  out_.append("\":");
  return out_;
}

void JsonMembers::add_thread(Track const& track) noexcept {
  InlineTextBuffer<64> name;
  append_thread_name(name, track);
  append_json_string(add("thread"), name.view());
}

ThreadLabelFormat::ThreadLabelFormat(std::shared_ptr<EventFormat const> format, bool is_json,
                                     ThreadLabels labels) noexcept
    : format_(std::move(format)), is_json_(is_json), labels_(labels), own_number_(this_thread_info().number) {}

bool ThreadLabelFormat::append(TextBuffer& out, EventView const& event) const noexcept {
  Track const& track = event.context.track();
  std::size_t const begin = out.size();
  if (!is_json_ && names(track)) append_thread_label(out, track);
  if (!format_->append(out, event)) {
    out.resize_down(begin);
    return false;
  }
  if (is_json_ && labels_ != ThreadLabels::off) {
    JsonMembers members(out);
    if (members.is_open()) members.add_thread(track);
  }
  return true;
}

bool ThreadLabelFormat::names(Track const& track) const noexcept {
  return labels_ == ThreadLabels::on || (labels_ == ThreadLabels::automatic && track.number != own_number_);
}

}}}  // namespace tracing::v1::environment
