// Keeps the last passing recordings of a test, compressed, to compare a failing run with them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tracing { inline namespace v1 { namespace environment {

inline constexpr int kMaxPassedRecordings = 9;
inline constexpr std::uintmax_t kMaxPassedBytes = std::uintmax_t{256} << 20;  ///< of all tests together

/// Compresses the recording at `path` to `<folder>/passed/<name>.1.rec.gz`, where `name` loses its `.rec`. The earlier
/// recordings of `name` move on to `.2` and so on; those beyond `count` are removed, all of them if `count` is 0.
/// Returns false if nothing was kept: `count` is 0, this library was built without zlib, or the disk is full; the
/// oldest recording may be lost then. It is overwritten, so a process that is just reading it may find it damaged.
/// Takes some 0.5 ms for a recording of 200 spans. Processes that do so at once leave one recording each, or fewer.
/// About one in 64 calls also calls limit_passed(), so the folder exceeds `max_bytes` by some hundred recordings at
/// most.
bool keep_passed(std::string const& path, std::string const& folder, std::string const& name, int count,
                 std::uintmax_t max_bytes = kMaxPassedBytes) noexcept;

/// Returns the paths of the recordings that keep_passed() has left of `name`, the last first.
std::vector<std::string> passed_recordings(std::string const& folder, std::string const& name);

/// Removes the oldest recordings in `<folder>/passed` until all together take no more than `max_bytes`.
void limit_passed(std::string const& folder, std::uintmax_t max_bytes = kMaxPassedBytes) noexcept;

}}}  // namespace tracing::v1::environment
