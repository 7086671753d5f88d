#include "cuda_cpu/cpu/caller_target.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tracing_core/emit/function_path.h"
#include "tracing_core/support/mutex.h"

namespace cuda_cpu::cpu {
namespace {

using tracing::support::MutexLock;

// The functions of an ELF file, sorted by address. The file stays mapped, and is never freed.
class Functions {
 public:
  explicit Functions(char const* path) {
    int const file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
      size_ = static_cast<std::size_t>(status.st_size);
      void* const bytes = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
      if (bytes != MAP_FAILED) bytes_ = static_cast<char const*>(bytes);
    }
    if (file >= 0) close(file);
    read_tables();
    std::ranges::sort(all_, {}, &Function::begin);
  }

  // Returns the mangled name of the function that has the address; empty if there is no symbol for it.
  std::string_view at(std::uint64_t address) const noexcept {
    auto const after = std::ranges::upper_bound(all_, address, {}, &Function::begin);
    if (after == all_.begin() || address - after[-1].begin >= after[-1].size) return {};
    return {after[-1].name, strnlen(after[-1].name, static_cast<std::size_t>(bytes_ + size_ - after[-1].name))};
  }

 private:
  struct Function {
    std::uint64_t begin;
    std::uint64_t size;
    char const* name;
  };

  // Returns objects in the file; null if the file is too short or the offset is not aligned.
  template <class T>
  T const* find(std::uint64_t offset, std::uint64_t count = 1) const noexcept {
    bool const fits =
        bytes_ != nullptr && offset <= size_ && count <= (size_ - offset) / sizeof(T) && offset % alignof(T) == 0;
    return fits ? reinterpret_cast<T const*>(bytes_ + offset) : nullptr;
  }

  // A stripped file has only the dynamic table.
  void read_tables() {
    auto const* const header = find<ElfW(Ehdr)>(0);
    if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
    auto const* const sections = find<ElfW(Shdr)>(header->e_shoff, header->e_shnum);
    for (auto const type : {SHT_SYMTAB, SHT_DYNSYM}) {
      for (std::size_t i = 0; sections != nullptr && i < header->e_shnum && all_.empty(); ++i) {
        ElfW(Shdr) const& table = sections[i];
        if (table.sh_type == static_cast<ElfW(Word)>(type) && table.sh_link < header->e_shnum)
          read(table, sections[table.sh_link]);
      }
    }
  }

  void read(ElfW(Shdr) const& table, ElfW(Shdr) const& names) {
    std::size_t const count = table.sh_size / sizeof(ElfW(Sym));
    auto const* const symbols = find<ElfW(Sym)>(table.sh_offset, count);
    char const* const text = find<char>(names.sh_offset, names.sh_size);
    for (std::size_t i = 0; symbols != nullptr && text != nullptr && i < count; ++i) {
      ElfW(Sym) const& symbol = symbols[i];
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_size > 0 && symbol.st_name < names.sh_size)
        all_.push_back({symbol.st_value, symbol.st_size, text + symbol.st_name});
    }
  }

  char const* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::vector<Function> all_;
};

// What is known of a return address.
struct Code {
  char const* target = nullptr;  // never freed
  bool is_of_a_library = false;  // which programs call to call CUDA: it is left out if there is other code
};

std::string demangled(std::string const& name) {
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> const text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? text.get() : name + "()";
}

std::string target_of_function(std::string_view function) {
  // A lambda of GCC belongs to a function or variable. Clang gives a lambda outside of functions a name, `solver::$_0`.
  function = function.substr(0, function.find("::{lambda"));
  if (auto const at = function.find("::$_"); at != function.npos) function = function.substr(0, at + 3);
  auto const parts = tracing::internal::parse_parts(function.data(), function.size());
  std::string target;
  for (std::size_t i = 0; i < parts.target_parts(); ++i) target.append(i == 0 ? "" : "::").append(parts.part(i));
  return target;
}

// True for the functions of CUDA, and for what nvcc and the headers of CUDA put before them: stubs of kernels, and
// overloads such as cudaMalloc<float>.
bool is_of_cuda(std::string_view function) noexcept {
  if (function.starts_with("cudaError ")) function.remove_prefix(10);  // a template's result
  for (std::string_view const prefix : {"cuda", "cu"})
    if (function.size() > prefix.size() && function.starts_with(prefix) && function[prefix.size()] >= 'A' &&
        function[prefix.size()] <= 'Z')
      return true;
  return function.find("__device_stub__") != function.npos || function.starts_with("__cuda");
}

// Returns the library of a target: `thrust` for `thrust::THRUST_300001_SM_750_NS::detail`; empty for other targets.
std::string_view library_of(std::string_view target) noexcept {
  for (std::string_view const library : {"std", "__gnu_cxx", "thrust", "cub", "cuda", "cooperative_groups"})
    if (target.starts_with(library) && (target.size() == library.size() || target[library.size()] == ':'))
      return library;
  return {};
}

// Returns `solver` for `/usr/lib/libsolver.so.1`.
std::string_view stem(std::string_view path) noexcept {
  path = path.substr(path.rfind('/') + 1);
  if (path.starts_with("lib") && path.find(".so") != path.npos) path.remove_prefix(3);
  return path.substr(0, path.find('.', 1));
}

class Targets {
 public:
  Code of(std::uintptr_t address) {
    MutexLock const lock(mutex_);
    auto const [place, is_new] = known_.try_emplace(address);
    if (is_new) place->second = find(address);
    return place->second;
  }

 private:
  Code find(std::uintptr_t address) TRACING_REQUIRES(mutex_) {
    Dl_info info{};
    link_map* map = nullptr;
    if (dladdr1(reinterpret_cast<void*>(address - 1), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0)
      return {};
    std::string path = map == nullptr || map->l_name == nullptr ? "" : map->l_name;
    bool const is_program = path.empty();
    if (is_program) {
      char link[4096] = {};
      if (readlink("/proc/self/exe", link, sizeof link - 1) > 0) path = link;
    }
    Dl_info own{};
    bool const is_own = dladdr(reinterpret_cast<void*>(&is_of_cuda), &own) != 0 && own.dli_fbase == info.dli_fbase;
    if ((is_own && !is_program) || stem(path) == "c") return {keep(stem(path)), true};
    auto const functions = files_.try_emplace(path, path.c_str()).first;
    auto const base = map == nullptr ? 0 : map->l_addr;
    std::string const function(functions->second.at(address - 1 - base));
    if (function.empty()) return {keep(stem(path)), false};
    std::string const name = demangled(function);
    std::string const target = target_of_function(name);
    if (target.empty()) return {keep(stem(path)), is_of_cuda(name)};
    std::string_view const library = library_of(target);
    return library.empty() ? Code{keep(target), false} : Code{keep(library), true};
  }

  char const* keep(std::string_view target) TRACING_REQUIRES(mutex_) { return targets_.emplace(target).first->c_str(); }

  tracing::support::Mutex mutex_;
  std::unordered_map<std::uintptr_t, Code> known_ TRACING_GUARDED_BY(mutex_);
  std::unordered_map<std::string, Functions> files_ TRACING_GUARDED_BY(mutex_);
  std::set<std::string, std::less<>> targets_ TRACING_GUARDED_BY(mutex_);
};

Code code_at(std::uintptr_t address) {
  struct Known {
    std::uintptr_t address = 0;
    Code code;
  };
  constinit static thread_local std::array<Known, 64> recent{};
  Known& known = recent[(address * 0x9e3779b97f4a7c15u >> 58) % recent.size()];
  if (known.address != address) {
    static auto& targets = *new Targets;
    known = {address, targets.of(address)};
  }
  return known.code;
}

}  // namespace

char const* target_of(CallSite const& site) noexcept {
  try {
    char const* of_library = nullptr;
    for (std::uintptr_t const address : site.frames) {
      if (address == 0) break;
      Code const code = code_at(address);
      if (code.target != nullptr && !code.is_of_a_library) return code.target;
      if (of_library == nullptr) of_library = code.target;
    }
    return of_library;
  } catch (...) {  // std::bad_alloc
    return nullptr;
  }
}

}  // namespace cuda_cpu::cpu
