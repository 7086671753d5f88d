// A ring of chunks that many threads fill, without a lock.
//
// The problem: the newest records of every thread must survive, errors longer than the rest, within a bound of memory,
// and no thread may wait for another thread, which may have been killed. One buffer per thread wastes memory on threads
// that say little and loses everything of a thread that says much; one buffer for all is contended by every record.
//
// The idea: chunks of 16 KiB, and a hand that goes around them like the hand of a clock. A thread that needs a chunk
// moves the hand until it meets a chunk that nobody owns. The thread takes this chunk, more or less the oldest, and
// overwrites its records. A thread owns two chunks, so the hand seldom meets an owned chunk. Records that must stay
// longer (WARN, ERROR, the first records of the running test) mark their chunk, and the hand passes over a marked chunk
// as long as marked chunks fill at most an eighth of the ring.
//
// The invariant: a chunk's generation is odd while the chunk changes hands, and grows with each owner. So a reader that
// finds the same even generation before and after it copies a chunk has a copy of one owner's records. Nothing else is
// locked, and a dead owner costs its two chunks.
//
// Memory is given to chunks as the hand reaches them: the file or the mapping grows to 4 chunks, to 16, and then by
// groups of 64, so a short recording is a small file. At its end a file is cut after its last used chunk. A full disk
// or a limit of memory ends the growth, not the recording, which goes on in the existing chunks.
//
// Rejected: a lock-free queue of free chunks (the order of age would be lost), and growing by one chunk (a system call
// for every 16 KiB).
#include "tracing_core/record/ring/region.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "tracing_core/model/instant.h"
#include "tracing_core/support/open_file.h"
#include "tracing_core/support/scoped_no_cancellation.h"
#include "tracing_core/support/scoped_signal_block.h"
#include "tracing_core/support/span_clock.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

// A region grows to so many chunks, then to so many, then by groups: a short recording stays small, a long recording is
// not extended often. A test with a few records needs three chunks.
constexpr std::uint32_t kFirstChunks = 4, kSecondChunks = 16;

std::uint32_t chunks_in(std::size_t limit_bytes) noexcept {
  constexpr std::size_t kMaxChunks = (std::size_t{1} << 40) / kChunkBytes;
  return static_cast<std::uint32_t>(std::clamp(limit_bytes, Region::kMinBytes, kMaxChunks * kChunkBytes) / kChunkBytes);
}

std::size_t bytes_for(std::uint32_t chunks) noexcept {
  return sizeof(RegionHeader) + (chunks + kChunksPerGroup - 1) / kChunksPerGroup * kGroupBytes;
}

// Returns to how many chunks a region of `now` chunks grows.
std::uint32_t next_size(std::uint32_t now) noexcept {
  if (now < kFirstChunks) return kFirstChunks;
  if (now < kSecondChunks) return kSecondChunks;
  return (now / kChunksPerGroup + 1) * kChunksPerGroup;
}

// Returns the size of a region up to the end of its last chunk.
std::size_t size_bytes_of(std::uint32_t chunks) noexcept {
  return chunks == 0 ? 0 : offset_of_chunk(chunks - 1) + kChunkBytes;
}

// Two for each possible track.
constexpr std::uint32_t kMaxChunksOfTracks = 2 * Region::kMaxTracks;
constexpr std::uint32_t kFewChunksOfTracks = 1024;  // with a small limit
constexpr std::uint32_t kMinChunksOfTracks = 64;    // where there are too few addresses

// Leaves the program most of the addresses that RLIMIT_AS allows the process.
std::size_t max_address_bytes() noexcept {
  rlimit limit{};
  bool const is_bound = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return is_bound ? static_cast<std::size_t>(limit.rlim_cur / 4) : SIZE_MAX;
}

std::uint64_t rate_now() noexcept {
  if (!span_clock.uses_counter.load(std::memory_order_relaxed)) return std::uint64_t{1} << 32;
  return span_clock.ns_per_tick.load(std::memory_order_relaxed);
}

}  // namespace

Region::Region(Room const& room, int descriptor) noexcept
    : base_(room.base),
      max_limit_(room.usable),
      chunks_(room.usable + room.tracks),
      descriptor_(descriptor),
      identity_(file_identity(descriptor)) {}

Region::~Region() {
  cut_unused();
  munmap(base_, bytes_for(chunks_));
  if (is_still_open()) close(descriptor_);
}

// Reserves addresses that cannot be accessed. Readable addresses without memory would do harm: valgrind's leak check
// reads them all and gets a SIGBUS for each word past the end of a file, and RLIMIT_DATA counts all writable addresses.
Region::Room Region::reserve(std::uint32_t usable, int descriptor) noexcept {
  constexpr std::uint32_t kMinUsable = kMinBytes / kChunkBytes;
  std::size_t const max_bytes = max_address_bytes();
  int const flags = MAP_NORESERVE | (descriptor < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED);
  Room room{nullptr, usable, std::clamp(2 * usable, kFewChunksOfTracks, kMaxChunksOfTracks)};
  for (;;) {
    std::size_t const bytes = bytes_for(room.usable + room.tracks);
    bool const is_least = room.usable == kMinUsable && room.tracks == kMinChunksOfTracks;
    void* const base =
        bytes <= max_bytes || is_least ? mmap(nullptr, bytes, PROT_NONE, flags, descriptor, 0) : MAP_FAILED;
    if (base != MAP_FAILED) return room.base = static_cast<char*>(base), room;
    if (is_least) return room;
    room.usable = std::max(room.usable / 2, kMinUsable);
    room.tracks = std::max(room.tracks / 2, kMinChunksOfTracks);
  }
}

// Returns false if the program has closed the descriptor. A file of the program may have the number by now.
bool Region::is_still_open() const noexcept { return descriptor_ >= 0 && file_identity(descriptor_) == identity_; }

std::unique_ptr<Region> Region::make_anonymous(std::size_t limit_bytes, std::size_t max_limit_bytes) noexcept {
  std::uint32_t const usable = chunks_in(limit_bytes);
  Room const room = reserve(chunks_in(std::max(limit_bytes, max_limit_bytes)), -1);
  if (room.base == nullptr) return nullptr;
  std::size_t const bytes = bytes_for(room.usable + room.tracks);
  madvise(room.base, bytes, MADV_NOHUGEPAGE);  // a page for each chunk that is used, not 2 MiB
  std::unique_ptr<Region> region(new (std::nothrow) Region(room, -1));
  if (region == nullptr) munmap(room.base, bytes);
  if (region == nullptr || !region->grow()) return nullptr;
  region->start(usable);
  return region;
}

// Returns the descriptor of an empty, locked file, or a negative number.
int Region::open_file(std::string const& path, Existing existing, std::error_code& error) noexcept {
  auto const fail = [&error](int code) { return error.assign(code, std::generic_category()), -1; };
  for (;;) {
    int descriptor = create_file(path.c_str(), O_RDWR);
    bool const is_new = descriptor >= 0;
    if (!is_new && errno != EEXIST) return fail(errno);
    if (!is_new) descriptor = support::open_file(path.c_str(), O_RDWR | O_NONBLOCK);
    if (descriptor < 0 && errno == ENOENT) continue;  // it was removed meanwhile
    if (descriptor < 0 && existing == Existing::keep) return fail(errno);
    bool const is_locked = descriptor < 0 || flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    struct stat status {};
    bool const is_regular = descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    bool const is_removed = is_regular && status.st_nlink == 0;
    // Somebody else may hold a descriptor of any other file, or another name for it.
    bool const is_own = is_new || (is_regular && status.st_uid == geteuid() && status.st_nlink == 1);
    bool const is_ready = is_own && status.st_size == 0 && fchmod(descriptor, 0600) == 0;
    if (is_locked && is_ready && !is_removed) return descriptor;
    if (descriptor >= 0) close(descriptor);
    if (!is_regular && existing == Existing::keep) return fail(EINVAL);
    if (is_locked && is_removed) continue;
    // Not truncated: a process may have it mapped.
    if (existing == Existing::keep || !is_locked || unlink(path.c_str()) != 0) return fail(EEXIST);
  }
}

std::unique_ptr<Region> Region::make_file(std::string const& path, std::size_t limit_bytes, std::error_code& error,
                                          Existing existing) noexcept {
  error.clear();
  int const descriptor = open_file(path, existing, error);
  return descriptor < 0 ? nullptr : make_in(descriptor, path, limit_bytes, error);
}

std::unique_ptr<Region> Region::make_file(int descriptor, std::string const& path, std::size_t limit_bytes,
                                          std::error_code& error) noexcept {
  error.clear();
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    error = std::make_error_code(std::errc::invalid_argument);
  } else if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    error = std::make_error_code(std::errc::file_exists);
  } else {
    return make_in(descriptor, path, limit_bytes, error);
  }
  close(descriptor);
  return nullptr;
}

// Makes a region in an empty, locked file.
std::unique_ptr<Region> Region::make_in(int descriptor, std::string const& path, std::size_t limit_bytes,
                                        std::error_code& error) noexcept {
  std::uint32_t const usable = chunks_in(limit_bytes);
  Room const room = reserve(usable, descriptor);
  if (room.base == nullptr) {
    error.assign(errno, std::generic_category());
    close(descriptor);
    unlink(path.c_str());
    return nullptr;
  }
  std::unique_ptr<Region> region(new (std::nothrow) Region(room, descriptor));
  if (region == nullptr) munmap(room.base, bytes_for(room.usable + room.tracks));
  // The first growth makes the header, so a full disk is an error here.
  if (region == nullptr || !region->grow()) {
    error.assign(region == nullptr ? ENOMEM : errno, std::generic_category());
    if (region == nullptr) close(descriptor);
    unlink(path.c_str());
    return nullptr;
  }
  region->start(usable);
  return region;
}

void Region::start(std::uint32_t usable) noexcept {
  start_span_clock();
  RegionHeader& all = header();
  all.version = kRecordingVersion;
  all.byte_order = kByteOrderMark;
  all.header_bytes = sizeof(RegionHeader);
  all.chunk_bytes = kChunkBytes;
  all.chunk_head_bytes = sizeof(ChunkHead);
  all.chunks_per_group = kChunksPerGroup;
  all.process = static_cast<std::uint64_t>(getpid());
  std::uint64_t const before = ticks_now();
  all.start_ns = Instant::now().ns;
  all.start_ticks = before + (ticks_now() - before) / 2;
  all.ns_per_tick.store(rate_now(), std::memory_order_relaxed);
  limit_ = std::min(usable, max_limit_);
  all.usable.store(limit_, std::memory_order_relaxed);
  if (limit_ < usable) all.growth_error.store(ENOMEM, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  std::memcpy(all.magic, kRecordingMagic, sizeof(all.magic));
}

std::size_t Region::size_bytes() const noexcept { return std::max(sizeof(RegionHeader), size_bytes_of(grown())); }

std::uint32_t Region::chunk_count() const noexcept {
  return std::min(grown(), header().usable.load(std::memory_order_relaxed));
}

void Region::add_track() noexcept {
  std::uint32_t usable = header().usable.load(std::memory_order_relaxed);
  while (usable + 2 <= chunks_ &&
         !header().usable.compare_exchange_weak(usable, usable + 2, std::memory_order_relaxed)) {
  }
}

void Region::set_limit(std::size_t limit_bytes) noexcept {
  std::uint32_t const limit = std::min(chunks_in(limit_bytes), max_limit_);
  if (limit < chunks_in(limit_bytes)) header().growth_error.store(ENOMEM, std::memory_order_relaxed);
  header().usable.fetch_add(limit - limit_, std::memory_order_relaxed);  // tracks may be added meanwhile
  limit_ = limit;
}

std::size_t Region::max_bytes() const noexcept { return bytes_for(chunks_); }

// Copies `bytes` of the region to their place in a file, where the region begins at `offset`.
bool Region::copy_to(int descriptor, std::size_t offset, void const* begin, std::size_t bytes) const noexcept {
  auto const* const from = static_cast<char const*>(begin);
  off_t const to = static_cast<off_t>(offset) + (from - base_);
  ScopedSignalBlock blocked;
  for (std::size_t done = 0; done < bytes;) {
    ssize_t const written = pwrite(descriptor, from + done, bytes - done, to + static_cast<off_t>(done));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EFBIG) blocked.discard(SIGXFSZ);
    if (written <= 0) return false;
    done += static_cast<std::size_t>(written);
  }
  return true;
}

// A hole reads as a chunk that was never used.
bool Region::copy_chunks_to(int descriptor, std::size_t offset) const noexcept {
  constexpr std::uint32_t kLastChunks = 16;
  std::uint32_t const count = chunk_count();
  std::uint32_t const hand = header().hand.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < grown(); ++i) {
    ChunkHead const& head = this->head(i);
    bool const is_of_last = i < count && (hand + count - 1 - i) % count < kLastChunks;
    if (head.generation.load(std::memory_order_relaxed) == 0) continue;
    if (head.owned.load(std::memory_order_relaxed) == 0 && !is_of_last) continue;
    bool const is_copied =
        copy_to(descriptor, offset, &head, sizeof(head)) && copy_to(descriptor, offset, chunk(i), kChunkBytes);
    if (!is_copied) return false;
  }
  return true;
}

bool Region::move_to(int descriptor, std::size_t offset) noexcept {
  if (!copy_to(descriptor, offset, base_, sizeof(RegionHeader)) || !copy_chunks_to(descriptor, offset)) return false;
  is_moved_ = true;  // before the memory is shared, since another thread may fork
  void* const mapped = mmap(base_, max_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
                            descriptor, static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) is_moved_ = false;
  if (!is_moved_) return false;
  descriptor_ = -1;
  RegionHeader& all = header();
  all.process = static_cast<std::uint64_t>(getpid());
  all.start_ticks = ticks_now();
  all.start_ns = Instant::now().ns;
  return true;
}

void Region::discard() noexcept {
  for (std::uint32_t i = 0; i < grown(); ++i) {
    ChunkHead& chunk = head(i);
    std::uint32_t free = 0;
    if (chunk.generation.load(std::memory_order_relaxed) == 0 ||
        !chunk.owned.compare_exchange_strong(free, 1, std::memory_order_acquire))
      continue;
    tsan_acquire(&chunk.owned);
    chunk.importance = Importance::usual;
    chunk.has_first = 0;
    madvise(this->chunk(i), kChunkBytes, MADV_DONTNEED);
    chunk.generation.store(0, std::memory_order_release);
    give_back(i);
  }
}

// Returns the chunk at the hand, and moves the hand to the next chunk of `count`.
std::uint32_t Region::advance_hand(std::uint32_t count) noexcept {
  std::atomic<std::uint32_t>& hand = header().hand;
  std::uint32_t at = hand.load(std::memory_order_relaxed);
  while (!hand.compare_exchange_weak(at, at < count ? at + 1 : 1, std::memory_order_relaxed)) {
  }
  return at < count ? at : 0;
}

std::uint32_t Region::take() noexcept {
  RegionHeader& all = header();
  std::uint64_t const ticks = ticks_now();
  (void)ns_between(all.start_ticks, ticks);  // calibrates the clock now and then
  all.ns_per_tick.store(rate_now(), std::memory_order_relaxed);
  std::uint32_t count = all.usable.load(std::memory_order_relaxed);
  if (is_full_.load(std::memory_order_relaxed)) count = std::min(count, grown());
  for (std::uint32_t tries = 0; tries < count; ++tries) {
    std::uint32_t const turn = advance_hand(count);
    if (!has_memory(turn)) {
      count = std::min(count, grown());  // reuses the existing chunks
      continue;
    }
    ChunkHead& chunk = head(turn);
    std::uint32_t free = 0;
    if (chunk.owned.load(std::memory_order_relaxed) != 0 ||
        !chunk.owned.compare_exchange_strong(free, 1, std::memory_order_acquire))
      continue;
    tsan_acquire(&chunk.owned);
    if (turn >= grown() || is_spared(chunk, count)) {  // cut_unused() may have taken its memory
      give_back(turn);
      continue;
    }
    std::uint64_t const generation = chunk.generation.load(std::memory_order_relaxed);
    chunk.generation.store(generation | 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    if (generation != 0) count_overwritten(chunk);
    return turn;
  }
  return kNone;
}

// Returns true if the hand passes over the chunk, because it has the first records of the newest tag, or records of
// level WARN or ERROR. For WARN and ERROR, spares at most an eighth of all `chunks`: the chunks that the hand reached
// last. REQUIRES: the caller owns the chunk.
bool Region::is_spared(ChunkHead& chunk, std::uint32_t chunks) noexcept {
  if (chunk.generation.load(std::memory_order_relaxed) == 0) return false;
  RegionHeader& all = header();
  std::uint32_t const last_tag = chunk.tag_changes == 0 ? chunk.tag : chunk.changes[chunk.tag_changes - 1].tag;
  if (chunk.has_first != 0 && last_tag == all.newest_tag.load(std::memory_order_relaxed)) return true;
  if (chunk.importance == Importance::usual) return false;
  if (chunk.importance == Importance::high) {
    chunk.importance = Importance::spared;
    chunk.spared_before = all.spared.fetch_add(1, std::memory_order_relaxed);
  }
  return all.spared.load(std::memory_order_relaxed) - chunk.spared_before <= chunks / 8;
}

bool Region::is_first_of(std::uint32_t tag) noexcept {
  std::atomic<std::uint32_t>& newest = header().newest_tag;
  return newest.load(std::memory_order_relaxed) != tag && newest.exchange(tag, std::memory_order_relaxed) != tag;
}

// REQUIRES: the caller owns the chunk, and its track has left it.
void Region::count_overwritten(ChunkHead const& gone) noexcept {
  std::uint32_t tag = gone.tag;
  std::uint32_t counted = 0;
  for (std::uint32_t i = 0; i < gone.tag_changes; ++i) {
    count_lost(tag, gone.changes[i].records - counted);
    tag = gone.changes[i].tag;
    counted = gone.changes[i].records;
  }
  count_lost(tag, gone.records - counted);
  std::atomic<std::uint64_t>& until = header().overwritten_until;
  std::uint64_t before = until.load(std::memory_order_relaxed);
  while (before < gone.last_ticks && !until.compare_exchange_weak(before, gone.last_ticks, std::memory_order_relaxed)) {
  }
}

void Region::count_lost(std::uint32_t tag, std::uint64_t records) noexcept {
  if (records == 0) return;
  tag &= kMaxTag;
  std::atomic<std::uint64_t>& entry = header().losses[tag % RegionHeader::kLossEntries];
  std::uint64_t before = entry.load(std::memory_order_relaxed);
  std::uint64_t after = 0;
  do {
    if (before >> 40 > tag && (before & kMaxLoss) != 0) return;  // a later tag has the place
    std::uint64_t const known = before >> 40 == tag ? before & kMaxLoss : 0;
    after = std::uint64_t{tag} << 40 | std::min(known + records, kMaxLoss);
  } while (!entry.compare_exchange_weak(before, after, std::memory_order_relaxed));
}

std::uint64_t Region::lost_of(std::uint32_t tag) const noexcept {
  tag &= kMaxTag;
  std::uint64_t const entry = header().losses[tag % RegionHeader::kLossEntries].load(std::memory_order_relaxed);
  return entry >> 40 == tag ? entry & kMaxLoss : 0;
}

void Region::publish(std::uint32_t chunk) noexcept {
  std::atomic<std::uint64_t>& generation = head(chunk).generation;
  generation.store(generation.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

std::string what_bounds(int growth_error) {
  if (growth_error == 0) return "TRACE_RECORD_LIMIT";
  std::string why = std::generic_category().message(growth_error);
  if (growth_error == EBADF) why = "its descriptor was closed";
  if (growth_error == ENOMEM) why = "memory is limited (ulimit -v, ulimit -d)";
  if (growth_error == EFBIG) why += " (ulimit -f)";
  return "the recording could not grow: " + why;
}

// Returns true if a chunk has memory. Gives memory to chunks ahead of the hand, so that threads seldom wait for the
// thread that grows the region.
bool Region::has_memory(std::uint32_t chunk) noexcept {
  constexpr std::uint32_t kAhead = kChunksPerGroup / 2;
  std::uint32_t const now = grown();
  std::uint32_t const ahead = now <= kFirstChunks ? 0 : std::min(kAhead, now / 4);
  if (chunk + ahead < now) [[likely]]
    return true;
  ScopedNoCancellation const no_cancellation;  // pwrite(2) and nanosleep(2) are cancellation points
  (void)grow();
  // Another thread grows the region. On a busy machine it may be waiting for a processor, so this thread waits for it
  // some 100 ms; no longer, since the other thread may never go on.
  constexpr int kYields = 100, kMaxTurns = 1000;
  constexpr timespec kPause{0, 50'000};
  for (int turns = 0; turns < kMaxTurns; ++turns) {
    if (chunk < grown()) return true;
    if (is_full_.load(std::memory_order_relaxed)) return false;
    if (!grow()) turns < kYields ? static_cast<void>(sched_yield()) : static_cast<void>(nanosleep(&kPause, nullptr));
  }
  return false;
}

// Returns false, and sets errno, if the region cannot grow as far as it should, or if another thread is growing it.
bool Region::grow() noexcept {
  if (is_full_.load(std::memory_order_relaxed)) return false;
  // A read-modify-write sees the last value, however relaxed: if it succeeds, no other thread is growing the region,
  // and the size of its file is known. So zeros never overwrite anything in use.
  std::uint32_t now = grown();
  if (!grown_.compare_exchange_strong(now, now | kGrowing, std::memory_order_relaxed)) return false;
  UnseenByTsan const unseen;  // ThreadSanitizer takes a write to a file to precede all reads of files
  std::uint32_t wanted = std::min(next_size(now), chunks_);
  bool const is_largest = wanted == now;
  std::size_t end = size_bytes_of(now);
  int error = is_anonymous() || is_largest ? 0 : extend(end, size_bytes_of(wanted));
  if (error != 0) {  // uses as much as the disk had room for
    while (wanted > now && size_bytes_of(wanted) > end) --wanted;
  }
  if (int const denied = wanted == now ? 0 : allow_access(size_bytes_of(now), size_bytes_of(wanted)); denied != 0) {
    error = denied;
    wanted = now;
  }
  if (error != 0 && wanted > 0)
    header().growth_error.store(static_cast<std::uint32_t>(error), std::memory_order_relaxed);
  if (error != 0 || is_largest) is_full_.store(true, std::memory_order_relaxed);
  // Publishes the memory before grown_: a release fence, which ThreadSanitizer does not model.
  std::atomic_thread_fence(std::memory_order_release);
  grown_.store(wanted, std::memory_order_relaxed);
  if (error != 0) errno = error;
  return error == 0 && !is_largest;
}

// Writes zeros, so that a full disk is an error here and not a signal where a record is written. Returns 0 or errno;
// `from` becomes the end of what was written.
int Region::extend(std::size_t& from, std::size_t to) const noexcept {
  static char const zeros[64 * 1024] = {};
  errno = EBADF;
  if (!is_still_open()) return errno;
  ScopedSignalBlock blocked;
  while (from < to) {
    ssize_t const written = pwrite(descriptor_, zeros, std::min(to - from, sizeof(zeros)), static_cast<off_t>(from));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      int const error = written == 0 ? ENOSPC : errno;
      if (error == EFBIG) blocked.discard(SIGXFSZ);
      return error;
    }
    from += static_cast<std::size_t>(written);
  }
  return 0;
}

// Other threads may take chunks meanwhile: each chunk is cut only while this thread owns it, and take() looks again at
// grown_ when it owns a chunk. The heads of the last group stay, since threads read them before they own a chunk.
void Region::cut_unused() noexcept {
  std::uint32_t now = grown();
  if (is_anonymous() || now == 0 || header().process != static_cast<std::uint64_t>(getpid()) || !is_still_open())
    return;
  if (!grown_.compare_exchange_strong(now, now | kGrowing, std::memory_order_relaxed)) return;
  std::uint32_t const least = (now - 1) / kChunksPerGroup * kChunksPerGroup + 1;
  std::uint32_t end = now;
  while (end > least && take_unused(end - 1)) --end;
  bool const is_cut = end < now && ftruncate(descriptor_, static_cast<off_t>(size_bytes_of(end))) == 0;
  grown_.store(is_cut ? end : now, std::memory_order_relaxed);
  for (std::uint32_t i = end; i < now; ++i) give_back(i);
}

// Takes a chunk if it has no owner and never had one.
bool Region::take_unused(std::uint32_t chunk) noexcept {
  ChunkHead& head = this->head(chunk);
  std::uint32_t free = 0;
  if (!head.owned.compare_exchange_strong(free, 1, std::memory_order_acquire)) return false;
  tsan_acquire(&head.owned);
  if (head.generation.load(std::memory_order_relaxed) == 0) return true;
  give_back(chunk);
  return false;
}

int Region::allow_access(std::size_t from, std::size_t to) const noexcept {
  std::size_t const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  from = from / page * page;
  return mprotect(base_ + from, to - from, PROT_READ | PROT_WRITE) == 0 ? 0 : errno;
}

}}}  // namespace tracing::v1::internal
