#include "cuda_cpu/executor/device_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

#include "tracing_core/support/short_text.h"

namespace cuda_cpu {

using tracing::support::counted;
using tracing::support::MutexLock;

namespace {

// Limits: how much freed memory is kept, and how near an allocation must be to be mentioned.
constexpr std::size_t kMaxFreed = 256;
constexpr std::uint64_t kMaxFreedBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kNearBytes = std::uint64_t{1} << 20;
constexpr std::uintptr_t kNullBytes = 4096;
// An access that is farther than this from an allocation may well be meant for something else.
constexpr std::uint64_t kBesideBytes = 4096;

// Returns true if the address is mapped in the process. Device memory is host memory, too, so callers ask only about
// addresses outside of all allocations.
bool is_of_host(std::uintptr_t address) {
  static auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  unsigned char resident = 0;
  return mincore(reinterpret_cast<void*>(address / page * page), 1, &resident) == 0;
}

// Adds to `text` that the address may be in host memory. Says so also if `text` names a device allocation that is
// farther than kBesideBytes: if the program passed a host pointer to a kernel, that allocation is unrelated.
std::string beside(std::uintptr_t address, std::uint64_t distance, std::string text) {
  if ((!text.empty() && distance <= kBesideBytes) || !is_of_host(address)) return text;
  return "in memory of the host, " + (text.empty() ? "far from any of the device" : "or " + text);
}

}  // namespace

std::string MemoryNote::to_string() const {
  std::string all = text;
  if (!site.empty()) all.append(" at ").append(site.text());
  return all.append(span);
}

std::uintptr_t DeviceMemory::allocate(std::uint64_t bytes, bool constant, MemoryNote note) {
  if (bytes == 0) return 0;
  {
    MutexLock const lock(mutex_);
    if (bytes > capacity_bytes_ - used_bytes_ || bytes > SIZE_MAX - kAlignment) return 0;
    used_bytes_ += bytes;
  }
  auto const deallocate = [](std::byte* memory) { ::operator delete(memory, std::align_val_t(kAlignment)); };
  // The gap after the memory keeps an access just past the end out of the next allocation.
  auto* const memory =
      static_cast<std::byte*>(::operator new(bytes + kAlignment, std::align_val_t(kAlignment), std::nothrow));
  MutexLock const lock(mutex_);
  if (memory == nullptr) {
    used_bytes_ -= bytes;
    return 0;
  }
  auto const begin = reinterpret_cast<std::uintptr_t>(memory);
  ranges_[begin] = {begin, begin + bytes, std::shared_ptr<std::byte>(memory, deallocate), constant, nullptr};
  notes_[begin] = {++allocations_, std::move(note)};
  snapshot_.reset();
  return begin;
}

bool DeviceMemory::free(std::uintptr_t address, MemoryNote note) {
  std::vector<std::shared_ptr<std::byte>> released;  // deallocated after the lock is released
  MutexLock const lock(mutex_);
  auto const found = ranges_.find(address);
  if (found == ranges_.end() || found->second.storage == nullptr || heap_.contains(address)) return false;
  MemoryRange& range = found->second;
  std::uint64_t const bytes = range.end - range.begin;
  used_bytes_ -= bytes;
  freed_bytes_ += bytes;
  freed_.push_front({std::move(range), std::move(notes_[address]), std::move(note)});
  auto const release = [&](Freed& old) TRACING_REQUIRES(mutex_) {
    if (old.range.storage == nullptr) return;
    freed_bytes_ -= old.range.end - old.range.begin;
    released.push_back(std::exchange(old.range.storage, nullptr));
  };
  if (bytes > kMaxFreedBytes / 4) release(freed_.front());
  for (auto old = freed_.rbegin(); freed_bytes_ > kMaxFreedBytes; ++old) release(*old);
  if (freed_.size() > kMaxFreed) {
    release(freed_.back());
    freed_.pop_back();
  }
  ranges_.erase(found);
  notes_.erase(address);
  snapshot_.reset();
  return true;
}

// Returns "1024 bytes allocated in load{layer=3} (allocation 7)".
std::string DeviceMemory::text_of(MemoryRange const& range, Note const& note) {
  std::string text = counted(range.end - range.begin, "byte");
  if (!note.text.empty()) text.append(" ").append(note.text.to_string());
  return note.number == 0 ? text : text + " (allocation " + std::to_string(note.number) + ")";
}

std::string DeviceMemory::name_of(std::uintptr_t address) const {
  MutexLock const lock(mutex_);
  auto const found = ranges_.find(address);
  return found == ranges_.end() ? "" : text_of(found->second, notes_.at(address));
}

CallSite DeviceMemory::site_of(std::uintptr_t address) const {
  MutexLock const lock(mutex_);
  auto const found = notes_.find(address);
  return found == notes_.end() ? CallSite() : found->second.text.site;
}

std::string DeviceMemory::describe(std::uintptr_t address, std::uint64_t bytes) const {
  if (address < kNullBytes) return "a null pointer";
  MutexLock const lock(mutex_);
  auto const above = ranges_.upper_bound(address);
  // A new allocation may have the addresses of freed memory.
  bool const is_in_use = above != ranges_.begin() && address < std::prev(above)->second.end;
  for (auto const& [range, allocated, freed] : freed_) {
    if (is_in_use || address < range.begin || address >= range.end) continue;
    return "in " + text_of(range, allocated) + " that were " + (freed.empty() ? "freed" : freed.to_string());
  }
  std::string text;
  std::uint64_t nearest = kNearBytes;
  if (above != ranges_.end() && above->first - address < nearest) {
    nearest = above->first - address;
    text = counted(nearest, "byte") + " before " + text_of(above->second, notes_.at(above->first));
  }
  if (above == ranges_.begin()) return beside(address, nearest, text);
  auto const& below = std::prev(above)->second;
  if (below.holds(address, bytes))
    return "at byte " + std::to_string(address - below.begin) + " of " + text_of(below, notes_.at(below.begin));
  if (address > below.end && address - below.end >= nearest) return beside(address, nearest, text);
  text = "reaching " + counted(address + bytes - below.end, "byte") + " past the end of " +
         text_of(below, notes_.at(below.begin));
  return beside(address, address > below.end ? address - below.end : 0, text);
}

WrittenBytes::WrittenBytes(std::uintptr_t begin, std::uint64_t bytes)
    : begin_(begin), words_(static_cast<std::atomic<std::uint64_t>*>(std::calloc(bytes / 64 + 1, sizeof words_[0]))) {
  if (words_ == nullptr) throw std::bad_alloc();
}

void WrittenBytes::mark(std::uintptr_t address, std::uint64_t bytes, bool is_written) noexcept {
  std::uint64_t at = address - begin_;
  for (std::uint64_t const end = at + bytes; at < end;) {
    std::uint64_t const count = std::min<std::uint64_t>(64 - at % 64, end - at);
    std::uint64_t const bits = (~std::uint64_t{0} >> (64 - count)) << at % 64;
    if (is_written)
      words_[at / 64].fetch_or(bits, std::memory_order_relaxed);
    else
      words_[at / 64].fetch_and(~bits, std::memory_order_relaxed);
    at += count;
  }
}

bool WrittenBytes::any(std::uintptr_t address, std::uint64_t bytes) const noexcept {
  std::uint64_t at = address - begin_;
  for (std::uint64_t const end = at + bytes; at < end; ++at)
    if ((words_[at / 64].load(std::memory_order_relaxed) >> at % 64 & 1) != 0) return true;
  return false;
}

void WrittenBytes::copy(WrittenBytes* to, void const* to_memory, WrittenBytes const* from, void const* from_memory,
                        std::uint64_t bytes) {
  auto const target = reinterpret_cast<std::uintptr_t>(to_memory);
  if (to == nullptr || from == nullptr) return to == nullptr ? void() : to->set(target, bytes);
  std::uint64_t const source = reinterpret_cast<std::uintptr_t>(from_memory) - from->begin_;
  std::vector<std::uint64_t> words((source + bytes) / 64 + 1 - source / 64);
  for (std::uint64_t i = 0; i < words.size(); ++i)
    words[i] = from->words_[source / 64 + i].load(std::memory_order_relaxed);
  for (std::uint64_t done = 0; done < bytes;) {
    std::uint64_t const at = target - to->begin_ + done;
    std::uint64_t const bit = source % 64 + done;
    std::uint64_t const count = std::min({64 - at % 64, 64 - bit % 64, bytes - done});
    std::uint64_t const mask = ~std::uint64_t{0} >> (64 - count);
    std::uint64_t const value = words[bit / 64] >> bit % 64 & mask;
    to->words_[at / 64].fetch_or(value << at % 64, std::memory_order_relaxed);
    to->words_[at / 64].fetch_and(~((value ^ mask) << at % 64), std::memory_order_relaxed);
    done += count;
  }
}

void DeviceMemory::track_writes(std::uintptr_t address) {
  MutexLock const lock(mutex_);
  auto const found = ranges_.find(address);
  if (found == ranges_.end()) return;
  found->second.written = std::make_shared<WrittenBytes>(address, found->second.end - address);
  snapshot_.reset();
}

void DeviceMemory::mark_written(std::uintptr_t address, std::uint64_t bytes) {
  auto const range = find(address, bytes);
  if (range && range->written != nullptr) range->written->set(address, bytes);
}

std::uintptr_t DeviceMemory::allocate_on_heap(std::uint64_t bytes) {
  {
    MutexLock const lock(mutex_);
    if (bytes > heap_limit_ || heap_bytes_ > heap_limit_ - bytes) return 0;
    heap_bytes_ += bytes;
  }
  std::uintptr_t const address = allocate(bytes, false, "allocated by malloc in a kernel");
  MutexLock const lock(mutex_);
  if (address == 0)
    heap_bytes_ -= bytes;
  else
    heap_[address] = bytes;
  return address;
}

bool DeviceMemory::free_on_heap(std::uintptr_t address) {
  {
    MutexLock const lock(mutex_);
    auto const found = heap_.find(address);
    if (found == heap_.end()) return false;
    heap_bytes_ -= found->second;
    heap_.erase(found);
  }
  return free(address, "freed in a kernel");
}

void DeviceMemory::clear_heap() {
  std::map<std::uintptr_t, std::uint64_t> all;
  {
    MutexLock const lock(mutex_);
    all.swap(heap_);
    heap_bytes_ = 0;
  }
  for (auto const& [address, bytes] : all) free(address, "freed with their context");
}

void DeviceMemory::set_heap_limit(std::uint64_t bytes) {
  MutexLock const lock(mutex_);
  heap_limit_ = bytes;
}

void DeviceMemory::map_host(void* begin, std::uint64_t bytes, MemoryNote note) {
  auto const address = reinterpret_cast<std::uintptr_t>(begin);
  MutexLock const lock(mutex_);
  ranges_[address] = {address, address + bytes, nullptr, false, nullptr};
  notes_[address] = {0, std::move(note)};
  snapshot_.reset();
}

void DeviceMemory::unmap_host(void* begin) {
  MutexLock const lock(mutex_);
  ranges_.erase(reinterpret_cast<std::uintptr_t>(begin));
  notes_.erase(reinterpret_cast<std::uintptr_t>(begin));
  snapshot_.reset();
}

std::optional<MemoryRange> DeviceMemory::find(std::uintptr_t address, std::uint64_t bytes) const {
  MutexLock const lock(mutex_);
  auto next = ranges_.upper_bound(address);
  if (next == ranges_.begin() || !std::prev(next)->second.holds(address, bytes)) return std::nullopt;
  return std::prev(next)->second;
}

std::shared_ptr<MemorySnapshot const> DeviceMemory::snapshot() const {
  MutexLock const lock(mutex_);
  if (snapshot_ == nullptr) {
    auto made = std::make_shared<MemorySnapshot>();
    made->reserve(ranges_.size());
    for (auto const& [begin, range] : ranges_) made->push_back(range);
    snapshot_ = std::move(made);
  }
  return snapshot_;
}

std::uint64_t DeviceMemory::used_bytes() const {
  MutexLock const lock(mutex_);
  return used_bytes_;
}

}  // namespace cuda_cpu
