#include "cuda_cpu/ptx/link.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cuda_cpu/ptx/declarations.h"

namespace cuda_cpu::ptx {
namespace {

struct Failure {
  std::string message;
};

std::string unit_name(std::size_t unit) { return "translation unit " + std::to_string(unit + 1); }

// Returns 75 for "sm_75a", 90 for "9.0".
int digits_of(std::string_view text) noexcept {
  int number = 0;
  for (char const c : text)
    if (c >= '0' && c <= '9' && number < 100000) number = number * 10 + (c - '0');
  return number;
}

struct Unit {
  Declarations declarations;
  std::map<std::string_view, std::string> new_names;  // for internal names that other units have, too
  std::uint64_t file_offset = 0;                      // offset added to the numbers of the unit's source files
};

// Names a declaration: an index in the declarations of a unit.
struct Place {
  std::size_t unit = 0;
  std::size_t index = 0;
};

// A function or variable of the linked text.
struct Symbol {
  DeclarationKind kind = DeclarationKind::variable;
  Linkage linkage = Linkage::external;  // the definition's linkage if there is a definition
  std::optional<Place> definition;
  // True once its text is written: the prototype of a function, the definition or declaration of a variable.
  bool is_written = false;
};

class Linker {
 public:
  explicit Linker(std::span<std::string_view const> texts) {
    for (auto const text : texts) read(text);
    rename();
    each(DeclarationKind::function, [&](Place at) { add_symbol(at); });
    each(DeclarationKind::variable, [&](Place at) { add_symbol(at); });
    number_files();
  }

  std::string run() {
    header();
    each(DeclarationKind::pragma, [&](Place at) { write(at, Linkage::internal); });
    each(DeclarationKind::function, [&](Place at) { prototype(at); });
    each(DeclarationKind::variable, [&](Place at) { variable(at); });
    each(DeclarationKind::function, [&](Place at) {
      auto const& used = symbol(at).definition;
      if (used && used->unit == at.unit && used->index == at.index) write(at, symbol(at).linkage);
    });
    each(DeclarationKind::file, [&](Place at) { write(at, Linkage::internal); });
    each(DeclarationKind::line_strings, [&](Place at) { write(at, Linkage::internal); });
    return std::move(out_);
  }

 private:
  void read(std::string_view text) {
    try {
      units_.push_back({read_declarations(text), {}, 0});
    } catch (ParseFailure const& failure) {
      throw Failure{unit_name(units_.size()) + ", " + failure.diagnostic.to_string()};
    }
  }

  Declaration const& declaration(Place at) const { return units_[at.unit].declarations.all[at.index]; }

  template <class F>
  void each(DeclarationKind kind, F const& f) const {
    for (std::size_t unit = 0; unit < units_.size(); ++unit) {
      auto const& all = units_[unit].declarations.all;
      for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].kind == kind) f(Place{unit, i});
    }
  }

  void add_symbol(Place at) {
    auto const& made = declaration(at);
    auto& known = symbols_.try_emplace(std::string(new_name(at.unit, made.name)), Symbol{made.kind, made.linkage, {}})
                      .first->second;
    if (known.kind != made.kind)
      throw Failure{"'" + std::string(made.name) + "' is a function and a variable; one of them in " +
                    unit_name(at.unit)};
    if (!made.is_definition) return;
    bool const is_weak = made.linkage == Linkage::weak;
    if (known.definition && is_weak) return;
    if (known.definition && known.linkage != Linkage::weak)
      throw Failure{"multiple definitions of '" + std::string(made.name) + "', in " +
                    unit_name(known.definition->unit) + " and " + unit_name(at.unit)};
    known.definition = at;
    known.linkage = made.linkage;
  }

  std::string_view new_name(std::size_t unit, std::string_view name) const {
    auto const& new_names = units_[unit].new_names;
    auto const found = new_names.find(name);
    return found == new_names.end() ? name : std::string_view(found->second);
  }
  Symbol& symbol(Place at) { return symbols_.find(new_name(at.unit, declaration(at).name))->second; }

  void rename() {
    std::map<std::string_view, std::set<std::size_t>> units_of;  // the units that declare each name
    std::set<std::pair<std::size_t, std::string_view>> internal;
    for (std::size_t unit = 0; unit < units_.size(); ++unit) {
      auto const add = [&](std::string_view name, bool is_internal) {
        units_of[name].insert(unit);
        if (is_internal) internal.emplace(unit, name);
      };
      for (auto const& made : units_[unit].declarations.all)
        if (!made.name.empty()) add(made.name, made.linkage == Linkage::internal);
      for (auto const label : units_[unit].declarations.labels) add(label, true);
    }
    for (auto const& [unit, name] : internal) {
      if (units_of[name].size() == 1) continue;
      std::string made = std::string(name) + '$' + std::to_string(unit + 1);
      while (units_of.contains(made)) made += '$';
      units_[unit].new_names.emplace(name, std::move(made));
    }
  }

  void number_files() {
    std::uint64_t offset = 0;
    for (auto& unit : units_) {
      unit.file_offset = offset;
      for (auto const& made : unit.declarations.all)
        if (made.kind == DeclarationKind::file)
          offset = std::max(offset, unit.file_offset + number_of(unit.declarations.cursor.at(made.begin + 1)));
    }
  }

  static std::uint64_t number_of(Token const& token) noexcept {
    std::uint64_t number = 0;
    std::from_chars(token.text.data(), token.text.data() + token.text.size(), number);
    return std::min<std::uint64_t>(number, 1u << 30);
  }

  void header() {
    std::string_view version, target;
    for (auto const& unit : units_) {
      auto const& one = unit.declarations;
      if (version.empty() || digits_of(one.version) > digits_of(version)) version = one.version;
      auto const rank = [](std::string_view name) { return std::pair(digits_of(name), name.size()); };
      if (target.empty() || rank(one.target) > rank(target)) target = one.target;
    }
    out_ = ".version " + std::string(version) + "\n.target " + std::string(target) + "\n.address_size 64\n";
  }

  // Writes the prototype of a function once, with the linkage of its definition. All prototypes come first in the
  // result.
  void prototype(Place at) {
    auto& function = symbol(at);
    if (!declaration(at).is_definition && !std::exchange(function.is_written, true)) write(at, function.linkage);
  }

  // Writes a variable, after the variables that its initial values name.
  void variable(Place at) {
    auto& one = symbol(at);
    if (std::exchange(one.is_written, true)) return;
    if (!one.definition) return write(most_aligned(at), Linkage::external);
    at = *one.definition;
    for (auto i = declaration(at).begin; i < declaration(at).end; ++i) {
      Token const& token = units_[at.unit].declarations.cursor.at(i);
      if (token.kind != TokenKind::word) continue;
      auto const named = symbols_.find(new_name(at.unit, token.text));
      bool const is_variable = named != symbols_.end() && named->second.kind == DeclarationKind::variable;
      if (is_variable && named->second.definition) variable(*named->second.definition);
    }
    write(at, one.linkage);
  }

  // Returns the declaration with the greatest alignment among the declarations of dynamic shared memory under one name.
  Place most_aligned(Place best) const {
    each(DeclarationKind::variable, [&](Place at) {
      if (declaration(at).name == declaration(best).name && alignment_of(at) > alignment_of(best)) best = at;
    });
    return best;
  }
  std::uint64_t alignment_of(Place at) const {
    auto const& cursor = units_[at.unit].declarations.cursor;
    for (auto i = declaration(at).begin; i + 1 < declaration(at).end; ++i)
      if (cursor.at(i).text == ".align") return number_of(cursor.at(i + 1));
    return 0;
  }

  static std::string_view text_of(Linkage linkage) noexcept {
    switch (linkage) {
      case Linkage::internal: break;
      case Linkage::external: return ".extern ";
      case Linkage::visible: return ".visible ";
      case Linkage::weak: return ".weak ";
    }
    return "";
  }

  // Copies a declaration with its spaces, comments and lines.
  void write(Place at, Linkage linkage) {
    auto const& unit = units_[at.unit];
    auto const& cursor = unit.declarations.cursor;
    out_ += text_of(linkage);
    char const* copied = cursor.at(declaration(at).begin).text.data();
    for (auto i = declaration(at).begin; i < declaration(at).end; ++i) {
      Token const& token = cursor.at(i);
      bool const is_file = token.kind == TokenKind::number && unit.file_offset != 0 && names_file(cursor.at(i - 1));
      auto const renamed = token.kind == TokenKind::word ? unit.new_names.find(token.text) : unit.new_names.end();
      if (!is_file && renamed == unit.new_names.end()) continue;
      out_.append(copied, token.text.data());
      out_ += is_file ? std::to_string(unit.file_offset + number_of(token)) : renamed->second;
      copied = token.text.data() + token.text.size();
    }
    Token const& last = cursor.at(declaration(at).end - 1);
    out_.append(copied, last.text.data() + last.text.size() + (last.kind == TokenKind::text ? 1 : 0));
    out_ += '\n';
  }

  // Returns true if the number of a file follows the token.
  static bool names_file(Token const& token) noexcept {
    return token.text == ".loc" || token.text == ".file" || token.text == "inlined_at";
  }

  std::vector<Unit> units_;
  std::map<std::string, Symbol, std::less<>> symbols_;
  std::string out_;
};

}  // namespace

Linked link(std::span<std::string_view const> units) {
  if (units.size() == 1) return std::string(units.front());
  try {
    return Linker(units).run();
  } catch (Failure const& failure) {
    return LinkError{failure.message};
  }
}

}  // namespace cuda_cpu::ptx
