// Sites: the statements that recorded in the runs of a test, identified by names that are equal in all runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tracing_core/model/metadata.h"

namespace testlog::why {

/// The number of a site, of a field of a site, of a name of a field, or of a group of threads.
using SiteId = std::uint32_t;
using FieldId = std::uint32_t;
using NameId = std::uint32_t;
using ThreadsId = std::uint32_t;
inline constexpr SiteId kNoSite = ~SiteId{0};

/// A statement that makes spans or events. Its names identify it: its target, the spans around it, and its literal
/// message or, without a message, the names of its fields. Numbers of threads, times and values do not count, so runs
/// of programs that were built at other times can be compared.
struct Site {
  bool is_span = false;
  std::string target{};
  std::string path{};     ///< the names of the spans around it and, of a span, its own: `request:load`
  std::string message{};  ///< of an event: `took {}`
  std::string file{};
  std::uint32_t line = 0;
  SiteId around = kNoSite;  ///< the site of the span around it
  std::uint32_t depth = 0;  ///< the number of spans around it
  FieldId first_field = 0;  ///< its fields have successive numbers
  FieldId fields_end = 0;
};

struct Field {
  SiteId site = kNoSite;
  NameId name = 0;
};

/// Numbers the sites of one test. Single-thread.
class Sites {
 public:
  /// Returns the site of a statement inside a span of the site `around`. A span deeper than 64 levels, and all that is
  /// in it, counts as inside the 64th.
  SiteId add(tracing::Metadata const& metadata, SiteId around);
  /// Numbers names of fields, and of groups of threads.
  NameId add_name(std::string_view name);

  std::size_t size() const noexcept { return sites_.size(); }
  Site const& site(SiteId id) const noexcept { return sites_[id]; }
  std::size_t field_count() const noexcept { return fields_.size(); }
  Field const& field(FieldId id) const noexcept { return fields_[id]; }
  std::string const& name(NameId id) const noexcept { return names_[id]; }
  std::size_t name_count() const noexcept { return names_.size(); }
  /// Returns true if `site` is inside a span of the site `span`.
  bool is_inside(SiteId site, SiteId span) const noexcept;

 private:
  std::vector<Site> sites_;
  std::vector<Field> fields_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, SiteId> by_key_;
  std::unordered_map<std::string, NameId> by_name_;
};

/// Finds the sites of the statements of one recording, which must outlive it.
class SitesOfRecording {
 public:
  explicit SitesOfRecording(Sites& sites) noexcept : sites_(sites) {}

  SiteId site_of(tracing::Metadata const& metadata, SiteId around);
  Sites& sites() const noexcept { return sites_; }

 private:
  struct Key {
    tracing::Metadata const* metadata;
    SiteId around;
    friend bool operator==(Key const&, Key const&) noexcept = default;
  };
  struct Hash {
    std::size_t operator()(Key const& key) const noexcept {
      return std::hash<void const*>()(key.metadata) ^ (std::size_t{key.around} * 0x9e3779b97f4a7c15);
    }
  };

  Sites& sites_;
  std::unordered_map<Key, SiteId, Hash> known_;
};

/// Returns the name of a thread without its numbers, so that `worker-1`, `worker-12` and a second `worker-1`, which is
/// named `worker-1 2`, are in one group.
std::string group_of_thread(std::string_view name);

}  // namespace testlog::why
