#include "testlog/run/function_name.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>

#include "tracing_core/support/characters.h"
#include "tracing_core/support/short_text.h"

namespace testlog { inline namespace v1 {
namespace {

using tracing::support::is_digit;

struct Operator {
  std::string_view code, name;
};
constexpr Operator kOperators[] = {
    {"aN", "&="},     {"aS", "="},   {"aa", "&&"},        {"ad", "&"},   {"an", "&"},       {"cl", "()"},  {"cm", ","},
    {"co", "~"},      {"dV", "/="},  {"da", " delete[]"}, {"de", "*"},   {"dl", " delete"}, {"dv", "/"},   {"eO", "^="},
    {"eo", "^"},      {"eq", "=="},  {"ge", ">="},        {"gt", ">"},   {"ix", "[]"},      {"lS", "<<="}, {"le", "<="},
    {"ls", "<<"},     {"lt", "<"},   {"mI", "-="},        {"mL", "*="},  {"mi", "-"},       {"ml", "*"},   {"mm", "--"},
    {"na", " new[]"}, {"ne", "!="},  {"ng", "-"},         {"nt", "!"},   {"nw", " new"},    {"oR", "|="},  {"oo", "||"},
    {"or", "|"},      {"pL", "+="},  {"pl", "+"},         {"pm", "->*"}, {"pp", "++"},      {"ps", "+"},   {"pt", "->"},
    {"rM", "%="},     {"rS", ">>="}, {"rm", "%"},         {"rs", ">>"},  {"ss", "<=>"},
};

// Conversions of a class to fundamental types.
constexpr Operator kConversions[] = {
    {"cvb", " bool"}, {"cvc", " char"},     {"cvd", " double"}, {"cvf", " float"},
    {"cvi", " int"},  {"cvj", " unsigned"}, {"cvl", " long"},   {"cvm", " unsigned long"},
};

// Reads a mangled name from its beginning.
class Reader {
 public:
  explicit Reader(std::string_view text) noexcept : rest_(text) {}

  bool at_end() const noexcept { return rest_.empty(); }
  char next() const noexcept { return rest_.empty() ? '\0' : rest_.front(); }
  bool skip(std::string_view text) noexcept {
    bool const has = rest_.starts_with(text);
    if (has) rest_.remove_prefix(text.size());
    return has;
  }
  void skip_any_of(std::string_view characters) noexcept {
    rest_ = tracing::support::without_leading(rest_, characters);
  }
  // Reads an identifier such as `4Pool`; returns an empty text if none is there.
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
    for (auto const& table : {std::span<Operator const>(kOperators), std::span<Operator const>(kConversions)}) {
      for (Operator const& one : table) {
        if (skip(one.code)) return one.name;
      }
    }
    return {};
  }
  // Skips template arguments, from after their I to after their E, or the parameters of a function in a local name.
  // Calls `on_local(reader)` after each Z, which moves the reader past the local name or returns false.
  template <class F>
  bool skip_arguments(F&& on_local) noexcept;
  bool skip_arguments() noexcept {
    return skip_arguments([](Reader&) { return false; });
  }
  // Reads the number of a lambda, after the E of its parameters: `_` is 1, `0_` is 2. Returns zero if the number is
  // missing.
  std::uint64_t lambda_number() noexcept {
    std::uint64_t number = 0;
    bool const is_first = skip("_");
    for (; !is_first && is_digit(next()) && number < 1'000'000; rest_.remove_prefix(1))
      number = number * 10 + static_cast<std::uint64_t>(next() - '0');
    return is_first ? 1 : skip("_") ? number + 2 : 0;
  }
  // Skips `S_` or `S1_`, which stand for an earlier name.
  bool skip_substitution() noexcept {
    std::size_t const end = rest_.find('_');
    bool const is_one =
        rest_.starts_with("S") && end != rest_.npos &&
        rest_.substr(1, end - 1).find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == rest_.npos;
    if (is_one) rest_.remove_prefix(end + 1);
    return is_one;
  }

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

// Skips a literal, after its L: `i5E`, `b1E`, `Pv0E`, `N4pool4ModeE1E`.
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

template <class F>
bool Reader::skip_arguments(F&& on_local) noexcept {
  std::uint64_t lambdas = 0;  // a bit for each depth: the lambda that ends there is followed by a number
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
    } else if (skip("Z")) {
      if (!on_local(*this)) ++depth;
    } else if (skip("N") || skip("I") || skip("X") || skip("F") || skip("J") || skip("DT") || skip("Dt")) {
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

// Appends the name at which a reader is, in readable form. Its functions return false if they do not understand the
// name; the caller must then drop what they appended.
class Naming {
 public:
  Naming(AppendPiece append, void* context) noexcept : append_(append), context_(context) {}

  // Adds the name of a function, after `_Z` or after the Z of a local name.
  bool add_function(Reader& reader, unsigned depth = 0) noexcept {
    if (depth > kMaxDepth) return false;
    if (!reader.skip("Z")) return add_name(reader, depth, {});
    return add_function(reader, depth + 1) && add_local(reader, depth);
  }

 private:
  static constexpr unsigned kMaxDepth = 4;

  void add(std::string_view piece) noexcept { append_(context_, piece); }

  // Adds a name that is local to the function whose name was added: a lambda, or something in a class.
  bool add_local(Reader& reader, unsigned depth) noexcept {
    return reader.skip_arguments() && add_name(reader, depth, "::");
  }

  // How far add_name() has come.
  struct Progress {
    std::string_view separator;  // to be added before the next component
    std::string_view last{};     // the last identifier or operator
    bool is_lambda = false;      // the last identifier or lambda is a lambda
  };

  bool add_name(Reader& reader, unsigned depth, std::string_view separator) noexcept {
    bool const is_nested = reader.skip("N");
    if (is_nested) reader.skip_any_of("KVrRO");
    Progress progress{separator};
    if (reader.skip("St")) {
      add_separator(progress);
      add(progress.last = "std");
    } else if (is_nested && depth > 0 && reader.skip_substitution()) {
      add_separator(progress);
      add("...");
    }
    do {
      reader.skip("L");  // not visible elsewhere
      if (!add_component(reader, progress)) return false;
      while (reader.skip("B")) (void)reader.identifier();  // an ABI tag
      reader.skip("M");                                    // what follows belongs to the initialiser of a member
      if (reader.skip("I") && !add_template_arguments(reader, progress.last, depth)) return false;
    } while (is_nested && !reader.skip("E") && !reader.at_end());
    return true;
  }

  bool add_component(Reader& reader, Progress& progress) noexcept {
    std::string_view& last = progress.last;
    if (is_digit(reader.next())) {
      std::string_view const name = reader.identifier();
      if (name.empty()) return false;
      add_separator(progress);
      add_identifier(name, progress);
    } else if (reader.skip("Ul")) {
      std::uint64_t const number = reader.skip_arguments() ? reader.lambda_number() : 0;
      if (number == 0) return false;
      add_separator(progress);
      add_lambda(number);
      progress.is_lambda = true;
    } else if (!last.empty() && (reader.skip("C1") || reader.skip("C2"))) {
      add_separator(progress);
      add(last);
    } else if (!last.empty() && (reader.skip("D0") || reader.skip("D1") || reader.skip("D2"))) {
      add_separator(progress);
      add("~");
      add(last);
    } else if (progress.is_lambda && reader.skip("cl")) {
      // Adds nothing: a name of a lambda already implies its call operator.
    } else if (std::string_view const name = reader.operator_name(); !name.empty()) {
      add_separator(progress);
      add("operator");
      add(last = name);
    } else {
      return false;
    }
    return true;
  }

  void add_separator(Progress& progress) noexcept { add(std::exchange(progress.separator, "::")); }

  void add_identifier(std::string_view name, Progress& progress) noexcept {
    progress.is_lambda = name.starts_with("$_");  // Clang's name of a lambda
    if (progress.is_lambda) add("{lambda ");
    add(name.starts_with("_GLOBAL__N") ? std::string_view("(anonymous namespace)") : name);
    if (progress.is_lambda) add("}");
    progress.last = name;
  }

  void add_lambda(std::uint64_t number) noexcept {
    char digits[20];
    char* const end = std::to_chars(digits, std::end(digits), number).ptr;
    add("{lambda#");
    add({digits, static_cast<std::size_t>(end - digits)});
    add("}");
  }

  // Adds only the lambdas, each with its enclosing function.
  bool add_template_arguments(Reader& reader, std::string_view last, unsigned depth) noexcept {
    add(last.ends_with("<") ? " <" : "<");
    bool any = false;
    bool const is_understood = reader.skip_arguments([&](Reader& local) {
      Naming dry([](void*, std::string_view) {}, nullptr);
      Reader after = local;
      if (!dry.add_function(after, depth + 1) || !dry.add_local(after, depth + 1)) return false;
      if (any) add(", ");
      any = true;
      return add_function(local, depth + 1) && add_local(local, depth + 1);
    });
    add(any ? ">" : "...>");
    return is_understood;
  }

  AppendPiece const append_;
  void* const context_;
};

bool append_readable(std::string_view mangled, AppendPiece append, void* context) noexcept {
  Reader reader(mangled);
  return reader.skip("_Z") && Naming(append, context).add_function(reader);
}

}  // namespace

void append_function_name(std::string_view mangled, AppendPiece append, void* context) noexcept {
  bool const is_readable = append_readable(
      mangled, [](void*, std::string_view) {}, nullptr);
  if (!is_readable) return append(context, mangled);
  append_readable(mangled, append, context);
}

}}  // namespace testlog::v1
