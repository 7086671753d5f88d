#include "cuda_tests/ptx/parse.h"

#include <algorithm>
#include <utility>

#include "cuda_tests/ptx/builder.h"

namespace cuda_tests::ptx {
namespace {

struct Target {
  std::string_view name;
  unsigned number;
  unsigned version;  // of PTX, in tenths, that first knew it
};
constexpr Target kTargets[] = {{"75", 75, 63},    {"80", 80, 70},    {"86", 86, 71},    {"87", 87, 74},    {"88", 88, 90},
                               {"89", 89, 78},    {"90", 90, 78},    {"90a", 90, 80},   {"100", 100, 86},  {"100a", 100, 86},
                               {"100f", 100, 88}, {"101", 101, 86},  {"101a", 101, 86}, {"101f", 101, 88}, {"103", 103, 88},
                               {"103a", 103, 88}, {"103f", 103, 88}, {"110", 110, 90},  {"110a", 110, 90}, {"110f", 110, 90},
                               {"120", 120, 87},  {"120a", 120, 87}, {"120f", 120, 88}, {"121", 121, 88},  {"121a", 121, 88},
                               {"121f", 121, 88}};
constexpr unsigned kVersions[] = {63, 64, 65, 70, 71, 72, 73, 74, 75, 76, 77, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88};
constexpr unsigned kFirstOfOurs =
    90;  // this one and later ones are taken to bring nothing that changes the meaning of old text

constexpr unsigned kMostThreads = 1024;

bool is_linkage(Token const& token) {
  return token.text == ".visible" || token.text == ".weak" || token.text == ".common" || token.text == ".extern";
}

}  // namespace

void ModuleBuilder::header() {
  if (!cursor.accept(".version")) cursor.fail("a module begins with .version");
  Token const& text = cursor.expect(TokenKind::number, "a version");
  module->version_ = text.text;
  if (text.text.size() == 3 && text.text[1] == '.' && text.text[2] >= '0' && text.text[2] <= '9') {
    version = static_cast<unsigned>((text.text[0] - '0') * 10 + (text.text[2] - '0'));
  }
  if (version < kFirstOfOurs && !std::ranges::binary_search(kVersions, version)) cursor.fail(text, "this is no version of PTX");
  if (!cursor.accept(".target")) cursor.fail(".target is expected here");
  Token const& name = cursor.name();
  module->target_ = name.text;
  std::string_view const digits = name.text.starts_with("sm_") ? name.text.substr(3) : "";
  auto const* const found = std::ranges::find(kTargets, digits, &Target::name);
  if (found == std::end(kTargets)) cursor.fail(name, "this is no target that is known here");
  if (version < found->version) cursor.fail(name, "this version of PTX does not know this target");
  target = found->number;
  specific = digits.back() < '0' || digits.back() > '9';
  while (cursor.accept(',')) {
    if (Token const& option = cursor.name(); option.text != "debug")
      cursor.fail(option, "this option of targets is not supported");
  }
  if (!cursor.accept(".address_size")) cursor.fail(".address_size is expected here");
  Token const& size = cursor.peek();
  if (cursor.integer() != 64) cursor.fail(size, "only addresses of 64 bits are supported");
}

std::int32_t ModuleBuilder::find_function(std::string_view name) const noexcept {
  auto const found = std::ranges::find(module->functions_, name, &Function::name);
  return found == module->functions_.end() ? -1 : static_cast<std::int32_t>(found - module->functions_.begin());
}

std::int32_t ModuleBuilder::find_variable(std::string_view name) const noexcept {
  auto const found = std::ranges::find(module->variables_, name, &Variable::name);
  return found == module->variables_.end() ? -1 : static_cast<std::int32_t>(found - module->variables_.begin());
}

void ModuleBuilder::declaration() {
  if (cursor.accept(".file")) return cursor.skip_file();
  if (cursor.accept(".loc")) return cursor.skip_location();
  if (cursor.accept(".pragma")) return cursor.skip_texts();
  if (cursor.accept(".section")) {
    cursor.take();
    return cursor.skip_braces();
  }
  bool is_extern = false;
  if (is_linkage(cursor.peek())) is_extern = cursor.take().text == ".extern";
  if (cursor.accept(".entry")) return function(true, is_extern);
  if (cursor.accept(".func")) return function(false, is_extern);
  Space space = Space::global;
  if (cursor.accept(".const")) space = Space::constant;
  else if (cursor.accept(".shared")) space = Space::shared;
  else if (!cursor.accept(".global")) cursor.fail("a declaration is expected here");
  variable(space, is_extern);
}

void ModuleBuilder::variable(Space space, bool is_extern) {
  Token const at = cursor.peek();
  auto const begin = cursor.place();
  Variable variable;
  try {
    variable = read_variable(cursor, space, is_extern);
    cursor.expect(';');
    check_addresses(variable, at);
  } catch (Unsupported const& what) {
    // Kept by its name, which is the first word, so that whoever uses it is refused.
    cursor.go_back(begin);
    while (cursor.peek().kind != TokenKind::word && !cursor.peek().is(';') && !cursor.at_end()) cursor.take();
    variable = {};
    variable.space = space;
    variable.name = cursor.name().text;
    variable.refusal = what.refusal;
    cursor.skip_statement();
  }
  auto const known = find_variable(variable.name);
  if (known < 0 && find_function(variable.name) < 0) variables().push_back(std::move(variable));
  else if (known < 0 || !is_extern) cursor.fail(at, quoted(variable.name) + " is declared twice");
}

// What a variable holds at the start may be the address of a global or constant one before it.
void ModuleBuilder::check_addresses(Variable& variable, Token const& at) const {
  for (auto const& relocation : variable.relocations) {
    auto const found = find_variable(relocation.symbol);
    if (found < 0 && find_function(relocation.symbol) < 0) cursor.fail(at, "there is no variable " + quoted(relocation.symbol));
    if (variable.refusal) continue;
    if (found < 0) {
      variable.refusal = Unsupported(at.line, "a function's address in " + quoted(variable.name)).refusal;
      continue;
    }
    auto const& named = module->variables_[static_cast<std::size_t>(found)];
    if (named.space == Space::shared) cursor.fail(at, quoted(relocation.symbol) + " has no address before a block begins");
    variable.refusal = named.refusal;
  }
}

std::vector<Parameter> ModuleBuilder::parameters(std::vector<Variable>* frame) {
  std::vector<Parameter> all;
  std::uint32_t end = 0;
  cursor.expect('(');
  if (cursor.accept(')')) return all;
  do {
    Token const at = cursor.peek();
    if (cursor.accept(".reg")) throw Unsupported(at.line, "a parameter in a register");
    if (!cursor.accept(".param")) cursor.fail(".param is expected here");
    Type const type = find_type(cursor.peek().text.substr(std::min<std::size_t>(1, cursor.peek().text.size())));
    Variable variable = read_variable(cursor, Space::param, false);
    if (std::ranges::find(all, variable.name, &Parameter::name) != all.end())
      cursor.fail(at, quoted(variable.name) + " is declared twice");
    std::uint32_t const begin = (end + variable.align_bytes - 1) / variable.align_bytes * variable.align_bytes;
    if (begin + variable.size_bytes > 32764) cursor.fail(at, "parameters take more than 32764 bytes");
    auto const size = static_cast<std::uint32_t>(variable.size_bytes);
    all.push_back({variable.name, type, begin, size, variable.align_bytes});
    end = begin + size;
    if (frame != nullptr) frame->push_back(std::move(variable));
  } while (cursor.accept(','));
  cursor.expect(')');
  return all;
}

void ModuleBuilder::function_directives(Function& function) {
  while (cursor.peek().kind == TokenKind::directive) {
    Token const at = cursor.take();
    if (at.text == ".maxntid" || at.text == ".reqntid") {
      auto& sizes = at.text == ".maxntid" ? function.max_ntid : function.req_ntid;
      sizes = {1, 1, 1};
      std::size_t i = 0;
      do {
        Token const& number = cursor.peek();
        std::uint64_t const size = cursor.integer();
        if (i == 3 || size == 0 || size > kMostThreads) cursor.fail(number, "this is no size of a block");
        sizes[i++] = static_cast<std::uint32_t>(size);
      } while (cursor.accept(','));
    } else if (at.text == ".minnctapersm" || at.text == ".maxnctapersm" || at.text == ".maxnreg") {
      cursor.integer();
    } else if (at.text == ".pragma") {
      cursor.skip_texts();
    } else if (at.text != ".noreturn") {
      static constexpr std::string_view kOthers[] = {
          ".reqnctapercluster", ".maxclusterrank",       ".explicitcluster", ".blocksareclusters",
          ".abi_preserve",      ".abi_preserve_control", ".unique",          ".retaddr_allocno"};
      if (std::ranges::find(kOthers, at.text) == std::end(kOthers)) cursor.fail(at, "this is no directive of a function");
      throw Unsupported(at.line, quoted(at.text));
    }
  }
}

void ModuleBuilder::keep(Function function, Token const& at) {
  auto const known = find_function(function.name);
  if (known < 0) return functions().push_back(std::move(function));
  auto& before = functions()[static_cast<std::size_t>(known)];
  auto const same = [](Parameter const& a, Parameter const& b) {
    return a.type == b.type && a.size_bytes == b.size_bytes && a.align_bytes == b.align_bytes;
  };
  // Of a refused one not all parameters are known. Calls were checked against what was declared before.
  if (before.refusal && !function.refusal) function.refusal = before.refusal;
  if (!function.refusal &&
      (before.is_entry != function.is_entry || !std::ranges::equal(before.parameters, function.parameters, same) ||
       !std::ranges::equal(before.results, function.results, same))) {
    cursor.fail(at, quoted(function.name) + " is declared in another way before");
  }
  if (function.has_body) before = std::move(function);
}

void ModuleBuilder::function(bool is_entry, bool) {
  Function made;
  made.is_entry = is_entry;
  made.line = cursor.peek().line;
  Token const at = cursor.peek();
  try {
    if (!is_entry && cursor.peek().is('(')) made.results = parameters(&made.variables);
    Token const& name = cursor.name();
    made.name = name.text;
    auto const known = find_function(name.text);
    if (known >= 0 && functions()[static_cast<std::size_t>(known)].has_body)
      cursor.fail(name, quoted(name.text) + " is defined twice");
    if (find_variable(name.text) >= 0) cursor.fail(name, quoted(name.text) + " is declared twice");
    if (cursor.peek().is('(')) made.parameters = parameters(is_entry ? nullptr : &made.variables);
    function_directives(made);
  } catch (Unsupported const& why) {
    made.refusal = why.refusal;
    made.refused_declaration = true;
    while (!cursor.at_end() && !cursor.peek().is('{') && !cursor.peek().is(';')) {
      if (made.name.empty() && cursor.accept(')') && cursor.peek().kind == TokenKind::word) made.name = cursor.take().text;
      else cursor.take();
    }
  }
  if (!made.parameters.empty()) {
    auto const& last = made.parameters.back();
    made.parameter_bytes = last.offset_bytes + last.size_bytes;
  }
  if (cursor.accept(';')) return keep(std::move(made), at);
  made.has_body = true;
  // Known to its own body, which may call it.
  Function declared = made;
  declared.has_body = false;
  keep(std::move(declared), at);
  read_body(*this, made);
  keep(std::move(made), at);
}

std::shared_ptr<Module const> ModuleBuilder::run() {
  header();
  while (!cursor.at_end()) declaration();
  link_functions(functions(), variables());
  return module;
}

Parsed parse(std::string_view text) {
  try {
    return ModuleBuilder(text).run();
  } catch (ParseFailure const& failure) {
    return failure.diagnosis;
  } catch (Unsupported const& what) {
    return Diagnosis{what.refusal.line, 1, "", what.refusal.message};
  }
}

}  // namespace cuda_tests::ptx
