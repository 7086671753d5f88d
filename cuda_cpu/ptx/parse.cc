#include "cuda_cpu/ptx/parse.h"

#include <algorithm>
#include <utility>

#include "cuda_cpu/ptx/builder.h"

namespace cuda_cpu::ptx {
namespace {

constexpr unsigned kMaxThreads = 1024;
constexpr std::uint64_t kMaxParameterBytes = 32764;

}  // namespace

void ModuleBuilder::header() {
  if (!cursor.accept(".version")) cursor.fail("expected .version");
  module->version_ = cursor.expect(TokenKind::number, "a version").text;
  if (!cursor.accept(".target")) cursor.fail("expected .target");
  Token const& target = cursor.name();
  if (!target.text.starts_with("sm_")) cursor.fail(target, "expected a target such as sm_90");
  module->target_ = target.text;
  while (cursor.accept(',')) cursor.name();  // for instance `debug`
  if (!cursor.accept(".address_size")) cursor.fail("expected .address_size");
  Token const& size = cursor.peek();
  if (cursor.integer() != 64) cursor.fail(size, "expected 64");
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
  cursor.begin_statement();
  if (cursor.accept(".file")) return sources.file();
  if (cursor.accept(".loc")) return sources.location();
  if (cursor.accept(".pragma")) return cursor.skip_strings();
  if (cursor.accept(".section")) {
    return cursor.take().text == ".debug_str" ? sources.strings() : cursor.skip_braces();
  }
  bool const is_extern = cursor.accept(".extern");
  if (!is_extern && !cursor.accept(".visible") && !cursor.accept(".weak")) cursor.accept(".common");
  if (cursor.accept(".entry")) return function(true);
  if (cursor.accept(".func")) return function(false);
  Space space = Space::global;
  if (cursor.accept(".const"))
    space = Space::constant;
  else if (cursor.accept(".shared"))
    space = Space::shared;
  else if (!cursor.accept(".global"))
    cursor.fail("expected a declaration");
  variable(space, is_extern);
}

void ModuleBuilder::variable(Space space, bool is_extern) {
  Token const at = cursor.peek();
  auto const begin = cursor.place();
  Variable variable;
  try {
    variable = read_variable(cursor, space, is_extern);
    cursor.expect(';');
    check_addresses(variable);
  } catch (Unsupported const& what) {
    // Keep the declaration under its name, which is the first word, so that functions that use it are refused.
    cursor.go_back(begin);
    while (cursor.peek().kind != TokenKind::word && !cursor.peek().is(';') && !cursor.at_end()) cursor.take();
    variable = {};
    variable.space = space;
    variable.name = cursor.name().text;
    variable.refusal = what.refusal;
    cursor.skip_statement();
  }
  auto const known = find_variable(variable.name);
  if (known < 0 && find_function(variable.name) < 0)
    variables().push_back(std::move(variable));
  else if (known < 0 || !is_extern)
    cursor.fail(at, "name declared twice");
}

// Checks the addresses in an initial value: each must be the address of an earlier global or constant variable, or of a
// function.
void ModuleBuilder::check_addresses(Variable const& variable) {
  for (auto const& relocation : variable.relocations) {
    auto const found = find_variable(relocation.symbol);
    if (auto const function = find_function(relocation.symbol); found < 0 && function >= 0) {
      auto& named = functions()[static_cast<std::size_t>(function)];
      if (named.is_entry) cursor.unsupported();
      named.address_taken = true;
      continue;
    }
    if (found < 0) cursor.unsupported();
    auto const& named = module->variables_[static_cast<std::size_t>(found)];
    if (named.space == Space::shared || named.refusal) cursor.unsupported();
  }
}

std::vector<Parameter> ModuleBuilder::parameters(std::vector<Variable>* frame) {
  std::vector<Parameter> all;
  std::uint32_t end = 0;
  cursor.expect('(');
  if (cursor.accept(')')) return all;
  do {
    Token const at = cursor.peek();
    if (!cursor.accept(".param")) cursor.unsupported();  // `.reg` is not supported
    Type const type = find_type(cursor.peek().text.substr(std::min<std::size_t>(1, cursor.peek().text.size())));
    Variable variable = read_variable(cursor, Space::param, false);
    bool const is_new = variable.name == "_" || std::ranges::find(all, variable.name, &Parameter::name) == all.end();
    if (!is_new) cursor.fail(at, "name declared twice");
    std::uint32_t const begin = (end + variable.align_bytes - 1) / variable.align_bytes * variable.align_bytes;
    if (begin + variable.size_bytes > kMaxParameterBytes) cursor.fail(at, "more than 32764 bytes of parameters");
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
        if (i == 3 || size == 0 || size > kMaxThreads) cursor.fail(number, "invalid size of a block");
        sizes[i++] = static_cast<std::uint32_t>(size);
      } while (cursor.accept(','));
    } else if (at.text == ".reqnctapercluster") {
      bool is_one = true;
      do is_one = cursor.integer() == 1 && is_one;
      while (cursor.accept(','));
      if (!is_one) throw Unsupported(at.line, ".reqnctapercluster: clusters of more than one block");
    } else if (at.text == ".maxclusterrank" || at.text == ".minnctapersm" || at.text == ".maxnctapersm" ||
               at.text == ".maxnreg") {
      cursor.integer();
    } else if (at.text == ".pragma") {
      cursor.skip_strings();
    } else if (at.text != ".noreturn" && at.text != ".explicitcluster") {
      throw Unsupported(at.line, at.text);
    }
  }
}

// Calls were checked against the first declaration, so a later one must be equal to it.
void ModuleBuilder::keep(Function function, Token const& at) {
  auto const known = find_function(function.name);
  if (known < 0) return functions().push_back(std::move(function));
  auto& before = functions()[static_cast<std::size_t>(known)];
  auto const same = [](Parameter const& a, Parameter const& b) {
    return a.type == b.type && a.size_bytes == b.size_bytes && a.align_bytes == b.align_bytes;
  };
  if (before.is_entry != function.is_entry || !std::ranges::equal(before.parameters, function.parameters, same) ||
      !std::ranges::equal(before.results, function.results, same)) {
    cursor.fail(at, quoted(function.name) + " was declared differently before");
  }
  function.address_taken = function.address_taken || before.address_taken;
  if (function.has_body) before = std::move(function);
}

void ModuleBuilder::function_header(Function& function) {
  if (!function.is_entry && cursor.peek().is('(')) function.results = parameters(&function.variables);
  Token const& name = cursor.name();
  function.name = name.text;
  auto const known = find_function(name.text);
  bool const is_defined = known >= 0 && functions()[static_cast<std::size_t>(known)].has_body;
  if (is_defined || find_variable(name.text) >= 0) cursor.fail(name, "name declared twice");
  if (cursor.peek().is('(')) function.parameters = parameters(function.is_entry ? nullptr : &function.variables);
  function_directives(function);
}

void ModuleBuilder::function(bool is_entry) {
  Function made;
  made.is_entry = is_entry;
  made.line = cursor.peek().line;
  Token const at = cursor.peek();
  try {
    function_header(made);
  } catch (Unsupported const& what) {
    made.refusal = what.refusal;
    while (!cursor.at_end() && !cursor.peek().is('{') && !cursor.peek().is(';')) {
      if (made.name.empty() && cursor.accept(')') && cursor.peek().kind == TokenKind::word)
        made.name = cursor.take().text;
      else
        cursor.take();
    }
  }
  if (!made.parameters.empty()) {
    auto const& last = made.parameters.back();
    made.parameter_bytes = last.offset_bytes + last.size_bytes;
  }
  if (cursor.accept(';')) return keep(std::move(made), at);
  made.has_body = true;
  // Declare the function before its body is read, which may call it.
  Function declared = made;
  declared.has_body = false;
  keep(std::move(declared), at);
  read_body(*this, made);
  keep(std::move(made), at);
}

std::shared_ptr<Module const> ModuleBuilder::run() {
  header();
  while (!cursor.at_end()) declaration();
  sources.finish();
  link_functions(functions(), variables());
  return module;
}

Parsed parse(std::string_view text) {
  try {
    return ModuleBuilder(text).run();
  } catch (ParseFailure const& failure) {
    return failure.diagnostic;
  }
}

}  // namespace cuda_cpu::ptx
