// TarFile: finds the files in a TAR.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "tracing_core/record/decode/recording_parts.h"

namespace tracing { inline namespace v1 { namespace recording {

/// Returns true if the bytes begin with the header of a file in a TAR.
bool is_tar_header(std::string_view bytes) noexcept;

/// The table of a TAR. Reads any bytes: ustar, with the long names and sizes of pax and GNU. Lists entries of type '0'
/// only, not folders, links or sparse files.
class TarFile {
 public:
  struct Member {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };
  /// By name, without a leading `./` or `/`. If several files have one name, the last counts, as for `tar`.
  using Members = std::map<std::string, Member, std::less<>>;

  explicit TarFile(RecordingSource const& source);

  Members const& members() const noexcept { return members_; }
  /// Says what is wrong with the TAR; empty if it is complete. Files before the damage can be read.
  std::string const& problem() const noexcept { return problem_; }

 private:
  struct Attributes;
  bool add(RecordingSource const& source, std::uint64_t& at, Attributes& next);
  bool read_attributes(RecordingSource const& source, std::uint64_t at, std::uint64_t size, char type,
                       Attributes& next);
  bool fail(std::uint64_t at, char const* what);

  Members members_;
  std::string problem_;
};

/// Returns the table of a TAR at `path`, or null if the file is not a TAR. Remembers the tables of the last files,
/// since commands open one recording after another.
std::shared_ptr<TarFile const> open_tar(std::string const& path);

/// A file in a TAR, named `run.tar/NAME`.
struct PathInTar {
  std::string tar;
  std::string member;
};
/// Splits a path after its part that is a file. Both results are empty if no part is a file.
PathInTar split_at_tar(std::string const& path);

}}}  // namespace tracing::v1::recording
