// Reads the body of a function: scopes, declarations, labels and instructions.
#include <utility>

#include "cuda_cpu/ptx/builder.h"

namespace cuda_cpu::ptx {
namespace {

// Returns the name of an access without its cache policy, or an empty string if it has no policy. The policy is a hint,
// given by a modifier and by the last operand.
std::string without_cache_policy(std::string_view name) {
  static constexpr std::string_view kModifier = ".L2::cache_hint";
  std::size_t const at = name.find(kModifier);
  if (at == name.npos) return {};
  std::string_view const opcode = name.substr(0, name.find('.'));
  if (opcode != "ld" && opcode != "st" && opcode != "atom" && opcode != "red") return {};
  return std::string(name).erase(at, kModifier.size());
}

class BodyReader {
 public:
  BodyReader(ModuleBuilder& module, Function& function)
      : function_(function),
        cursor_(module.cursor),
        sources_(module.sources),
        scopes_(function),
        operands_(module, function, scopes_) {
    sources_.begin_function();
  }

  void run() {
    declare_parameters();
    cursor_.expect('{');
    for (int depth = 1; depth > 0;) {
      if (cursor_.accept('{')) {
        scopes_.open();
        ++depth;
      } else if (cursor_.accept('}')) {
        scopes_.close(cursor_);
        --depth;
      } else {
        statement();
      }
    }
  }

 private:
  // Results and parameters are the first variables of a function's frame.
  void declare_parameters() {
    auto formal = std::exchange(function_.variables, {});
    for (auto& variable : formal) scopes_.declare_variable(cursor_.peek(), std::move(variable));
    for (std::size_t i = 0; i < formal.size(); ++i) {
      auto& parameter =
          i < function_.results.size() ? function_.results[i] : function_.parameters[i - function_.results.size()];
      parameter.offset_bytes = static_cast<std::uint32_t>(function_.variables[i].offset_bytes);
    }
  }

  void statement() {
    cursor_.begin_statement();
    if (cursor_.at_end()) cursor_.fail("expected '}'");
    if (cursor_.peek().kind == TokenKind::directive) return directive();
    if (cursor_.peek().kind == TokenKind::word && cursor_.peek(1).is(':')) {
      Token const label = cursor_.name();
      cursor_.expect(':');
      if (cursor_.accept(".callprototype")) return operands_.prototype(label.text);
      scopes_.define_label(label);
      return;
    }
    instruction();
  }

  void directive() {
    Token const at = cursor_.take();
    if (at.text == ".loc") return sources_.location();
    if (at.text == ".file") return sources_.file();
    if (at.text == ".pragma") return cursor_.skip_strings();
    if (at.text == ".reg") {
      scopes_.declare_registers(cursor_);
    } else if (at.text == ".shared" || at.text == ".local" || at.text == ".param") {
      Space const space = at.text == ".shared" ? Space::shared : at.text == ".local" ? Space::local : Space::param;
      Token const begin = cursor_.peek();
      scopes_.declare_variable(begin, read_variable(cursor_, space, false));
    } else {
      cursor_.unsupported();
    }
    cursor_.expect(';');
  }

  void instruction() {
    Instruction made;
    made.line = cursor_.peek().line;
    made.place = sources_.place();
    if (cursor_.accept('@')) {
      made.guard_negated = cursor_.accept('!');
      made.guard = operands_.predicate();
    }
    std::string_view const name = cursor_.expect(TokenKind::word, "an instruction").text;
    std::string const plain_name = without_cache_policy(name);
    made.form = find_form(plain_name.empty() ? name : plain_name);
    if (made.form == nullptr) cursor_.unsupported();
    operands_.read(made, !plain_name.empty());
    cursor_.expect(';');
    function_.instructions.push_back(std::move(made));
  }

  Function& function_;
  Cursor& cursor_;
  SourceReader& sources_;
  Scopes scopes_;
  OperandReader operands_;
};

}  // namespace

void read_body(ModuleBuilder& module, Function& function) {
  auto const begin = module.cursor.place();
  if (!function.refusal) {
    try {
      return BodyReader(module, function).run();
    } catch (Unsupported const& what) {
      function.refusal = what.refusal;
    }
  }
  module.cursor.go_back(begin);
  module.cursor.skip_braces();
}

}  // namespace cuda_cpu::ptx
