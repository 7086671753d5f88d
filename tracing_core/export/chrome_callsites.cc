#include "tracing_core/export/chrome_callsites.h"

#include <cstring>
#include <new>

#include "tracing_core/format/json_value.h"
#include "tracing_core/model/stored_values.h"

namespace tracing::inline v1::internal {
namespace {

std::string json_text(std::string_view text) {
  InlineTextBuffer<256> out;
  append_json_text(out, text);
  if (out.truncated()) throw std::bad_alloc();
  return std::string(out.view());
}

bool has_a_name_twice(FieldNames const& names, bool has_place) noexcept {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names.index_of(names[i]) != i) return true;
    if (has_place && (names[i] == ".file" || names[i] == ".line")) return true;
  }
  return false;
}

// Each group begins with its size.
bool is_one_group(std::string_view groups) noexcept {
  std::uint32_t size;
  if (groups.size() < sizeof(size)) return false;
  std::memcpy(&size, groups.data(), sizeof(size));
  return size == groups.size();
}

}  // namespace

bool ChromeCallsites::append(TextBuffer& out, char phase, Metadata const& metadata, std::string_view groups,
                             std::string_view tid) noexcept {
  bool const is_end = phase == 'E' && groups.empty();
  bool const is_begin = phase == 'B' && (groups.empty() || is_one_group(groups));
  if (!is_end && !is_begin) return false;
  Callsite const* const callsite = find(metadata);
  if (callsite == nullptr || !callsite->is_usual) return false;
  if (is_end) {
    out.append(callsite->end);
  } else {
    append_begin(out, *callsite, metadata, groups);
    out.append(callsite->after_args);
  }
  out.append(tid);
  out.append(",\"ts\":");
  return true;
}

void ChromeCallsites::append_begin(TextBuffer& out, Callsite const& callsite, Metadata const& metadata,
                                   std::string_view groups) noexcept {
  std::size_t const begin = out.size();
  out.append(callsite.begin);
  out.append(callsite.place);
  bool has_args = !callsite.place.empty();
  if (!groups.empty()) {
    DecodedValues values;
    StoredValues::decode_group(groups.data(), 0, metadata, values);
    FieldValues const fields(metadata, values.data());
    for (std::size_t i = 0; i < fields.size(); ++i) {
      Value const value = fields.value(i);
      if (value.is_empty()) continue;
      out.append(std::string_view(callsite.keys[i]).substr(has_args ? 0 : 1));
      append_json_value(out, value);
      has_args = true;
    }
  }
  if (has_args) return out.append("},");
  out.resize_down(begin);
  out.append(callsite.begin_without_args);
}

ChromeCallsites::Callsite const* ChromeCallsites::find(Metadata const& metadata) noexcept {
  auto const address = reinterpret_cast<std::uintptr_t>(&metadata);
  Known& last = last_[(address / alignof(Metadata) * 0x9E3779B97F4A7C15 >> 32) % last_.size()];
  if (last.metadata == &metadata) [[likely]] return last.callsite;
  try {
    std::unique_ptr<Callsite>& found = all_[&metadata];
    if (found == nullptr) found = describe(metadata);
    last = {&metadata, found.get()};
    return found.get();
  } catch (std::bad_alloc const&) {
    return nullptr;
  }
}

std::unique_ptr<ChromeCallsites::Callsite> ChromeCallsites::describe(Metadata const& metadata) const {
  auto callsite = std::make_unique<Callsite>();
  bool const has_place = records_.has_location(metadata);
  callsite->is_usual = !has_a_name_twice(metadata.fields(), has_place);
  callsite->begin = ",\n{\"args\":{";
  callsite->begin_without_args = ",\n{";
  if (has_place) callsite->place = "\".file\":" + json_text(metadata.file()) + ",\".line\":" + std::to_string(metadata.line());
  for (std::size_t i = 0; i < metadata.fields().size(); ++i)
    callsite->keys.push_back("," + json_text(metadata.fields()[i]) + ":");
  std::string const name = "\"name\":" + json_text(metadata.name()) + ",\"ph\":\"";
  std::string const pid = "\",\"pid\":" + std::to_string(pid_) + ",\"tid\":";
  callsite->after_args = "\"cat\":" + json_text(metadata.target()) + "," + name + "B" + pid;
  callsite->end = ",\n{" + name + "E" + pid;
  return callsite;
}

}  // namespace tracing::inline v1::internal
