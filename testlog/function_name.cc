#include "testlog/function_name.h"

#include <algorithm>
#include <cstdint>

namespace testlog::inline v1 {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

struct Operator {
  std::string_view code, name;
};
constexpr Operator kOperators[] = {
    {"aN", "&="}, {"aS", "="}, {"aa", "&&"}, {"ad", "&"}, {"an", "&"}, {"cl", "()"}, {"cm", ","}, {"co", "~"},
    {"dV", "/="}, {"da", " delete[]"}, {"de", "*"}, {"dl", " delete"}, {"dv", "/"}, {"eO", "^="}, {"eo", "^"},
    {"eq", "=="}, {"ge", ">="}, {"gt", ">"}, {"ix", "[]"}, {"lS", "<<="}, {"le", "<="}, {"ls", "<<"}, {"lt", "<"},
    {"mI", "-="}, {"mL", "*="}, {"mi", "-"}, {"ml", "*"}, {"mm", "--"}, {"na", " new[]"}, {"ne", "!="}, {"ng", "-"},
    {"nt", "!"}, {"nw", " new"}, {"oR", "|="}, {"oo", "||"}, {"or", "|"}, {"pL", "+="}, {"pl", "+"}, {"pm", "->*"},
    {"pp", "++"}, {"ps", "+"}, {"pt", "->"}, {"rM", "%="}, {"rS", ">>="}, {"rm", "%"}, {"rs", ">>"}, {"ss", "<=>"},
};

// Reads a mangled name from its beginning.
class Reader {
 public:
  explicit Reader(std::string_view text) noexcept : rest_(text) {}

  bool at_end() const noexcept { return rest_.empty(); }
  char next() const noexcept { return rest_.empty() ? '\0' : rest_.front(); }
  bool contains(std::string_view text) const noexcept { return rest_.find(text) != rest_.npos; }
  bool skip(std::string_view text) noexcept {
    bool const has = rest_.starts_with(text);
    if (has) rest_.remove_prefix(text.size());
    return has;
  }
  void skip_any_of(std::string_view characters) noexcept {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(characters), rest_.size()));
  }
  // Such as `4Pool`; empty if it is none.
  std::string_view identifier() noexcept {
    std::size_t size = 0;
    for (; is_digit(next()); rest_.remove_prefix(1))
      size = std::min(size * 10 + static_cast<std::size_t>(next() - '0'), rest_.size());
    if (size > rest_.size()) return {};
    std::string_view const name = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return name;
  }
  std::string_view operator_name() noexcept {
    for (Operator const& one : kOperators) {
      if (skip(one.code)) return one.name;
    }
    return {};
  }
  // Skips template arguments, from after their I to after their E.
  bool skip_template_arguments() noexcept;

 private:
  bool skip_through(char c) noexcept {
    std::size_t const at = rest_.find(c);
    if (at == rest_.npos) return false;
    rest_.remove_prefix(at + 1);
    return true;
  }
  bool skip_literal() noexcept;

  std::string_view rest_;
};

// After the L: `i5E`, `b1E`, `Pv0E`, `N4pool4ModeE1E`.
bool Reader::skip_literal() noexcept {
  skip_any_of("PRK");
  if (next() == '_') return false;
  if (is_digit(next())) {
    if (identifier().empty()) return false;
  } else if (skip("N")) {
    if (!skip("St") && skip("S") && !skip_through('_')) return false;
    while (is_digit(next())) {
      if (identifier().empty()) return false;
    }
    if (!skip("E")) return false;
  } else if (next() >= 'a' && next() <= 'z') {
    rest_.remove_prefix(1);
  } else {
    return false;
  }
  return skip_through('E');
}

bool Reader::skip_template_arguments() noexcept {
  std::uint64_t lambdas = 0;  // a bit for each depth: what ends there is followed by a number
  unsigned depth = 1;
  while (depth > 0) {
    if (at_end() || depth >= 60) return false;
    if (is_digit(next())) {
      if (identifier().empty()) return false;
    } else if (skip("L")) {
      if (!skip_literal()) return false;
    } else if (skip("Ut") || skip("T") || skip("A")) {
      if (!skip_through('_')) return false;
    } else if (skip("Ul")) {
      lambdas |= std::uint64_t{1} << ++depth;
    } else if (skip("S")) {
      if (next() >= 'a' && next() <= 'z') {
        rest_.remove_prefix(1);
      } else if (!skip_through('_')) {
        return false;
      }
    } else if (skip("N") || skip("I") || skip("X") || skip("F") || skip("J") || skip("Z") || skip("DT") || skip("Dt")) {
      ++depth;
    } else if (skip("E")) {
      std::uint64_t const bit = std::uint64_t{1} << depth--;
      if ((lambdas & bit) != 0 && !skip_through('_')) return false;
      lambdas &= ~bit;
    } else {
      rest_.remove_prefix(1);
    }
  }
  return true;
}

// Returns false if the name is not understood; what was appended until then must be dropped.
bool append_readable(std::string_view mangled, AppendPiece append, void* context) noexcept {
  Reader reader(mangled);
  if (!reader.skip("_Z")) return false;
  bool const is_local = reader.skip("Z");
  bool const is_lambda = reader.contains("Ul") || reader.contains("$_");  // of GCC, of Clang
  if (is_local && !is_lambda) return false;
  bool const is_nested = reader.skip("N");
  if (is_nested) reader.skip_any_of("KVrRO");
  std::string_view last;
  auto const add = [&](std::string_view part) {
    if (!last.empty()) append(context, "::");
    append(context, part);
  };
  if (reader.skip("St")) add("std"), last = "std";
  bool any = false;
  do {
    reader.skip("L");  // not visible elsewhere
    if (is_digit(reader.next())) {
      std::string_view const name = reader.identifier();
      if (name.empty()) return false;
      add(name.starts_with("_GLOBAL__N") ? std::string_view("(anonymous namespace)") : name);
      last = name;
    } else if (any && (reader.skip("C1") || reader.skip("C2"))) {
      add(last);
    } else if (any && (reader.skip("D0") || reader.skip("D1") || reader.skip("D2"))) {
      add("~");
      append(context, last);
    } else if (std::string_view const name = reader.operator_name(); !name.empty()) {
      add("operator");
      append(context, name);
      last = name;
    } else {
      return false;
    }
    any = true;
    while (reader.skip("B")) (void)reader.identifier();  // an ABI tag
    if (!reader.skip("I")) continue;
    append(context, last.ends_with("<") ? " <...>" : "<...>");
    if (!reader.skip_template_arguments()) return false;
  } while (is_nested && !reader.skip("E") && !reader.at_end());
  if (is_local) append(context, "::{lambda}");
  return true;
}

}  // namespace

void append_function_name(std::string_view mangled, AppendPiece append, void* context) noexcept {
  bool const is_readable = append_readable(mangled, [](void*, std::string_view) {}, nullptr);
  if (!is_readable) return append(context, mangled);
  append_readable(mangled, append, context);
}

}  // namespace testlog::inline v1
