#include "testlog/stack_trace.h"

#include <elf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace testlog::inline v1 {
namespace {

std::uintptr_t interrupted_at(void const* context) noexcept {
  auto const& machine = static_cast<ucontext_t const*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return machine.pc;
#else
  return 0;
#endif
}

// A line of /proc/self/maps: 7f12-7f34 r-xp 00001000 08:01 1234   /lib/libc.so.6
struct Mapping {
  std::uintptr_t begin = 0, end = 0;
  std::uint64_t offset = 0;
  std::string_view path;

  explicit Mapping(std::string_view line) noexcept {
    char const* const last = line.data() + line.size();
    char const* at = std::from_chars(line.data(), last, begin, 16).ptr;
    if (at != last) at = std::from_chars(at + 1, last, end, 16).ptr;
    if (last - at > 6) (void)std::from_chars(at + 6, last, offset, 16);
    std::size_t const slash = line.find('/');
    if (slash != line.npos) path = line.substr(slash);
  }
};

// Calls `f(line)` for each line until it returns true. A line that does not fit is cut.
template <class F>
void for_each_line(char const* path, F&& f) noexcept {
  int const file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  char bytes[1024];
  std::size_t size = 0;
  for (ssize_t got; (got = read(file, bytes + size, sizeof(bytes) - size)) > 0;) {
    size += static_cast<std::size_t>(got);
    char const* begin = bytes;
    for (char const* end; (end = static_cast<char const*>(std::memchr(begin, '\n', static_cast<std::size_t>(
                                                                                       bytes + size - begin)))) != nullptr;
         begin = end + 1) {
      if (!f(std::string_view(begin, static_cast<std::size_t>(end - begin)))) continue;
      close(file);
      return;
    }
    size = static_cast<std::size_t>(bytes + size - begin);
    if (size == sizeof(bytes)) size = 0;
    std::memmove(bytes, begin, size);
  }
  close(file);
}

// An object in the file; null if the file is too short.
template <class T>
T const* at(char const* file, std::size_t size, std::uint64_t offset, std::uint64_t count = 1) noexcept {
  bool const fits = offset <= size && count <= (size - offset) / sizeof(T) && offset % alignof(T) == 0;
  return fits ? reinterpret_cast<T const*>(file + offset) : nullptr;
}

}  // namespace

void StackTrace::prepare() noexcept {
  void* one[1];
  (void)backtrace(one, 1);  // loads the unwinder
}

StackTrace::StackTrace(void const* context) noexcept {
  void* all[kMaxFrames + 8];
  int const count = backtrace(all, static_cast<int>(std::size(all)));
  void** const end = all + count;
  void** const first = std::find(all, end, reinterpret_cast<void*>(interrupted_at(context)));
  void** const begin = first == end ? all : first;
  count_ = std::min<std::size_t>(static_cast<std::size_t>(end - begin), kMaxFrames);
  std::copy_n(begin, count_, addresses_);
}

StackTrace::~StackTrace() { unmap(); }

StackTrace::Frame StackTrace::frame(std::size_t index) noexcept {
  // But for the first frame, addresses are those after the call, which may be those of another function.
  std::uintptr_t const address = reinterpret_cast<std::uintptr_t>(addresses_[index]) - (index == 0 ? 0 : 1);
  if (address < begin_ || address >= end_) map_module(address);
  if (file_ == nullptr) return {{}, address, {}};
  auto const* const header = at<ElfW(Ehdr)>(file_, file_size_, 0);
  if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return {{}, address, {}};
  std::uint64_t offset = address - begin_ + file_offset_;
  auto const* const segments = at<ElfW(Phdr)>(file_, file_size_, header->e_phoff, header->e_phnum);
  for (std::size_t i = 0; segments != nullptr && i < header->e_phnum; ++i) {
    ElfW(Phdr) const& segment = segments[i];
    if (segment.p_type != PT_LOAD || offset < segment.p_offset || offset - segment.p_offset >= segment.p_filesz) continue;
    offset += segment.p_vaddr - segment.p_offset;
    break;
  }
  std::string_view const path(path_, path_size_);
  return {path.substr(path.rfind('/') + 1), offset, function_at(offset)};
}

void StackTrace::map_module(std::uintptr_t address) noexcept {
  unmap();
  for_each_line("/proc/self/maps", [&](std::string_view line) {
    Mapping const mapping(line);
    if (address < mapping.begin || address >= mapping.end) return false;
    begin_ = mapping.begin;
    end_ = mapping.end;
    file_offset_ = mapping.offset;
    path_size_ = mapping.path.copy(path_, sizeof(path_) - 1);
    path_[path_size_] = 0;
    return true;
  });
  int const file = path_size_ == 0 ? -1 : open(path_, O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) return;
  file_size_ = static_cast<std::size_t>(status.st_size);
  void* const bytes = mmap(nullptr, file_size_, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  file_ = bytes == MAP_FAILED ? nullptr : static_cast<char const*>(bytes);
}

void StackTrace::unmap() noexcept {
  if (file_ != nullptr) munmap(const_cast<char*>(file_), file_size_);
  file_ = nullptr;
  begin_ = end_ = 0;
  path_size_ = 0;
}

// Looks at the whole table, or the dynamic one in a stripped file.
std::string_view StackTrace::function_at(std::uint64_t offset) const noexcept {
  auto const* const header = at<ElfW(Ehdr)>(file_, file_size_, 0);
  auto const* const sections = at<ElfW(Shdr)>(file_, file_size_, header->e_shoff, header->e_shnum);
  if (sections == nullptr) return {};
  for (auto const type : {SHT_SYMTAB, SHT_DYNSYM}) {
    for (std::size_t i = 0; i < header->e_shnum; ++i) {
      ElfW(Shdr) const& table = sections[i];
      if (table.sh_type != static_cast<ElfW(Word)>(type) || table.sh_link >= header->e_shnum) continue;
      std::size_t const count = table.sh_size / sizeof(ElfW(Sym));
      auto const* const symbols = at<ElfW(Sym)>(file_, file_size_, table.sh_offset, count);
      ElfW(Shdr) const& names = sections[table.sh_link];
      char const* const text = at<char>(file_, file_size_, names.sh_offset, names.sh_size);
      for (std::size_t n = 0; symbols != nullptr && text != nullptr && n < count; ++n) {
        ElfW(Sym) const& symbol = symbols[n];
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_name >= names.sh_size) continue;
        if (offset < symbol.st_value || offset - symbol.st_value >= symbol.st_size) continue;
        return {text + symbol.st_name, strnlen(text + symbol.st_name, names.sh_size - symbol.st_name)};
      }
    }
  }
  return {};
}

}  // namespace testlog::inline v1
