#include "testlog/why/sites.h"

#include <algorithm>
#include <utility>

namespace testlog::why {
namespace {

constexpr std::uint32_t kMaxDepth = 64;

// Returns the literal text of an event's message, with `{}` in the places of values.
std::string message_of(tracing::Metadata const& metadata) {
  auto const& parts = metadata.parts();
  if (!parts.has_message) return {};
  std::string text(tracing::internal::message_literal(parts));
  for (std::size_t i = parts.placeholder_count; i-- > 0;)
    text.insert(std::min<std::size_t>(parts.placeholders[i].offset, text.size()), "{}");
  return text;
}

// Returns a text that is equal for two sites exactly if their names are equal.
std::string key_of(Site const& site, tracing::Metadata const& metadata) {
  std::string key(site.is_span ? "s" : "e");
  key.append(std::to_string(site.around)).append(1, '\0').append(site.target).append(1, '\0').append(metadata.name());
  key.append(1, '\0').append(site.message);
  for (std::size_t i = 0; i < metadata.fields().size(); ++i) key.append(1, '\0').append(metadata.fields()[i]);
  return key;
}

}  // namespace

SiteId Sites::add(tracing::Metadata const& metadata, SiteId around) {
  Site site{.is_span = metadata.is_span(), .target = std::string(metadata.target()), .message = message_of(metadata)};
  while (around != kNoSite && sites_[around].depth + 1 >= kMaxDepth) around = sites_[around].around;
  site.around = around;
  std::string key = key_of(site, metadata);
  if (auto const found = by_key_.find(key); found != by_key_.end()) return found->second;
  if (around != kNoSite) {
    site.path = sites_[around].path;
    site.depth = sites_[around].depth + 1;
  }
  if (site.is_span) site.path.append(site.path.empty() ? "" : ":").append(metadata.name());
  site.file = metadata.file();
  site.line = metadata.line();
  auto const id = static_cast<SiteId>(sites_.size());
  site.first_field = static_cast<FieldId>(fields_.size());
  for (std::size_t i = 0; i < metadata.fields().size(); ++i) fields_.push_back({id, add_name(metadata.fields()[i])});
  site.fields_end = static_cast<FieldId>(fields_.size());
  sites_.push_back(std::move(site));
  by_key_.emplace(std::move(key), id);
  return id;
}

NameId Sites::add_name(std::string_view name) {
  auto const [at, is_new] = by_name_.try_emplace(std::string(name), static_cast<NameId>(names_.size()));
  if (is_new) names_.emplace_back(name);
  return at->second;
}

bool Sites::is_inside(SiteId site, SiteId span) const noexcept {
  for (SiteId at = sites_[site].around; at != kNoSite; at = sites_[at].around) {
    if (at == span) return true;
  }
  return false;
}

SiteId SitesOfRecording::site_of(tracing::Metadata const& metadata, SiteId around) {
  auto const [at, is_new] = known_.try_emplace({&metadata, around}, kNoSite);
  if (is_new) at->second = sites_.add(metadata, around);
  return at->second;
}

std::string group_of_thread(std::string_view name) {
  std::string group;
  for (char const c : name) {
    if (c < '0' || c > '9') {
      group.push_back(c);
    } else if (group.empty() || group.back() != '#') {
      group.push_back('#');
    }
  }
  return group.size() > 2 && group.ends_with(" #") ? group.substr(0, group.size() - 2) : group;
}

}  // namespace testlog::why
