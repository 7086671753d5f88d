#include "tracing_core/export/chrome/chrome_record.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/export/timeline/trace_source.h"
#include "tracing_core/format/field_format.h"
#include "tracing_core/format/json_names.h"
#include "tracing_core/format/json_value.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

Value message_of(FieldValues const& fields) noexcept { return value_named(fields, "message"); }

// Returns true if the event has the name that the macros give to all events.
bool has_default_name(Event const& event) noexcept { return event.metadata().name() == "event"; }

// Appends, as a JSON string, the text that `append(text)` appends.
template <class F>
void append_as_text(TextBuffer& out, F append) noexcept {
  InlineTextBuffer<256> text;
  append(text);
  formatting::append_json_text(out, text.view());
}

}  // namespace

// Collects the members of a JSON object. A member replaces an earlier member of the same field; in the order by key, an
// earlier member with the same key.
class ChromeRecords::Members {
 public:
  enum class Order : bool { as_they_come, by_key };
  explicit Members(Order order) noexcept : order_(order) {}

  // `append(text)` appends the value.
  template <class F>
  void add(std::string_view key, F append) noexcept {
    add(key, kNoField, append);
  }
  template <class F>
  void add_field(Metadata const& metadata, std::size_t index, F append) noexcept {
    bool const is_by_key = order_ == Order::by_key;
    add(is_by_key ? metadata.fields()[index] : name_of(metadata, index), static_cast<std::uint32_t>(index), append);
  }

  void append_as_args(TextBuffer& out) const noexcept {
    if (count_ == 0 || values_.truncated()) return;
    out.append("\"args\":");
    char before = '{';
    for (Member const& member : std::span(members_, count_)) {
      out.push_back(before);
      formatting::append_json_text(out, member.name());
      out.push_back(':');
      out.append(values_.view().substr(member.value_begin, member.value_size));
      before = ',';
    }
    out.append("},");
  }

 private:
  static constexpr std::uint32_t kNoField = UINT32_MAX;
  struct Member {  // without initialisers: to initialise 260 members would cost more than everything else
    char const* key;
    std::uint32_t key_size;
    std::uint32_t field;
    std::uint32_t value_begin;
    std::uint32_t value_size;
    std::string_view name() const noexcept { return {key, key_size}; }
  };

  template <class F>
  void add(std::string_view key, std::uint32_t field, F& append) noexcept {
    auto const begin = static_cast<std::uint32_t>(values_.size());
    append(values_);
    Member const member{key.data(), static_cast<std::uint32_t>(key.size()), field, begin,
                        static_cast<std::uint32_t>(values_.size()) - begin};
    Member* const end = members_ + count_;
    Member* place = end;
    if (order_ == Order::by_key) {
      place = std::lower_bound(members_, end, key, [](Member const& m, std::string_view k) { return m.name() < k; });
    } else if (field != kNoField) {
      place = std::find_if(members_, end, [field](Member const& m) { return m.field == field; });
    }
    if (place == end || (order_ == Order::by_key && place->name() != key)) {
      if (count_ == std::size(members_)) return;
      std::move_backward(place, end, end + 1);
      ++count_;
    }
    *place = member;
  }

  // Returns a name for the field that no other member of the object has.
  std::string_view name_of(Metadata const& metadata, std::size_t index) noexcept {
    std::string_view const name = metadata.fields()[index];
    bool const may_be_taken = metadata.parts().fields[index].has_special_name || name.starts_with('.');
    if (!may_be_taken && !names_) [[likely]]
      return name;
    if (!names_) {
      names_.emplace();
      for (char const* const own : {".file", ".line", ".target"}) names_->reserve(own);
      names_->add_all(metadata);
    }
    return names_->name(index);
  }

  Order const order_;
  InlineTextBuffer<512> values_;
  Member members_[260];  // more members than a callsite can have fields
  std::size_t count_ = 0;
  std::optional<formatting::JsonNames> names_;
};

void append_exact_us(TextBuffer& out, std::int64_t ns) noexcept {
  std::uint64_t const magnitude = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  char* const begin = out.reserve(kMaxUintDigits + 5);
  if (begin == nullptr) return;
  char* at = begin;
  if (ns < 0) *at++ = '-';
  at = write_uint(at, magnitude / 1000);
  *at++ = '.';
  at = write_digits(at, static_cast<std::uint32_t>(magnitude % 1000), 3);
  out.commit(static_cast<std::size_t>(at - begin));
}

void ChromeRecords::append_thread_name(TextBuffer& out, ChromePlace const& place, Track const& track) const noexcept {
  out.append(",\n{\"args\":{\"name\":");
  append_as_text(out, [&](TextBuffer& name) {
    if (track.name.empty() && as_tracing_chrome_) return name.append_int(place.tid);
    recording::append_name_of_thread(name, track);
  });
  out.append("},\"name\":\"thread_name\",\"ph\":\"M\"");
  append_place(out, place, false);
  out.push_back('}');
}

std::shared_ptr<std::string const> ChromeRecords::category_of_root(SpanRef span) const noexcept {
  if (as_tracing_chrome_) return nullptr;
  try {
    if (category_ == nullptr) return std::make_shared<std::string const>(span.metadata().target());
    InlineTextBuffer<256> text;
    category_(text, {span.metadata(), span, nullptr});
    return std::make_shared<std::string const>(text.view());
  } catch (std::bad_alloc const&) {
    return nullptr;
  }
}

void ChromeRecords::append_span(TextBuffer& out, char phase, std::uint64_t id, std::string_view category, SpanRef span,
                                ChromePlace const& place) const noexcept {
  bool const is_end = phase == 'E' || phase == 'e';
  bool const is_below_another =
      category.data() != nullptr && category_ == nullptr && category != span.metadata().target();
  append(out, phase, id, category, {span.metadata(), span, nullptr}, place, [&](Members& members) {
    if (is_below_another && !is_end) {
      members.add(".target", [&](TextBuffer& text) { formatting::append_json_text(text, span.metadata().target()); });
    }
    SpanLock const lock = span.lock();
    bool is_known = is_end && !as_tracing_chrome_;  // the record of the beginning has the first group
    span.values().for_each_group(span.metadata(), [&](FieldValues const& group) {
      if (!std::exchange(is_known, false)) add_fields(members, group, true);
    });
  });
}

void ChromeRecords::append_event(TextBuffer& out, Event const& event, ChromePlace const& place) const noexcept {
  append(out, 'i', 0, {}, {event.metadata(), {}, &event}, place,
         [&](Members& members) { add_fields(members, event.fields, has_message_among_args(event)); });
}

void ChromeRecords::append_stored(TextBuffer& out, char phase, std::uint64_t id, Metadata const& metadata,
                                  std::string_view groups, ChromePlace const& place) const noexcept {
  if (phase == 'i') {
    DecodedValues values;
    StoredValues::decode_group(groups.data(), 0, metadata, values);
    return append_event(out, Event{FieldValues(metadata, values.data())}, place);
  }
  append(out, phase, id, {}, {metadata}, place, [&](Members& members) {
    for (std::size_t at = 0; at < groups.size();) {
      DecodedValues values;
      at = StoredValues::decode_group(groups.data(), at, metadata, values);
      add_fields(members, FieldValues(metadata, values.data()), true);
    }
  });
}

// Keys are in alphabetic order, as in tracing-chrome.
template <class F>
void ChromeRecords::append(TextBuffer& out, char phase, std::uint64_t id, std::string_view category,
                           ChromeSubject const& subject, ChromePlace const& place, F add) const noexcept {
  bool const is_end = phase == 'E' || phase == 'e';
  bool const has_place = has_location(subject.metadata);
  out.append(",\n{");
  if (as_tracing_chrome_ && has_place) {
    out.append("\".file\":");
    formatting::append_json_text(out, subject.metadata.file());
    out.append(",\".line\":");
    out.append_uint(subject.metadata.line());
    out.push_back(',');
  }
  Members members(as_tracing_chrome_ ? Members::Order::by_key : Members::Order::as_they_come);
  if (!as_tracing_chrome_ && !is_end && has_place) {
    members.add(".file", [&](TextBuffer& text) { formatting::append_json_text(text, subject.metadata.file()); });
    members.add(".line", [&](TextBuffer& text) { text.append_uint(subject.metadata.line()); });
  }
  if (include_args_) add(members);
  members.append_as_args(out);
  if (as_tracing_chrome_ || phase != 'E') {  // an end belongs to the last beginning of its thread
    out.append("\"cat\":");
    category.data() != nullptr ? formatting::append_json_text(out, category) : append_category(out, subject);
    out.push_back(',');
  }
  if (id != 0) {
    // `id2` is local to the process, since traces of several processes may be joined.
    out.append(as_tracing_chrome_ ? "\"id\":" : "\"id2\":{\"local\":\"");
    out.append_uint(id);
    out.append(as_tracing_chrome_ ? "," : "\"},");
  }
  out.append("\"name\":");
  append_name(out, subject);
  out.append(",\"ph\":\"");
  out.push_back(phase);
  out.push_back('"');
  append_place(out, place, phase == 'i');
  out.append(",\"ts\":");
}

void ChromeRecords::append_slice(TextBuffer& out, char phase, std::string_view name,
                                 ChromePlace const& place) const noexcept {
  out.append(",\n{\"cat\":\"test\",\"name\":");
  formatting::append_json_text(out, name);
  out.append(",\"ph\":\"");
  out.push_back(phase);
  out.push_back('"');
  append_place(out, place, false);
  out.append(",\"ts\":");
}

void ChromeRecords::append_place(TextBuffer& out, ChromePlace const& place, bool is_event) noexcept {
  out.append(",\"pid\":");
  out.append_int(place.pid);
  if (is_event) out.append(",\"s\":\"t\"");  // its scope is the thread
  out.append(",\"tid\":");
  out.append_int(place.tid);
}

void ChromeRecords::end(TextBuffer& out, std::int64_t time_ns) const noexcept {
  as_tracing_chrome_ ? append_json_float(out, static_cast<double>(time_ns) / 1000.0) : append_exact_us(out, time_ns);
  out.push_back('}');
}

void ChromeRecords::add_fields(Members& members, FieldValues const& fields, bool with_message) const noexcept {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    Value const value = fields.value(i);
    if (value.is_empty() || (!with_message && fields.name(i) == "message")) continue;
    members.add_field(fields.metadata(), i, [&](TextBuffer& text) {
      as_tracing_chrome_ ? formatting::append_json_printed(text, value) : formatting::append_json_value(text, value);
    });
  }
}

bool ChromeRecords::has_message_among_args(Event const& event) const noexcept {
  return as_tracing_chrome_ || name_ != nullptr || !has_default_name(event);
}

void ChromeRecords::append_name(TextBuffer& out, ChromeSubject const& subject) const noexcept {
  if (name_ != nullptr) return append_as_text(out, [&](TextBuffer& text) { name_(text, subject); });
  if (subject.span && !as_tracing_chrome_ && recording::is_kernel(subject.metadata))
    return append_as_text(out, [&](TextBuffer& text) { recording::append_kernel_name(text, subject.span); });
  if (subject.event == nullptr || !has_default_name(*subject.event))
    return formatting::append_json_text(out, subject.metadata.name());
  append_as_text(out, [&](TextBuffer& text) {
    Value const message = as_tracing_chrome_ ? Value() : message_of(subject.event->fields);
    if (!message.is_empty()) return append_message_text(text, message, {});
    text.append("event ");
    if (!subject.metadata.file().empty()) text.append(subject.metadata.file());
    text.push_back(':');
    text.append_uint(subject.metadata.line());
  });
}

void ChromeRecords::append_category(TextBuffer& out, ChromeSubject const& subject) const noexcept {
  if (category_ == nullptr) return formatting::append_json_text(out, subject.metadata.target());
  append_as_text(out, [&](TextBuffer& text) { category_(text, subject); });
}

bool ChromeRecords::has_location(Metadata const& metadata) const noexcept {
  return include_locations_ && !metadata.file().empty() && knows_line(metadata);
}

}}}  // namespace tracing::v1::internal
