// Region: the memory of a recording, anonymous or that of a file.
//
// Threads take chunks from it in turn, so the oldest go first. Those with WARN or ERROR are passed over, as long as
// they fill no more than an eighth: of more, the oldest go. So is the one with the first records of the newest tag. No
// thread waits for another one: what is shared are the position of the hand and an owner per chunk.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "tracing_core/internal/thread_sanitizer.h"
#include "tracing_core/record/layout.h"

namespace tracing::inline v1::internal {

class Region {
 public:
  static constexpr std::size_t kMinBytes = 16 * kChunkBytes;
  static constexpr std::uint32_t kMaxTracks = 4096;

  /// About `limit_bytes` of records, besides two chunks for each track. Memory is used, and can be read at all, only as it
  /// is filled. set_limit() may raise the limit to `max_limit_bytes`. Where RLIMIT_AS bounds the process, it takes no more
  /// than a quarter of that, and less if there is less: then growth_error() is ENOMEM. Null if memory ran out.
  static std::unique_ptr<Region> make_anonymous(std::size_t limit_bytes, std::size_t max_limit_bytes = 0) noexcept;
  enum class Existing : bool { keep, replace };
  /// The same in a file, which grows as it is filled, and is locked by flock() while the region exists. A file that is made,
  /// or replaced, is for its user alone. Null, with `error` set, if the file cannot be created or mapped, or if another region
  /// uses it, or if it has content that is to be kept.
  static std::unique_ptr<Region> make_file(std::string const& path, std::size_t limit_bytes, std::error_code& error,
                                           Existing existing = Existing::keep) noexcept;
  /// The same in an empty file at `path` of which only this process knows. Takes ownership of `descriptor`, which can read
  /// and write.
  static std::unique_ptr<Region> make_file(int descriptor, std::string const& path, std::size_t limit_bytes,
                                           std::error_code& error) noexcept;
  Region(Region const&) = delete;
  Region& operator=(Region const&) = delete;
  ~Region();

  RegionHeader& header() const noexcept { return *reinterpret_cast<RegionHeader*>(base_); }
  ChunkHead& head(std::uint32_t chunk) const noexcept {
    return *reinterpret_cast<ChunkHead*>(base_ + offset_of_head(chunk));
  }
  char* chunk(std::uint32_t chunk) const noexcept { return base_ + offset_of_chunk(chunk); }

  static constexpr std::uint32_t kNone = UINT32_MAX;
  /// A chunk that nobody owns, the oldest first; now the caller owns it, and its generation is odd until publish().
  /// kNone if there is none.
  std::uint32_t take() noexcept;
  void publish(std::uint32_t chunk) noexcept;
  void give_back(std::uint32_t chunk) noexcept {
    std::atomic<std::uint32_t>& owned = head(chunk).owned;
    tsan_release(&owned);  // it would not see the store if the library was built without it
    owned.store(0, std::memory_order_release);
  }
  /// Another track records: makes room for the chunks that it keeps.
  void add_track() noexcept;
  /// Changes how much is kept before the oldest is overwritten. REQUIRES: anonymous; one call at a time.
  void set_limit(std::size_t limit_bytes) noexcept;
  /// Forgets what is in chunks that nobody owns, without counting it as lost, and gives their memory back to the system.
  /// REQUIRES: anonymous; nobody reads.
  void discard() noexcept;

  /// Whether a record with this tag is the first one.
  bool is_first_of(std::uint32_t tag) noexcept;
  /// Records with this tag are lost.
  void count_lost(std::uint32_t tag, std::uint64_t records) noexcept;
  /// How many records with this tag were lost; 0 if that is not known any more, since many other tags lost some.
  std::uint64_t lost_of(std::uint32_t tag) const noexcept;

  /// How many chunks there are; some may never have been taken.
  std::uint32_t chunk_count() const noexcept;
  /// How many bytes of it have memory; those that follow cannot be accessed.
  std::size_t size_bytes() const noexcept;
  /// Why it is smaller than its limit: the errno with which it could not grow; 0 if it could so far.
  int growth_error() const noexcept {
    return static_cast<int>(header().growth_error.load(std::memory_order_relaxed));
  }
  bool is_anonymous() const noexcept { return descriptor_ < 0; }

 private:
  // The addresses for a region, none of which can be accessed.
  struct Room {
    char* base;
    std::uint32_t usable;  // chunks within the limit
    std::uint32_t tracks;  // chunks for tracks
  };
  static Room reserve(std::uint32_t usable, int descriptor) noexcept;
  Region(Room const& room, int descriptor) noexcept;
  static int open_file(std::string const& path, Existing existing, std::error_code& error) noexcept;
  static std::unique_ptr<Region> make_in(int descriptor, std::string const& path, std::size_t limit_bytes,
                                         std::error_code& error) noexcept;
  void start(std::uint32_t usable) noexcept;
  std::uint32_t grown() const noexcept { return grown_.load(std::memory_order_relaxed) & ~kGrowing; }
  bool has_memory(std::uint32_t chunk) noexcept;
  bool grow() noexcept;
  std::uint32_t advance_hand(std::uint32_t count) noexcept;
  bool is_spared(ChunkHead& chunk, std::uint32_t chunks) noexcept;
  void count_overwritten(ChunkHead const& gone) noexcept;
  bool is_still_open() const noexcept;
  int extend(std::size_t& from, std::size_t to) const noexcept;
  int allow_access(std::size_t from, std::size_t to) const noexcept;

  char* const base_;
  std::uint32_t const max_limit_;  // of chunks, without those of tracks
  std::uint32_t const chunks_;     // for which there are addresses
  std::uint32_t limit_ = 0;        // of chunks, without those of tracks
  int const descriptor_;        // negative: anonymous
  std::uint64_t const identity_;  // of the file
  // How many chunks have memory, and kGrowing while a thread gives memory to more. Relaxed, like all that threads share at
  // the change of a chunk of the first lap: they must not be ordered by it, or ThreadSanitizer would miss races of the
  // program.
  static constexpr std::uint32_t kGrowing = std::uint32_t{1} << 31;
  std::atomic<std::uint32_t> grown_{0};
  std::atomic<bool> is_full_{false};  // it cannot grow
};

/// What keeps a recording from holding more: `TRACE_RECORD_LIMIT` or, with Region::growth_error(), a clause like `the
/// recording could not grow: No space left on device`.
std::string what_bounds(int growth_error);

}  // namespace tracing::inline v1::internal
