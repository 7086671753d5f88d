#include "cuda_cpu/ptx/source_lines.h"

#include <cxxabi.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <system_error>

namespace cuda_cpu::ptx {

namespace {

// Removes the unit that nvcc -rdc=true puts before the names that are internal to it:
// __nv_static_<length>_<unit>_<name>.
std::string without_unit(std::string const& name) {
  constexpr std::string_view kPrefix = "__nv_static_";
  if (!name.starts_with(kPrefix)) return name;
  std::size_t length = 0;
  auto const [end, error] = std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), length);
  auto const begin = static_cast<std::size_t>(end - name.data());
  return error == std::errc() && name.size() > 2 + begin && length <= name.size() - 2 - begin
             ? name.substr(begin + 2 + length)
             : name;
}

}  // namespace

std::string demangled(std::string const& symbol) {
  std::string const name = without_unit(symbol);
  if (!name.starts_with("_Z")) return name;  // the demangler would turn "f" into "float"
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> const text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  if (status != 0) return name;
  // Only the names of templates begin with the type that they return, which is void for a kernel.
  std::string_view readable = text.get();
  if (readable.starts_with("void ")) readable.remove_prefix(5);
  // nvcc puts the variables of an anonymous namespace into one more namespace, _INTERNAL_<unit>.
  std::size_t const scope = readable.find("::");
  if (readable.starts_with("_INTERNAL_") && scope != readable.npos) readable.remove_prefix(scope + 2);
  return std::string(readable);
}

std::vector<SourceLine> SourceTable::lines_of(std::int32_t place) const {
  constexpr std::size_t kMaxLines = 32;  // limit, since a text may claim any depth
  std::vector<SourceLine> lines;
  while (place >= 0 && lines.size() < kMaxLines) {
    Place const& at = places_[static_cast<std::size_t>(place)];
    auto const file = files_.find(at.file);
    lines.push_back({file == files_.end() ? "file " + std::to_string(at.file) : file->second, at.line,
                     at.function < 0 ? "" : demangled(functions_[static_cast<std::size_t>(at.function)])});
    place = at.inlined_at;
  }
  return lines;
}

namespace {

// Returns true for a file in a folder that nvcc itself searches: /usr/local/cuda/include,
// .../targets/x86_64-linux/include, or the include folder of a package of pip.
bool is_of_toolkit(SourceLine const& at) {
  for (char const* const folder : {"/targets/", "/usr/local/cuda", "/nvidia/cu"}) {
    std::size_t const begin = at.file.find(folder);
    if (begin != at.file.npos && at.file.find("/include/", begin + 1) != at.file.npos) return true;
  }
  return false;
}

std::string line_text(SourceLine const& at) {
  return at.file.substr(at.file.rfind('/') + 1) + ":" + std::to_string(at.line);
}

}  // namespace

std::string to_string(std::span<SourceLine const> lines) {
  if (lines.empty()) return "";
  auto const own = std::ranges::find_if_not(lines, is_of_toolkit);
  bool const steps_back = own != lines.begin() && own != lines.end();
  auto const first = steps_back ? own : lines.begin();
  std::string text = line_text(*first) + (steps_back ? " (in " + line_text(lines.front()) + ")" : "");
  for (auto at = first + 1; at != lines.end(); ++at) text += ", inlined at " + line_text(*at);
  return text;
}

}  // namespace cuda_cpu::ptx
