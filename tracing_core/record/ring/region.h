// Region: the memory of a recording, anonymous or a file's.
//
// Threads take the next free chunk as the hand of a clock goes round, so the oldest chunks are overwritten first. The
// hand skips chunks with a WARN or ERROR while such chunks fill at most an eighth of the ring, and the chunk with the
// first records of the newest tag. No thread waits for another thread: they share the position of the hand and an owner
// per chunk.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "tracing_core/record/ring/layout.h"
#include "tracing_core/support/thread_sanitizer.h"

namespace tracing { inline namespace v1 { namespace internal {

class Region {
 public:
  static constexpr std::size_t kMinBytes = 16 * kChunkBytes;
  static constexpr std::uint32_t kMaxTracks = 4096;

  /// Makes room for about `limit_bytes` of records, besides two chunks for each track. Memory is used, and is readable,
  /// only as far as it is filled. set_limit() may raise the limit to `max_limit_bytes`. If RLIMIT_AS limits the
  /// process, the region takes at most a quarter of that limit, and less if addresses are scarce: then growth_error()
  /// is ENOMEM. Returns null if memory ran out.
  static std::unique_ptr<Region> make_anonymous(std::size_t limit_bytes, std::size_t max_limit_bytes = 0) noexcept;
  enum class Existing : bool { keep, replace };
  /// As make_anonymous(), but in a file. The file grows as it is filled, and flock() locks it while the region exists.
  /// Only its user may access a file that is made or replaced. Returns null, with `error` set, if the file cannot be
  /// created or mapped, if another region uses it, or if it has content that is to be kept.
  static std::unique_ptr<Region> make_file(std::string const& path, std::size_t limit_bytes, std::error_code& error,
                                           Existing existing = Existing::keep) noexcept;
  /// As above, in an empty file at `path` that only this process knows. Takes ownership of `descriptor`, which can read
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
  /// Takes the oldest chunk that nobody owns. The caller owns it from now on; its generation is odd until publish().
  /// Returns kNone if every chunk has an owner.
  std::uint32_t take() noexcept;
  void publish(std::uint32_t chunk) noexcept;
  void give_back(std::uint32_t chunk) noexcept {
    std::atomic<std::uint32_t>& owned = head(chunk).owned;
    tsan_release(&owned);  // ThreadSanitizer does not see the store if the library was built without it
    owned.store(0, std::memory_order_release);
  }
  /// Makes room for the two chunks that a further track keeps.
  void add_track() noexcept;
  /// Changes how much is kept before the oldest is overwritten. REQUIRES: anonymous; one call at a time.
  void set_limit(std::size_t limit_bytes) noexcept;
  /// Moves the region into a file at `offset`, where the file has a hole of max_bytes(). The recording then begins now,
  /// and the process that made the file can read what this process leaves, whatever ends it. Takes along the chunks
  /// that have owners, and the last 256 KiB of the other chunks. Returns false, and changes nothing, on failure.
  /// REQUIRES: this is a forked child, or nothing is shared yet; no other thread uses the region.
  bool move_to(int descriptor, std::size_t offset) noexcept;
  /// Lets the region grow although a thread of the parent, which this process does not have, was growing it when the
  /// process was forked. REQUIRES: this is a forked child; no other thread uses the region.
  void end_growth_of_parent() noexcept { grown_.fetch_and(~kGrowing, std::memory_order_relaxed); }
  /// The size of its range of addresses.
  std::size_t max_bytes() const noexcept;
  /// Discards the records in chunks that nobody owns, without counting them as lost, and gives the memory back to the
  /// system. REQUIRES: anonymous; nobody reads.
  void discard() noexcept;

  /// Cuts the file after its last used chunk, at the end of a recording. Other threads may go on: the file then grows
  /// again. Does nothing in a forked child, and without a file.
  void cut_unused() noexcept;

  /// Returns true if a record with this tag would be the first of the tag.
  bool is_first_of(std::uint32_t tag) noexcept;
  /// Counts lost records of a tag.
  void count_lost(std::uint32_t tag, std::uint64_t records) noexcept;
  /// The number of lost records of a tag; 0 also if another tag has taken its entry in the header.
  std::uint64_t lost_of(std::uint32_t tag) const noexcept;

  /// The number of chunks; some may never have been taken.
  std::uint32_t chunk_count() const noexcept;
  /// How many bytes have memory; addresses beyond them cannot be accessed.
  std::size_t size_bytes() const noexcept;
  /// The errno that keeps the region smaller than its limit; 0 if no growth has failed.
  int growth_error() const noexcept { return static_cast<int>(header().growth_error.load(std::memory_order_relaxed)); }
  /// True if it is anonymous and has not moved: a forked child then has a copy of its own.
  bool is_private() const noexcept { return is_anonymous() && !is_moved_; }
  bool has_moved() const noexcept { return is_moved_; }

 private:
  // The addresses of a region, before any can be accessed.
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
  bool take_unused(std::uint32_t chunk) noexcept;
  bool grow() noexcept;
  std::uint32_t advance_hand(std::uint32_t count) noexcept;
  bool is_spared(ChunkHead& chunk, std::uint32_t chunks) noexcept;
  void count_overwritten(ChunkHead const& gone) noexcept;
  bool is_anonymous() const noexcept { return descriptor_ < 0; }  // also after move_to(): it has no file to extend
  bool is_still_open() const noexcept;
  bool copy_to(int descriptor, std::size_t offset, void const* begin, std::size_t bytes) const noexcept;
  bool copy_chunks_to(int descriptor, std::size_t offset) const noexcept;
  int extend(std::size_t& from, std::size_t to) const noexcept;
  int allow_access(std::size_t from, std::size_t to) const noexcept;

  char* const base_;
  std::uint32_t const max_limit_;  // in chunks, without the two of each track
  std::uint32_t const chunks_;     // number of chunks with addresses
  std::uint32_t limit_ = 0;        // in chunks, without the two of each track
  int descriptor_;                 // negative: anonymous, or moved
  bool is_moved_ = false;
  std::uint64_t const identity_;  // of the file
  // The number of chunks that have memory, plus kGrowing while a thread gives memory to more chunks. Accesses are
  // relaxed, like all accesses by which threads change chunks in the first lap: if they ordered threads,
  // ThreadSanitizer would miss races of the program.
  static constexpr std::uint32_t kGrowing = std::uint32_t{1} << 31;
  std::atomic<std::uint32_t> grown_{0};
  std::atomic<bool> is_full_{false};  // cannot grow any more
};

/// Says what keeps a recording from holding more: `TRACE_RECORD_LIMIT` or, after a growth_error(), a clause like `the
/// recording could not grow: No space left on device`.
std::string what_bounds(int growth_error);

}}}  // namespace tracing::v1::internal
