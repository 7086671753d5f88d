#include "testlog/run/code_places.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "testlog/run/process_maps.h"
#include "tracing_core/support/address_lines.h"
#include "tracing_core/support/monotonic_clock.h"

namespace testlog { inline namespace v1 {

using tracing::support::AddressLines;
using tracing::support::monotonic_ns;

// An ELF file, mapped as long as this lives.
class CodePlaces::File {
 public:
  explicit File(char const* path) noexcept {
    int const file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status {};
    bool const is_open = file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    if (is_open) size_ = static_cast<std::size_t>(status.st_size);
    void* const bytes = is_open ? mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    if (file >= 0) close(file);
    if (bytes != MAP_FAILED) bytes_ = static_cast<char const*>(bytes);
  }
  File(File const&) = delete;
  File& operator=(File const&) = delete;
  ~File() {
    if (bytes_ != nullptr) munmap(const_cast<char*>(bytes_), size_);
  }

  ElfW(Ehdr) const* header() const noexcept {
    auto const* const header = at<ElfW(Ehdr)>(0);
    return header != nullptr && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 ? header : nullptr;
  }
  // Returns an object in the file; null if the file is too short or the offset is not aligned.
  template <class T>
  T const* at(std::uint64_t offset, std::uint64_t count = 1) const noexcept {
    bool const fits =
        bytes_ != nullptr && offset <= size_ && count <= (size_ - offset) / sizeof(T) && offset % alignof(T) == 0;
    return fits ? reinterpret_cast<T const*>(bytes_ + offset) : nullptr;
  }
  bool has_section(std::string_view name) const noexcept {
    auto const* const sections = at<ElfW(Shdr)>(header()->e_shoff, header()->e_shnum);
    if (sections == nullptr || header()->e_shstrndx >= header()->e_shnum) return false;
    ElfW(Shdr) const& names = sections[header()->e_shstrndx];
    char const* const text = at<char>(names.sh_offset, names.sh_size);
    return text != nullptr && std::any_of(sections, sections + header()->e_shnum, [&](ElfW(Shdr) const& section) {
             return section.sh_name < names.sh_size &&
                    std::string_view(text + section.sh_name,
                                     strnlen(text + section.sh_name, names.sh_size - section.sh_name)) == name;
           });
  }

 private:
  char const* bytes_ = nullptr;
  std::size_t size_ = 0;
};

std::string_view CodePlaces::keep(std::string_view text) noexcept {
  text = text.substr(0, std::min<std::size_t>(text.size(), 4096));
  if (text.size() > kTextBytes - text_size_) return {};
  char* const begin = text_ + text_size_;
  text_size_ += text.copy(begin, text.size());
  return {begin, text.size()};
}

void CodePlaces::resolve() noexcept {
  auto const is_before = [](Place const& a, Place const& b) { return a.address < b.address; };
  std::sort(places_, places_ + count_, is_before);
  auto const is_same = [](Place const& a, Place const& b) { return a.address == b.address; };
  Place* const end = std::unique(places_, places_ + count_, is_same);
  count_ = static_cast<std::size_t>(end - places_);
  for (Place* at = places_; at != end; ++at) *at = {at->address, {}, at->address, {}, {}, {}, false};
  Place* first = places_;
  (void)for_each_mapping([&](Mapping const& mapping) {
    while (first != end && first->address < mapping.begin) ++first;
    Place* last = first;
    while (last != end && last->address < mapping.end) ++last;
    if (first != last && !mapping.path.empty())
      resolve_in_file(mapping.path, mapping.begin, mapping.offset, first, last);
    first = last;
    return first == end;
  });
}

// Resolves the places of one mapping, which begins with the byte number `file_offset` of its file.
void CodePlaces::resolve_in_file(std::string_view path, std::uintptr_t begin, std::uint64_t file_offset, Place* first,
                                 Place* last) noexcept {
  char zero_ended[1024] = {};
  path.copy(zero_ended, sizeof(zero_ended) - 1);
  File const file(zero_ended);
  auto const* const header = file.header();
  std::string_view const kept = keep(path);
  for (Place* place = first; place != last; ++place) {
    place->file = kept;
    place->offset = place->address - begin + file_offset;
  }
  if (header == nullptr) return;  // such as `/bin/tool (deleted)`
  auto const* const segments = file.at<ElfW(Phdr)>(header->e_phoff, header->e_phnum);
  bool const has_lines = file.has_section(".debug_line");
  for (Place* place = first; place != last; ++place) {
    place->has_lines = has_lines;
    for (std::size_t i = 0; segments != nullptr && i < header->e_phnum; ++i) {
      ElfW(Phdr) const& segment = segments[i];
      bool const has = segment.p_type == PT_LOAD && place->offset >= segment.p_offset &&
                       place->offset - segment.p_offset < segment.p_filesz;
      if (!has) continue;
      place->offset += segment.p_vaddr - segment.p_offset;
      break;
    }
  }
  // Reads the whole table, then the dynamic table, which even a stripped file has.
  auto const* const sections = file.at<ElfW(Shdr)>(header->e_shoff, header->e_shnum);
  for (auto const type : {SHT_SYMTAB, SHT_DYNSYM}) {
    for (std::size_t i = 0; sections != nullptr && i < header->e_shnum; ++i) {
      ElfW(Shdr) const& table = sections[i];
      if (table.sh_type != static_cast<ElfW(Word)>(type) || table.sh_link >= header->e_shnum) continue;
      std::size_t const count = table.sh_size / sizeof(ElfW(Sym));
      auto const* const symbols = file.at<ElfW(Sym)>(table.sh_offset, count);
      ElfW(Shdr) const& names = sections[table.sh_link];
      char const* const text = file.at<char>(names.sh_offset, names.sh_size);
      for (std::size_t n = 0; symbols != nullptr && text != nullptr && n < count; ++n) {
        ElfW(Sym) const& symbol = symbols[n];
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_name >= names.sh_size) continue;
        Place* place = std::lower_bound(first, last, symbol.st_value,
                                        [](Place const& a, std::uint64_t offset) { return a.offset < offset; });
        for (; place != last && place->offset - symbol.st_value < symbol.st_size; ++place) {
          if (!place->function.empty()) continue;
          place->function =
              keep({text + symbol.st_name, strnlen(text + symbol.st_name, names.sh_size - symbol.st_name)});
        }
      }
    }
  }
}

void CodePlaces::find_lines(std::uint64_t max_wait_ns) noexcept {
  std::uint64_t const deadline_ns = monotonic_ns() + max_wait_ns;
  Place* const end = places_ + count_;
  for (Place* first = places_; first != end;) {
    Place* const last = std::find_if(first, end, [first](Place const& other) { return other.file != first->file; });
    if (first->has_lines) find_lines_of_file(first, last, deadline_ns);
    first = last;
  }
}

void CodePlaces::find_lines_of_file(Place* first, Place* last, std::uint64_t deadline_ns) noexcept {
  char path[1024] = {};
  first->file.copy(path, sizeof(path) - 1);
  AddressLines lines(path);
  for (Place* place = first; place != last; ++place) lines.add(place->offset);
  lines.find(deadline_ns, [&](std::size_t n, std::string_view innermost, std::string_view outermost) {
    Place& place = first[n];
    place.line = keep_line(innermost);
    if (outermost != innermost) place.inlined = keep_line(outermost);
  });
}

// Keeps the line without `folder/../`.
std::string_view CodePlaces::keep_line(std::string_view line) noexcept {
  char text[1024];
  std::size_t size = line.copy(text, sizeof(text));
  for (;;) {
    std::string_view const now(text, size);
    std::size_t const up = now.find("/../", 1);
    std::size_t const before = up == now.npos ? now.npos : now.rfind('/', up - 1);
    if (before == now.npos) return keep(now);
    std::copy(text + up + 3, text + size, text + before);
    size -= up + 3 - before;
  }
}

CodePlaces::Place CodePlaces::place_of(std::uintptr_t address) const noexcept {
  Place const* const end = places_ + count_;
  Place const* const at =
      std::lower_bound(places_, end, address, [](Place const& a, std::uintptr_t b) { return a.address < b; });
  return at != end && at->address == address ? *at : Place{address, {}, address, {}, {}, {}, false};
}

}}  // namespace testlog::v1
