// What is in the TAR of a timeline: the names of its files, and the manifest that tells viewers about them.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace testlog::cli {

/// A file in the TAR.
struct ArchiveMember {
  std::string path{};
  std::string machine{};   ///< empty: not known
  std::string clock_of{};  ///< the file of which this one has the wall clock, if it has no clocks itself
};

/// Returns perfetto_manifest.json. Source: https://perfetto.dev/docs/reference/perfetto-manifest
std::string perfetto_manifest_of(std::vector<ArchiveMember> const& members);

/// Names files. The reader of Perfetto skips names with a leading dot, and knows only names of at most 100 bytes.
class MemberNames {
 public:
  /// Returns a new name: letters, digits and `.-_` of `name`, and `suffix`.
  std::string add(std::string name, char const* suffix);

 private:
  std::set<std::string> taken_;
};

}  // namespace testlog::cli
