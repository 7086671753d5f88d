// The body of a function: scopes, declarations, labels and instructions.
#include <algorithm>
#include <utility>

#include "cuda_tests/ptx/builder.h"
#include "cuda_tests/ptx/isa.h"

namespace cuda_tests::ptx {
namespace {

class BodyReader {
 public:
  BodyReader(ModuleBuilder& module, Function& function)
      : module_(module), function_(function), cursor_(module.cursor), scopes_(function), operands_(module, function, scopes_) {}

  void run() {
    // Results and parameters are the first variables of a function's frame.
    auto formal = std::exchange(function_.variables, {});
    for (auto& variable : formal) scopes_.declare_variable(cursor_.peek(), std::move(variable));
    for (std::size_t i = 0; i < formal.size(); ++i) {
      auto& parameter =
          i < function_.results.size() ? function_.results[i] : function_.parameters[i - function_.results.size()];
      parameter.offset_bytes = static_cast<std::uint32_t>(function_.variables[i].offset_bytes);
    }
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
  void statement() {
    if (cursor_.at_end()) cursor_.fail("'}' is expected here");
    auto const& first = cursor_.peek();
    bool const declares = first.kind == TokenKind::directive && first.text != ".branchtargets" && first.text != ".calltargets";
    try {
      if (first.kind == TokenKind::directive) return directive();
      if (cursor_.peek().kind == TokenKind::word && cursor_.peek(1).is(':')) {
        scopes_.define_label(cursor_.name());
        cursor_.expect(':');
        return;
      }
      instruction();
    } catch (Unsupported const& what) {
      if (!function_.refusal) function_.refusal = what.refusal;
      if (declares) scopes_.lose_names();
      else operands_.check_names();
      cursor_.skip_statement();
    }
  }

  void directive() {
    Token const at = cursor_.take();
    if (at.text == ".loc") return cursor_.skip_location();
    if (at.text == ".file") return cursor_.skip_file();
    if (at.text == ".pragma") return cursor_.skip_texts();
    if (at.text == ".reg") {
      scopes_.declare_registers(cursor_);
    } else if (at.text == ".shared" || at.text == ".local" || at.text == ".param") {
      Space const space = at.text == ".shared" ? Space::shared : at.text == ".local" ? Space::local : Space::param;
      Token const begin = cursor_.peek();
      scopes_.declare_variable(begin, read_variable(cursor_, space, false));
    } else if (at.text == ".global" || at.text == ".const") {
      do {
        Token const begin = cursor_.peek();
        auto const variable = read_variable(cursor_, at.text == ".global" ? Space::global : Space::constant, false);
        if (scopes_.find_register(variable.name) >= 0) Cursor::fail(begin, quoted(variable.name) + " is declared twice");
      } while (cursor_.accept(','));
      if (!cursor_.peek().is(';')) cursor_.fail("';' is expected here");
      throw Unsupported(at.line, quoted(at.text) + " in a function");
    } else if (at.text == ".branchtargets" || at.text == ".calltargets" || at.text == ".callprototype") {
      throw Unsupported(at.line, quoted(at.text));
    } else {
      Cursor::fail(at, "this is no directive of a function");
    }
    cursor_.expect(';');
  }

  void instruction() {
    Instruction made;
    made.line = cursor_.peek().line;
    if (cursor_.accept('@')) {
      made.guard_negated = cursor_.accept('!');
      made.guard = operands_.predicate(cursor_.expect(TokenKind::word, "a predicate"));
    }
    Token const opcode = cursor_.expect(TokenKind::word, "an instruction");
    made.form = find_form(opcode.text, module_.target, module_.version);
    if (made.form == nullptr) {
      if (auto const objection = isa_objection(opcode.text, module_.target, module_.version, module_.specific)) {
        Token at = opcode;
        at.column += static_cast<int>(objection->at.data() - opcode.text.data());
        at.text = objection->at;
        Cursor::fail(at, objection->message);
      }
      throw Unsupported(opcode.line, quoted(opcode.text));
    }
    operands_.read(made);
    cursor_.expect(';');
    function_.instructions.push_back(std::move(made));
  }

  ModuleBuilder& module_;
  Function& function_;
  Cursor& cursor_;
  Scopes scopes_;
  OperandReader operands_;
};

}  // namespace

void read_body(ModuleBuilder& module, Function& function) { BodyReader(module, function).run(); }

}  // namespace cuda_tests::ptx
