// Marks every copy of the library with an ELF note. The other copies find it, whichever symbols the linker exports.
#include "tracing_core/support/second_copy.h"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace tracing { inline namespace v1 { namespace support {
namespace {

struct CopyNote {
  ElfW(Nhdr) header;
  char name[8];
  char description[8];
};
[[gnu::section(".note.tracing"), gnu::used, gnu::retain]] constinit CopyNote const copy_note{
    {8, 8, 1}, {'t', 'r', 'a', 'c', 'i', 'n', 'g', '\0'}, {'c', 'o', 'r', 'e', ' ', 'v', '1', '\0'}};

// Paths of the objects that hold the copies.
struct CopyNames {
  char earlier[1024] = {};
  char own[1024] = {};
};

struct CopySearch {
  CopyNames& names;
  char const* first = nullptr;  // the object that holds the first copy
  bool found_earlier = false;
};

bool is_core_note(char const* at) noexcept {
  CopyNote note;
  std::memcpy(&note, at, sizeof(note));
  return std::memcmp(&note, &copy_note, sizeof(note)) == 0;
}

// Copies an object's name. The executable's name is empty in the loader's list, so it is read from /proc.
template <std::size_t kCapacity>
void copy_name(char const* name, char (&out)[kCapacity]) noexcept {
  ssize_t size = 0;
  if (name == nullptr || *name == '\0') {
    size = readlink("/proc/self/exe", out, kCapacity - 1);
    name = "the executable";  // if /proc/self/exe cannot be read
  }
  if (size <= 0) size = static_cast<ssize_t>(std::string_view(name).copy(out, kCapacity - 1));
  out[size] = '\0';
}

// Visits the loaded objects in load order. Stops at our own copy.
int visit_notes(dl_phdr_info* info, std::size_t, void* context) {
  auto& search = *static_cast<CopySearch*>(context);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    ElfW(Phdr) const& header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE || header.p_align == 0) continue;
    auto const* const begin = reinterpret_cast<char const*>(info->dlpi_addr + header.p_vaddr);
    auto const padded = [&header](std::size_t size) {
      return (size + header.p_align - 1) / header.p_align * header.p_align;
    };
    for (std::size_t at = 0; at + sizeof(CopyNote) <= header.p_memsz;) {
      ElfW(Nhdr) note;
      std::memcpy(&note, begin + at, sizeof(note));
      if (begin + at == reinterpret_cast<char const*>(&copy_note)) {
        if (search.found_earlier) {
          copy_name(search.first, search.names.earlier);
          copy_name(info->dlpi_name, search.names.own);
        }
        return 1;
      }
      if (is_core_note(begin + at) && !search.found_earlier)
        search.found_earlier = true, search.first = info->dlpi_name;
      at += sizeof(note) + padded(note.n_namesz) + padded(note.n_descsz);
    }
  }
  return 0;
}

void report_second_copy() noexcept {
  CopyNames names;
  CopySearch search{names};
  dl_iterate_phdr(visit_notes, &search);
  if (names.earlier[0] == '\0' || names.own[0] == '\0') return;
  char line[sizeof(names) + 512];
  int const size =
      std::snprintf(line, sizeof(line),
                    "tracing: two copies of tracing::core are loaded, one in %s, one in %s; each has its own "
                    "subscribers. Link it shared, or let the executable export its symbols (ENABLE_EXPORTS).\n",
                    names.earlier, names.own);
  [[maybe_unused]] ssize_t const written = size > 0 ? ::write(STDERR_FILENO, line, static_cast<std::size_t>(size)) : 0;
}

}  // namespace

void report_second_copy_once() noexcept {
  static constinit std::atomic<bool> reported{false};
  if (!reported.load(std::memory_order_relaxed) && !reported.exchange(true)) report_second_copy();
}

}}}  // namespace tracing::v1::support
