// DeathTests: copies what the children of a death test record into the recording of the test if it fails.
//
// A child cannot write to the recording of its parent, and may die at any moment. So the parent has a file in memory,
// which disappears with the last process that has it open. Before its first record the child locks this file and moves
// its own recording into it. The parent reads what the child left, and copies it into its own recording if the test
// fails.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tracing_core/record/recording.h"
#include "tracing_core/record/ring/chunk_writer.h"
#include "tracing_core/record/ring/record_layer.h"
#include "tracing_core/support/fork.h"
#include "tracing_core/support/mutex.h"

namespace testlog { inline namespace v1 {

/// Children find the file through /proc; without /proc they record nothing. Thread-safe.
class DeathTests {
 public:
  DeathTests() = default;
  DeathTests(DeathTests const&) = delete;
  DeathTests& operator=(DeathTests const&) = delete;

  /// In the process that runs tests: makes the file.
  void open() noexcept;

  /// In a child, before it records: moves `region` into the file of its parent. Returns false if it finds no file, or
  /// if another child uses it. `threadsafe` is true if the child began as a new process, and false if it was forked and
  /// so has its parent's object.
  bool move(tracing::internal::Region& region, bool threadsafe) noexcept;

  /// Reads what children have left since the last call, unless a child is alive. If there were more than 16 children,
  /// reads the first 15 and the last. Keeps 64 per test at most. In a forked child, collect(), add_to() and forget() do
  /// nothing.
  void collect();
  /// When a failed test ends: copies what was collected into `store`. REQUIRES: the thread that runs the tests.
  void add_to(tracing::internal::RecordStore const& store);
  /// When a test has ended: forgets what its children have left.
  void forget() noexcept;

  /// Returns true if `number` is a track of a child. The track of a child's first thread is named `child 1`, and tracks
  /// of its further threads `child 1: worker`.
  static constexpr bool has_track(std::uint64_t number) noexcept {
    return number >= kFirstTrack && number < 2 * kFirstTrack;
  }

 private:
  // Each child has this many bytes of the sparse file, which is more than the largest region has.
  static constexpr std::size_t kBytesOfChild = std::size_t{1} << 41;
  static constexpr std::size_t kMaxChildren = 16, kMaxCollected = 64;
  static constexpr std::uint64_t kFirstTrack = 1 << 29;  // threads and streams of devices have smaller numbers

  std::string own_file() const;
  static std::string file_of_parent();
  bool is_child() const noexcept;
  std::size_t children() const noexcept;

  unsigned const forks_when_made_ = tracing::support::fork_count();
  int descriptor_ = -1;
  std::uint64_t identity_ = 0;  // of the file: the program may have closed the descriptor and opened its own file
  std::uint64_t next_track_ = kFirstTrack;
  tracing::support::Mutex mutex_;
  std::vector<std::unique_ptr<tracing::recording::Recording>> collected_ TRACING_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<tracing::recording::Recording>>
      copied_;  // kept, since the copies refer to their callsites by address
  std::optional<tracing::internal::RecordingParts> parts_;
  tracing::internal::ChunkWriter writer_;
};

}}  // namespace testlog::v1
