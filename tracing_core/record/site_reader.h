// The metadata of a recorded callsite.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/model/metadata.h"
#include "tracing_core/record/layout.h"

namespace tracing::inline v1::internal {

/// Owns what its metadata refers to.
class RecordedSite {
 public:
  /// Null if the content of the `site` record makes no sense.
  static std::unique_ptr<RecordedSite> read(std::string_view content);
  RecordedSite(RecordedSite const&) = delete;
  RecordedSite& operator=(RecordedSite const&) = delete;

  Metadata const& metadata() const noexcept { return metadata_; }

 private:
  struct Storage {
    std::vector<FieldEntry> fields;
    std::vector<MessagePlaceholder> placeholders;
    std::string text, file, arguments;
  };
  RecordedSite(std::unique_ptr<Storage> storage, MetadataParts const& parts) noexcept
      : storage_(std::move(storage)), metadata_(parts) {}

  std::unique_ptr<Storage> storage_;
  Metadata const metadata_;
};

}  // namespace tracing::inline v1::internal
