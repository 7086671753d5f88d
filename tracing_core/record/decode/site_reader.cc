#include "tracing_core/record/decode/site_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tracing { inline namespace v1 { namespace recording {

using namespace internal;

namespace {

// Takes pieces from the front; fails for good if there are too few bytes.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) noexcept : rest_(bytes) {}

  template <class T>
  T take() noexcept {
    T out{};
    std::string_view const bytes = take(sizeof(T));
    if (!bytes.empty()) std::memcpy(&out, bytes.data(), sizeof(T));
    return out;
  }
  std::string_view take(std::size_t size) noexcept {
    if (size > rest_.size()) ok_ = false;
    if (!ok_) return {};
    std::string_view const taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  bool ok() const noexcept { return ok_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// A callsite has at most this many placeholders besides one for each value.
constexpr std::size_t kMaxMorePlaceholders = 8;

// Returns true if a compiler could have accepted the specification for `value_count` values. Refuses widths of more
// than three digits, which would print too much.
template <class IsField>
bool is_specification(std::string_view spec, std::size_t value_count, std::size_t value_index,
                      IsField is_field) noexcept {
  std::size_t digits = 0;
  for (std::size_t i = 0; i < spec.size(); ++i) {
    digits = spec[i] >= '0' && spec[i] <= '9' ? digits + 1 : 0;
    if (digits > 3 || spec[i] == '}') return false;
    if (spec[i] != '{') continue;
    std::size_t const close = spec.find('}', i);
    if (close == spec.npos) return false;
    std::string_view const id = spec.substr(i + 1, close - i - 1);
    if (id.empty() && ++value_index >= value_count) return false;
    std::size_t number = 0;
    if (!id.empty() && id[0] >= '0' && id[0] <= '9') {
      for (char const c : id) {
        if (c < '0' || c > '9' || number > 255) return false;
        number = number * 10 + static_cast<std::size_t>(c - '0');
      }
      if (number >= value_count) return false;
    } else if (!id.empty() && !is_field(id)) {
      return false;
    }
    i = close;
  }
  return true;
}

bool is_level(std::uint8_t level) noexcept { return level <= static_cast<std::uint8_t>(Level::trace); }

// Reads the entries of fields and placeholders. Refuses names that together are longer than the text: they would share
// its bytes, and a small damaged file could print a huge amount.
bool read_entries(Bytes& bytes, SiteRow const& row, SiteRoom const& room) noexcept {
  std::uint64_t names =
      std::uint64_t{row.name_size} + row.target_size + row.function_size + row.module_path_size + row.message_size;
  bool has_message = false;
  for (std::size_t i = 0; i < std::size_t{row.field_count} + row.unnamed_count; ++i) {
    auto const field = bytes.take<SiteField>();
    std::uint32_t const size = field.size_and_value & 0xffffff;
    auto const value = static_cast<std::uint8_t>(field.size_and_value >> 24);
    std::uint64_t const limit = i < row.field_count ? row.text_size : row.arguments_size;
    bool const is_message = value == kMessageValue;
    if (!is_message && (value >= row.value_count || std::uint64_t{field.offset} + size > limit)) return false;
    if (is_message && (has_message || i >= row.field_count)) return false;
    has_message |= is_message;
    if (!is_message && i < row.field_count) names += size;
    room.fields[i] = {field.offset, size & 0x7fffff, 0, value};
  }
  for (std::size_t i = 0; i < row.placeholder_count; ++i) {
    auto const placeholder = bytes.take<SitePlaceholder>();
    if (placeholder.value_index >= row.value_count || placeholder.offset > row.message_size) return false;
    if (i > 0 && placeholder.offset < room.placeholders[i - 1].offset) return false;
    if (std::uint64_t{placeholder.spec_offset} + placeholder.spec_size > row.text_size) return false;
    names += placeholder.spec_size;
    room.placeholders[i] = {placeholder.offset, placeholder.spec_offset, placeholder.spec_size,
                            static_cast<std::uint8_t>(placeholder.value_index), false};
  }
  return names <= row.text_size;
}

// Fills in what follows from the texts, and removes specifications that no compiler accepted.
void check_entries(SiteRow const& row, SiteRoom const& room, std::string_view text, MetadataParts& parts) noexcept {
  for (std::size_t i = 0; i < row.field_count; ++i) {
    FieldEntry& field = room.fields[i];
    if (field.value_index == kMessageValue) {
      field.has_special_name = 1;
      continue;
    }
    std::string_view const name = text.substr(field.offset, field.size);
    field.has_special_name = is_special_name(name.data(), name.size()) || name_needs_escaping(name);
    parts.has_names_to_escape |= name_needs_escaping(name);
  }
  mark_repeated_names(room.fields, row.field_count, text.data());
  auto const is_field = [&](std::string_view name) {
    for (std::size_t i = 0; i < row.field_count; ++i) {
      FieldEntry const& field = room.fields[i];
      if (field.value_index != kMessageValue && name == text.substr(field.offset, field.size)) return true;
    }
    return false;
  };
  for (std::size_t i = 0; i < row.placeholder_count; ++i) {
    MessagePlaceholder& placeholder = room.placeholders[i];
    std::string_view const spec = text.substr(placeholder.spec_offset, placeholder.spec_size);
    if (!is_specification(spec, row.value_count, placeholder.value_index, is_field)) placeholder.spec_size = 0;
  }
  parts.has_names_to_escape |= name_needs_escaping(text.substr(0, row.name_size)) ||
                               name_needs_escaping(text.substr(row.name_size, row.target_size));
}

void copy_row(SiteRow const& row, MetadataParts& parts) noexcept {
  parts.name_size = row.name_size;
  parts.target_size = row.target_size;
  parts.function_size = row.function_size;
  parts.module_path_size = row.module_path_size;
  parts.message_size = row.message_size;
  parts.line = row.line;
  parts.has_line_zero = (row.flags & kSiteHasLineZero) != 0;
  parts.field_count = row.field_count;
  parts.placeholder_count =
      static_cast<std::uint8_t>(std::min<std::size_t>(row.placeholder_count, row.value_count + kMaxMorePlaceholders));
  parts.unnamed_count = row.unnamed_count;
  parts.value_count = row.value_count;
  parts.level = static_cast<Level>(row.level);
  parts.kind = static_cast<Kind>(row.kind);
  parts.max_level = static_cast<LevelFilter>(row.max_level);
  parts.has_module_path = (row.flags & kSiteHasModulePath) != 0;
  parts.is_for_caller = (row.flags & kSiteIsForCaller) != 0;
  parts.has_message = (row.flags & kSiteHasMessage) != 0;
  parts.is_perf = (row.flags & kSiteIsPerf) != 0;
  parts.ends_perf_span = (row.flags & kSiteEndsPerfSpan) != 0;
}

}  // namespace

bool read_site(std::string_view content, SiteRoom const& room, MetadataParts& parts, std::string_view& file) noexcept {
  Bytes bytes(content);
  auto const row = bytes.take<SiteRow>();
  if (!read_entries(bytes, row, room)) return false;
  std::string_view const text = bytes.take(row.text_size);
  file = bytes.take(row.file_size);
  std::string_view const arguments = bytes.take(row.arguments_size);
  if (!bytes.ok() || !is_level(row.level) || row.level == 0 || !is_level(row.max_level) || row.kind > 1) return false;
  copy_row(row, parts);
  parts.text = text.data();
  parts.arguments = arguments.data();
  parts.fields = room.fields;
  parts.placeholders = room.placeholders;
  if ((row.flags & kSiteHasFile) == 0) file = {};
  check_entries(row, room, text, parts);
  parts.has_names_to_escape |= name_needs_escaping(file);
  return true;
}

std::unique_ptr<RecordedSite> RecordedSite::read(std::string_view content) {
  auto const row = Bytes(content).take<SiteRow>();
  auto storage = std::make_unique<Storage>();
  storage->content = content;
  storage->fields.resize(std::size_t{row.field_count} + row.unnamed_count);
  storage->placeholders.resize(row.placeholder_count);
  MetadataParts parts;
  std::string_view file;
  if (!read_site(storage->content, {storage->fields.data(), storage->placeholders.data()}, parts, file)) return nullptr;
  storage->file = file;
  parts.file = file.data() == nullptr ? nullptr : storage->file.c_str();
  return std::unique_ptr<RecordedSite>(new RecordedSite(std::move(storage), parts));
}

}}}  // namespace tracing::v1::recording
