#include "cuda_cpu/ptx/source_lines.h"

#include <cxxabi.h>

#include <charconv>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <system_error>

#include "cuda_cpu/ptx/literal.h"
#include "cuda_cpu/ptx/source_reader.h"

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

std::string to_string(std::span<SourceLine const> lines) {
  std::string text;
  for (auto const& [file, line, function] : lines) {
    if (!text.empty()) text += ", inlined at ";
    text += file.substr(file.rfind('/') + 1) + ":" + std::to_string(line);
  }
  return text;
}

// Reads `1 "name.cu", 1700000000, 4096`.
void SourceReader::file() {
  std::uint64_t const number = cursor_.integer();
  table_.files_[number] = cursor_.expect(TokenKind::text, "a string").text;
  while (cursor_.accept(',')) cursor_.integer();
}

// Reads `1 20 3, function_name $L__info_string0+4, inlined_at 1 40 5`.
void SourceReader::location() {
  Key const at = key();
  SourceTable::Place place{at.file, static_cast<std::int32_t>(at.line), -1, -1};
  while (cursor_.accept(',')) {
    if (cursor_.accept("function_name")) {
      Label label{std::string(cursor_.name().text), 0};
      if (cursor_.accept('+')) label.offset = cursor_.integer();
      place.function = labels_.emplace(std::move(label), static_cast<std::int32_t>(labels_.size())).first->second;
    } else if (cursor_.accept("inlined_at")) {
      Key const outer = key();
      // The compiler wrote a location for `outer` before this one. It says where `outer` itself was inlined.
      auto const known = latest_.find(outer);
      place.inlined_at = known != latest_.end() ? known->second
                                                : index_of({outer.file, static_cast<std::int32_t>(outer.line), -1, -1});
    } else {
      cursor_.fail("expected 'function_name' or 'inlined_at'");
    }
  }
  // Line 0 marks code that the compiler does not attribute to a line.
  current_ = at.line == 0 ? -1 : index_of(place);
  if (current_ >= 0) latest_[at] = current_;
}

SourceReader::Key SourceReader::key() {
  std::uint64_t const file = cursor_.integer(), line = cursor_.integer();
  return {file, line & 0x7fffffff, cursor_.integer()};
}

std::int32_t SourceReader::index_of(SourceTable::Place const& place) {
  auto const [known, is_new] = indices_.emplace(place, static_cast<std::int32_t>(table_.places_.size()));
  if (is_new) table_.places_.push_back(place);
  return known->second;
}

// Reads `{ $L__info_string0: .b8 95,90,0 ... }`.
void SourceReader::strings() {
  cursor_.expect('{');
  while (!cursor_.at_end() && !cursor_.accept('}')) {
    Token const at = cursor_.take();
    if (at.kind == TokenKind::word && cursor_.accept(':'))
      begins_[std::string(at.text)] = bytes_.size();
    else if (auto const value = at.kind == TokenKind::number ? read_literal(at.text) : std::nullopt)
      bytes_ += static_cast<char>(value->bits);
  }
}

void SourceReader::finish() {
  table_.functions_.resize(labels_.size());
  for (auto const& [label, index] : labels_) {
    auto const begin = begins_.find(label.name);
    if (begin == begins_.end() || label.offset >= bytes_.size() - begin->second) continue;
    table_.functions_[static_cast<std::size_t>(index)] = bytes_.c_str() + begin->second + label.offset;
  }
}

}  // namespace cuda_cpu::ptx
