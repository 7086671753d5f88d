#include "tracing_core/support/loaded_object.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdint>
#include <new>

namespace tracing { inline namespace v1 { namespace support {
namespace {

struct LoadedRange {
  std::uintptr_t begin;
  std::uintptr_t end;
  LoadedRange const* next;
};

// Libraries that are kept loaded. The list only grows, so readers need no lock.
constinit std::atomic<LoadedRange const*> pinned{nullptr};

struct ObjectSearch {
  std::uintptr_t address;
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  char const* name = nullptr;  // valid while the object is loaded; empty for the executable, null if no object was
                               // found
};

#if defined(DLFO_STRUCT_HAS_EH_DBASE)  // glibc 2.35 or newer
// Takes no lock. dl_iterate_phdr() takes one, and a child forked while another thread holds it would wait for ever.
void find_object(ObjectSearch& search) noexcept {
  dl_find_object found;
  if (_dl_find_object(reinterpret_cast<void*>(search.address), &found) != 0) return;
  search.begin = reinterpret_cast<std::uintptr_t>(found.dlfo_map_start);
  search.end = reinterpret_cast<std::uintptr_t>(found.dlfo_map_end);
  search.name = found.dlfo_link_map->l_name == nullptr ? "" : found.dlfo_link_map->l_name;
}
#else
int visit_object(dl_phdr_info* info, std::size_t, void* context) {
  auto& search = *static_cast<ObjectSearch*>(context);
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

void find_object(ObjectSearch& search) noexcept { dl_iterate_phdr(visit_object, &search); }
#endif

}  // namespace

void keep_loaded(void const* address) noexcept {
  auto const wanted = reinterpret_cast<std::uintptr_t>(address);
  for (auto const* range = pinned.load(std::memory_order_acquire); range != nullptr; range = range->next) {
    if (wanted >= range->begin && wanted < range->end) return;
  }
  ObjectSearch search{wanted};
  find_object(search);
  if (search.name == nullptr) return;
  if (search.name[0] != '\0') dlopen(search.name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  auto* const range = new (std::nothrow) LoadedRange{search.begin, search.end, pinned.load(std::memory_order_relaxed)};
  if (range == nullptr) return;
  while (!pinned.compare_exchange_weak(range->next, range, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

}}}  // namespace tracing::v1::support
