// How callers_of() is fast: the distance on the stack from the place of a return address to the place of the next one
// depends only on the first address, unless the function between them makes its frame longer as it runs, as alloca()
// does. So each thread keeps the distances that the unwinder found. A word that such a function makes us read is no
// return address whose distance is known, and then the unwinder is asked again.
#include "cuda_cpu/executor/call_site.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

#include "tracing_core/support/address_lines.h"
#include "tracing_core/support/monotonic_clock.h"
#include "tracing_core/support/mutex.h"

namespace cuda_cpu {
namespace {

using tracing::support::AddressLines;

// ---- finding frames ----

struct Frame {
  std::uintptr_t address = 0;  // the return address into the function
  std::uintptr_t slot = 0;     // where on the stack it is; zero if that is unknown
};

struct Frames {
  static constexpr std::size_t kMax = 48;
  Frame all[kMax];
  std::size_t size = 0;
};

__attribute__((no_sanitize("address", "thread"))) std::uintptr_t word_at(std::uintptr_t address) noexcept {
  return *reinterpret_cast<std::uintptr_t const volatile*>(address);
}

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* to) {
  auto& frames = *static_cast<Frames*>(to);
  std::uintptr_t const address = _Unwind_GetIP(context);
  if (address == 0 || frames.size == Frames::kMax) return _URC_END_OF_STACK;
  // On x86-64 a call stores the return address just below what the caller had on its stack.
  std::uintptr_t const slot = _Unwind_GetCFA(context) - sizeof(std::uintptr_t);
#if defined(__x86_64__)
  bool const is_known = word_at(slot) == address;
#else
  bool const is_known = false;
#endif
  frames.all[frames.size++] = {address, is_known ? slot : 0};
  return _URC_NO_REASON;
}

Frames unwind() noexcept {
  Frames frames;
  _Unwind_Backtrace(add_frame, &frames);
  return frames;
}

// The distances that a thread knows.
class Distances {
 public:
  static constexpr std::uintptr_t kLast = 0;
  static constexpr std::uintptr_t kMax = 64 << 10;

  // Returns null if the distance is unknown.
  std::uintptr_t const* find(std::uintptr_t address) const noexcept {
    Entry const& entry = entries_[index_of(address)];
    return entry.address == address ? &entry.distance : nullptr;
  }
  void add(std::uintptr_t address, std::uintptr_t distance) noexcept {
    entries_[index_of(address)] = {address, distance};
  }

  std::uintptr_t highest_slot = 0;  // words up to it were read before

 private:
  struct Entry {
    std::uintptr_t address = 0;
    std::uintptr_t distance = 0;
  };
  static constexpr std::size_t kEntries = 128;
  static std::size_t index_of(std::uintptr_t address) noexcept {
    return static_cast<std::size_t>((address * 0x9e3779b97f4a7c15u) >> 57) % kEntries;
  }
  Entry entries_[kEntries] = {};
};
constinit thread_local Distances distances;

// Finds the frames from the one whose return address is at `slot`, and learns distances.
CallSite unwind_from(std::uintptr_t slot, std::size_t count) noexcept {
  CallSite site;
  Frames const frames = unwind();
  auto const* const end = frames.all + frames.size;
  auto const* first = std::find_if(frames.all, end, [&](Frame const& its) { return its.slot == slot; });
  if (first == end)  // not x86-64
    first = std::find_if(frames.all, end, [&](Frame const& its) { return its.address == word_at(slot); });
  if (first == end) {
    site.frames[0] = word_at(slot);
    return site;
  }
  std::size_t n = 0;
  for (auto const* its = first; its != end && n < count; ++its, ++n) {
    site.frames[n] = its->address;
    auto const* const next = its + 1;
    if (next == end) distances.add(its->address, Distances::kLast);
    if (next == end || its->slot == 0 || next->slot <= its->slot) continue;
    if (std::uintptr_t const distance = next->slot - its->slot; distance <= Distances::kMax) {
      distances.add(its->address, distance);
      distances.highest_slot = std::max(distances.highest_slot, next->slot);
    }
  }
  return site;
}

// ---- naming frames ----

bool is_in_header_of_library(std::string_view place) noexcept {
  for (std::string_view const part :
       {"/include/cuda_runtime", "/include/crt/", "/include/cuda/", "/include/thrust/", "/include/cub/", "/cccl/",
        "/include/cooperative_groups", "/include/c++/", ".stub.c:", ".cudafe"})
    if (place.find(part) != place.npos) return true;
  return false;
}

std::string_view file_name(std::string_view path) noexcept { return path.substr(path.rfind('/') + 1); }

struct Name {
  std::string text;
  bool has_line = false;
  bool is_of_library = false;  // in a header of CUDA or of the C++ library
  bool is_of_libc = false;     // which called main() or the function of the thread
};

class Names {
 public:
  void find(std::span<CallSite const> sites) {
    std::map<std::string, std::vector<std::pair<std::uintptr_t, std::uintptr_t>>> by_file;  // address and offset
    for (CallSite const& site : sites) {
      for (std::uintptr_t const address : site.frames) {
        if (address == 0 || names_.contains(address)) continue;
        auto const [file, offset] = place_in_file(address);
        Name& name = names_[address];
        name.text = file.empty() ? hexadecimal(offset) : std::string(file_name(file)) + "+" + hexadecimal(offset);
        name.is_of_libc = file_name(file).starts_with("libc.so");
        if (!file.empty() && !name.is_of_libc) by_file[file].emplace_back(address, offset);
      }
    }
    for (auto const& [file, all] : by_file) find_lines(file, all);
  }
  Name const& of(std::uintptr_t address) const { return names_.at(address); }

 private:
  static std::string hexadecimal(std::uintptr_t value) {
    char text[2 + 2 * sizeof(value) + 1];
    std::snprintf(text, sizeof text, "0x%zx", static_cast<std::size_t>(value));
    return text;
  }

  // Returns the file with the call before a return address, and the call's address in the file.
  static std::pair<std::string, std::uintptr_t> place_in_file(std::uintptr_t address) {
    Dl_info info{};
    link_map* map = nullptr;
    if (dladdr1(reinterpret_cast<void*>(address - 1), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0)
      return {"", address};
    bool const is_program = map == nullptr || map->l_name == nullptr || map->l_name[0] == '\0';
    char program[4096] = {};
    if (is_program && readlink("/proc/self/exe", program, sizeof program - 1) < 0) program[0] = '\0';
    return {is_program ? program : map->l_name, address - 1 - (map == nullptr ? 0 : map->l_addr)};
  }

  void find_lines(std::string const& file, std::vector<std::pair<std::uintptr_t, std::uintptr_t>> const& all) {
    constexpr std::uint64_t kMaxWaitNs = 5'000'000'000;
    for (std::size_t begin = 0; begin < all.size(); begin += AddressLines::kMax) {
      std::size_t const end = std::min(all.size(), begin + AddressLines::kMax);
      AddressLines lines(file.c_str());
      for (std::size_t i = begin; i < end; ++i) lines.add(all[i].second);
      lines.find(tracing::support::monotonic_ns() + kMaxWaitNs, [&](std::size_t n, std::string_view innermost,
                                                                    std::string_view outermost) {
        std::string_view const line = is_in_header_of_library(innermost) ? outermost : innermost;
        names_[all[begin + n].first] = {std::string(file_name(line)), true, is_in_header_of_library(line), false};
      });
    }
  }

  std::map<std::uintptr_t, Name> names_;
};

constinit tracing::support::Mutex names_mutex;
Names& names() {
  static auto& its = *new Names;
  return its;
}

}  // namespace

std::string CallSite::text() const {
  tracing::support::MutexLock const lock(names_mutex);
  static std::once_flag prepared;
  std::call_once(prepared, AddressLines::prepare);
  names().find(std::span(this, 1));
  std::vector<Name const*> all;
  for (std::uintptr_t const address : frames) {
    if (address == 0 || names().of(address).is_of_libc) break;
    all.push_back(&names().of(address));
  }
  auto const is_worse = [](Name const* its) { return its->is_of_library || !its->has_line; };
  if (!std::ranges::all_of(all, is_worse)) std::erase_if(all, is_worse);
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) text += (i == 0 ? "" : i == 1 ? " (from " : ", ") + all[i]->text;
  return all.size() > 1 ? text + ")" : text;
}

void find_names(std::span<CallSite const> sites) {
  tracing::support::MutexLock const lock(names_mutex);
  AddressLines::prepare();
  names().find(sites);
}

CallSite callers_of(void const* frame, std::size_t count) noexcept {
  CallSite site;
  count = std::min(count, CallSite::kMax);
  // A frame begins with the frame pointer of the caller and the return address.
  std::uintptr_t const first = reinterpret_cast<std::uintptr_t>(frame) + sizeof(std::uintptr_t);
  std::uintptr_t slot = first;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0 && slot > distances.highest_slot) return unwind_from(first, count);
    std::uintptr_t const address = word_at(slot);
    if (address == 0) return unwind_from(first, count);
    site.frames[i] = address;
    if (i + 1 == count) break;
    std::uintptr_t const* const distance = distances.find(address);
    if (distance == nullptr) return unwind_from(first, count);
    if (*distance == Distances::kLast) break;
    slot += *distance;
  }
  return site;
}

}  // namespace cuda_cpu
