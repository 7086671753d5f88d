// The metadata of a recorded callsite.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/model/metadata.h"
#include "tracing_core/record/ring/layout.h"

namespace tracing { inline namespace v1 { namespace recording {

/// Memory for what read_site() finds.
struct SiteRoom {
  static constexpr std::size_t kMaxFields = 510;
  static constexpr std::size_t kMaxPlaceholders = 255;
  internal::FieldEntry* fields;  ///< room for kMaxFields
  internal::MessagePlaceholder* placeholders;
};

/// Reads the content of a `site` record. Returns false if it makes no sense. Texts stay in the content, where they do
/// not end with a zero; `file` is empty if it is not known. Allocates nothing.
bool read_site(std::string_view content, SiteRoom const& room, internal::MetadataParts& parts,
               std::string_view& file) noexcept;

/// RecordedSite: the metadata of a callsite, with all that it refers to.
class RecordedSite {
 public:
  /// Returns null if the content of the `site` record makes no sense.
  static std::unique_ptr<RecordedSite> read(std::string_view content);
  RecordedSite(RecordedSite const&) = delete;
  RecordedSite& operator=(RecordedSite const&) = delete;

  Metadata const& metadata() const noexcept { return metadata_; }

 private:
  struct Storage {
    std::string content, file;
    std::vector<internal::FieldEntry> fields;
    std::vector<internal::MessagePlaceholder> placeholders;
  };
  RecordedSite(std::unique_ptr<Storage> storage, internal::MetadataParts const& parts) noexcept
      : storage_(std::move(storage)), metadata_(parts) {}

  std::unique_ptr<Storage> storage_;
  Metadata const metadata_;
};

}}}  // namespace tracing::v1::recording
