#include "cuda_cpu/ptx/source_reader.h"

#include <optional>
#include <utility>

#include "cuda_cpu/ptx/literal.h"

namespace cuda_cpu::ptx {

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
