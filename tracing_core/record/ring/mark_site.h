// MarkSite: the callsite of a mark, which no statement made.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "tracing_core/model/metadata.h"

namespace tracing { inline namespace v1 { namespace internal {

/// Must live as long as the program, as a recording knows it by its address.
class MarkSite {
 public:
  /// Its values are in the order of `fields`.
  MarkSite(std::string_view name, std::initializer_list<std::string_view> fields)
      : text_(name), fields_(std::make_unique<FieldEntry[]>(fields.size())) {
    MetadataParts parts;
    parts.name_size = static_cast<std::uint32_t>(name.size());
    for (std::string_view const field : fields) {
      fields_[parts.field_count] =
          field_entry(static_cast<std::uint32_t>(text_.size()), field.data(), field.size(), parts.field_count);
      ++parts.field_count;
      text_ += field;
    }
    parts.value_count = parts.field_count;
    parts.text = text_.c_str();
    parts.fields = fields_.get();
    parts.level = Level::info;
    parts.max_level = LevelFilter::trace;
    metadata_ = std::make_unique<Metadata const>(parts);
  }

  Metadata const& metadata() const noexcept { return *metadata_; }

 private:
  std::string text_;
  std::unique_ptr<FieldEntry[]> fields_;
  std::unique_ptr<Metadata const> metadata_;
};

}}}  // namespace tracing::v1::internal
