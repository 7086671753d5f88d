#include "tracing_core/internal/loaded_object.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

namespace tracing::inline v1::internal {
namespace {

struct LoadedRange {
  std::uintptr_t begin;
  std::uintptr_t end;
  LoadedRange const* next;
};

// Libraries already pinned: a list that only grows, so that it is read without a lock.
constinit std::atomic<LoadedRange const*> pinned{nullptr};

struct Search {
  std::uintptr_t address;
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  char const* name = nullptr;  // as long as the object is loaded; empty: the executable. Null: none was found
};

#if defined(DLFO_STRUCT_HAS_EH_DBASE)  // glibc 2.35 or newer
// Takes no lock: dl_iterate_phdr() does, and a child that was forked while another thread held it would wait for ever.
void find_object(Search& search) noexcept {
  dl_find_object found;
  if (_dl_find_object(reinterpret_cast<void*>(search.address), &found) != 0) return;
  search.begin = reinterpret_cast<std::uintptr_t>(found.dlfo_map_start);
  search.end = reinterpret_cast<std::uintptr_t>(found.dlfo_map_end);
  search.name = found.dlfo_link_map->l_name == nullptr ? "" : found.dlfo_link_map->l_name;
}
#else
int visit_object(dl_phdr_info* info, std::size_t, void* context) {
  auto& search = *static_cast<Search*>(context);
  std::uintptr_t begin = UINTPTR_MAX;
  std::uintptr_t end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    ElfW(Phdr) const& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    std::uintptr_t const start = info->dlpi_addr + header.p_vaddr;
    if (start < begin) begin = start;
    if (start + header.p_memsz > end) end = start + header.p_memsz;
  }
  if (search.address < begin || search.address >= end) return 0;
  search.begin = begin;
  search.end = end;
  search.name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  return 1;
}

void find_object(Search& search) noexcept { dl_iterate_phdr(visit_object, &search); }
#endif

// A note in every copy of this library tells the other copies of it, whatever the linker exports.
struct CopyNote {
  ElfW(Nhdr) header;
  char name[8];
  char description[8];
};
[[gnu::section(".note.tracing"), gnu::used, gnu::retain]] constinit CopyNote const copy_note{
    {8, 8, 1}, {'t', 'r', 'a', 'c', 'i', 'n', 'g', '\0'}, {'c', 'o', 'r', 'e', ' ', 'v', '1', '\0'}};

struct Copies {
  CopyNames& names;
  char const* first = nullptr;  // the name of the object that holds the first copy
  bool found_earlier = false;
};

bool is_core_note(char const* at) noexcept {
  CopyNote note;
  std::memcpy(&note, at, sizeof(note));
  return std::memcmp(&note, &copy_note, sizeof(note)) == 0;
}

// The executable comes first and without a name.
template <std::size_t kRoom>
void copy_name(char const* name, char (&out)[kRoom]) noexcept {
  ssize_t size = 0;
  if (name == nullptr || *name == '\0') {
    size = readlink("/proc/self/exe", out, kRoom - 1);
    name = "the executable";  // where that cannot be read
  }
  if (size <= 0) size = static_cast<ssize_t>(std::string_view(name).copy(out, kRoom - 1));
  out[size] = '\0';
}

// Visits in the order in which the objects were loaded; stops at our own copy.
int visit_notes(dl_phdr_info* info, std::size_t, void* context) {
  auto& copies = *static_cast<Copies*>(context);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    ElfW(Phdr) const& header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE || header.p_align == 0) continue;
    auto const* const begin = reinterpret_cast<char const*>(info->dlpi_addr + header.p_vaddr);
    auto const padded = [&header](std::size_t size) { return (size + header.p_align - 1) / header.p_align * header.p_align; };
    for (std::size_t at = 0; at + sizeof(CopyNote) <= header.p_memsz;) {
      ElfW(Nhdr) note;
      std::memcpy(&note, begin + at, sizeof(note));
      if (begin + at == reinterpret_cast<char const*>(&copy_note)) {
        if (copies.found_earlier) {
          copy_name(copies.first, copies.names.earlier);
          copy_name(info->dlpi_name, copies.names.own);
        }
        return 1;
      }
      if (is_core_note(begin + at) && !copies.found_earlier) copies.found_earlier = true, copies.first = info->dlpi_name;
      at += sizeof(note) + padded(note.n_namesz) + padded(note.n_descsz);
    }
  }
  return 0;
}

}  // namespace

void keep_loaded(void const* address) noexcept {
  auto const wanted = reinterpret_cast<std::uintptr_t>(address);
  for (auto const* range = pinned.load(std::memory_order_acquire); range != nullptr; range = range->next) {
    if (wanted >= range->begin && wanted < range->end) return;
  }
  Search search{wanted};
  find_object(search);
  if (search.name == nullptr) return;
  if (search.name[0] != '\0') dlopen(search.name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  auto* const range = new (std::nothrow) LoadedRange{search.begin, search.end, pinned.load(std::memory_order_relaxed)};
  if (range == nullptr) return;
  while (!pinned.compare_exchange_weak(range->next, range, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

bool find_earlier_copy(CopyNames& names) noexcept {
  names.earlier[0] = names.own[0] = '\0';
  Copies copies{names};
  dl_iterate_phdr(visit_notes, &copies);
  return names.earlier[0] != '\0' && names.own[0] != '\0';
}

}  // namespace tracing::inline v1::internal
