#include "tracing_core/export/chrome/chrome_callsites.h"

#include <algorithm>
#include <new>

#include "tracing_core/format/json_value.h"
#include "tracing_core/model/stored_values.h"

namespace tracing { inline namespace v1 { namespace internal {

bool ChromeCallsites::append(TextBuffer& out, ChromeValuesRecord const& record, std::string_view groups) noexcept {
  bool const is_end = record.head.phase == 'E' && groups.empty();
  if (record.id != 0 || (!is_end && record.head.phase != 'B')) return false;
  Metadata const& metadata = *record.metadata;
  auto found = texts_.find(&metadata);
  try {
    if (found == texts_.end()) [[unlikely]]
      found = texts_.emplace(&metadata, make(metadata)).first;
  } catch (std::bad_alloc const&) {
    return false;
  }
  Texts const& texts = found->second;
  DecodedValues values;
  std::size_t const decoded = groups.empty() ? 0 : StoredValues::decode_group(groups.data(), 0, metadata, values);
  if (!texts.has_unique_keys || decoded != groups.size()) return false;
  if (is_end) return out.append(texts.end), true;
  out.append(texts.start);
  bool has_args = texts.has_place;
  FieldValues const fields(metadata, groups.empty() ? nullptr : values.data());
  for (std::size_t i = 0; i < texts.keys.size(); ++i) {
    Value const value = fields.value(i);
    if (value.is_empty()) continue;
    if (!has_args) out.append("\"args\":{");
    out.append(std::string_view(texts.keys[i]).substr(has_args ? 0 : 1));
    formatting::append_json_value(out, value);
    has_args = true;
  }
  if (has_args) out.append("},");
  out.append(texts.rest);
  return true;
}

ChromeCallsites::Texts ChromeCallsites::make(Metadata const& metadata) const {
  Texts texts;
  texts.end = without_values('E', metadata);
  texts.start = without_values('B', metadata);
  std::size_t const rest = texts.start.find("\"cat\":");  // no string contains this, as quotes in strings are escaped
  texts.rest = texts.start.substr(rest);
  texts.has_place = texts.start[rest - 1] == ',';
  texts.start.resize(texts.has_place ? rest - 2 : rest);  // without "},"
  for (std::size_t i = 0; i < metadata.fields().size(); ++i) {
    InlineTextBuffer<256> key;
    key.push_back(',');
    std::string_view const name = metadata.fields()[i];
    formatting::append_json_text(key, name);
    key.push_back(':');
    if (key.truncated()) throw std::bad_alloc();
    // The names that the writer itself adds begin with a dot.
    if (name.starts_with('.') || std::ranges::find(texts.keys, key.view()) != texts.keys.end())
      texts.has_unique_keys = false;
    texts.keys.emplace_back(key.view());
  }
  return texts;
}

// Returns the record without values, up to the thread's number.
std::string ChromeCallsites::without_values(char phase, Metadata const& metadata) const {
  InlineTextBuffer<512> text;
  records_.append_stored(text, phase, 0, metadata, {}, {pid_, 0});
  if (text.truncated()) throw std::bad_alloc();
  return std::string(text.view().substr(0, text.size() - std::string_view("0,\"ts\":").size()));
}

}}}  // namespace tracing::v1::internal
