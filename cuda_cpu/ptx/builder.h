// Declares the parts of the parser: ModuleBuilder reads declarations, Scopes resolves the names of a function,
// OperandReader reads the operands of an instruction.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cuda_cpu/ptx/cursor.h"
#include "cuda_cpu/ptx/forms.h"
#include "cuda_cpu/ptx/literal.h"
#include "cuda_cpu/ptx/module.h"
#include "cuda_cpu/ptx/source_reader.h"

namespace cuda_cpu::ptx {

class ModuleBuilder {
 public:
  explicit ModuleBuilder(std::string_view text)
      : cursor(text), module(std::make_shared<Module>()), sources(cursor, module->sources_) {}

  std::shared_ptr<Module const> run();

  Cursor cursor;

  std::vector<Function>& functions() noexcept { return module->functions_; }
  std::vector<Variable>& variables() noexcept { return module->variables_; }
  std::int32_t find_function(std::string_view name) const noexcept;  // -1 if it does not exist
  std::int32_t find_variable(std::string_view name) const noexcept;
  /// Reads a list in parentheses. If `frame` is not null, also appends the list to these variables of a function's
  /// frame.
  std::vector<Parameter> parameters(std::vector<Variable>* frame);

 private:
  void header();
  void declaration();
  void variable(Space space, bool is_extern);
  void check_addresses(Variable const& variable);
  void function(bool is_entry);
  void function_header(Function& function);
  void function_directives(Function& function);
  void keep(Function function, Token const& at);

  std::shared_ptr<Module> module;

 public:
  SourceReader sources;  // initialized after `module`
};

/// Reads the type of a declaration, ".u32".
Type declared_type(Cursor& cursor);
/// Reads the rest of a declaration after its space, `.align 4 .b8 name[16] = {...}`, up to the ';' or the ',' or the
/// ')' that follows.
Variable read_variable(Cursor& cursor, Space space, bool is_extern);

/// Reads the body of a function, from '{' to '}'. If the body uses something that is not supported, refuses the
/// function and skips the rest.
void read_body(ModuleBuilder& module, Function& function);

/// The names that the instructions of a function may use: registers, variables and labels, by scope.
class Scopes {
 public:
  explicit Scopes(Function& function) : function_(function) { open(); }

  void open() { scopes_.push_back({{}, {}, {}, {}, scopes_.empty() ? 0 : scopes_.back().own_end, 0}); }
  /// Closes the innermost scope. Its unresolved label uses move to the enclosing scope; in the outermost scope they
  /// fail.
  void close(Cursor const& cursor);

  void declare_registers(Cursor& cursor);
  void declare_variable(Token const& at, Variable variable);
  void define_label(Token const& at);
  void use_label(Token const& at, std::size_t operand);

  /// Returns the index in Function::registers, or -1 if no register has that name.
  std::int32_t find_register(std::string_view name);
  std::int32_t find_variable(std::string_view name) const noexcept;

 private:
  struct Registers {
    Type type = Type::none;
    std::int64_t count = -1;            // the number in `%r<count>`; -1: a single register
    std::vector<std::int32_t> indices;  // by number, from the single register's -1; -1: not used yet
  };
  struct LabelUse {
    Token at;
    std::size_t instruction;
    std::size_t operand;
  };
  struct Scope {
    std::map<std::string, Registers, std::less<>> registers;
    std::map<std::string, std::int32_t, std::less<>> variables;
    std::map<std::string, std::int32_t, std::less<>> labels;
    std::vector<LabelUse> uses;
    std::uint32_t own_end;    // end of the variables of this scope and of the enclosing scopes in the frame
    std::uint32_t inner_end;  // end of the variables of closed inner scopes
  };

  std::int32_t index_of(Registers& registers, std::int64_t number, std::string_view name);

  Function& function_;
  std::vector<Scope> scopes_;
};

/// Reads the operands of an instruction whose form is known, up to its ';'. Reports operands that the executor does not
/// take by Cursor::unsupported().
class OperandReader {
 public:
  OperandReader(ModuleBuilder& module, Function& function, Scopes& scopes)
      : module_(module), function_(function), scopes_(scopes), cursor_(module.cursor) {}

  /// Reads all operands into `instruction`. `has_policy`: the last operand is a cache policy, which is left out.
  void read(Instruction& instruction, bool has_policy);
  std::int32_t predicate();
  /// Reads `.callprototype (...) _ (...)`, after its label.
  void prototype(std::string_view name);

 private:
  Operand operand(OperandSpec const& spec, std::size_t index);
  Operand destination(OperandSpec const& spec);
  Operand source(OperandSpec const& spec);
  Operand any_source(OperandSpec const& spec);
  Operand named_source(OperandSpec const& spec, Token const& token);
  Operand set_predicates(bool two);
  Operand read_predicate();
  Operand address(OperandSpec const& spec);
  Operand texel(OperandSpec const& spec);
  Operand vector(OperandSpec const& spec, bool is_source, bool allow_sinks);
  Operand in_braces(OperandSpec const& spec);
  Operand moved_vector(Type type, bool is_source);
  Operand number(Type type);
  Operand immediate(Type type);
  bool at_warp_size() const;
  void refuse_expression() const;
  void refuse_selector(Token const& at) const;
  Operand named(Token const& at);
  Operand register_or_part(Token token, OperandSpec const& spec);
  void check_parts(std::vector<Operand> const& operands) const;
  std::int32_t typed_register(Token const& at, OperandSpec const& spec);
  std::uint64_t offset();
  void check_space(Operand const& operand) const;
  Space space_of(Operand const& operand) const noexcept;
  void call(Instruction& instruction);
  std::vector<std::int32_t> call_names();
  void call_by_address(Instruction& instruction, Token const& address);
  void check_call(Instruction const& instruction, std::vector<Parameter> const& results,
                  std::vector<Parameter> const& parameters) const;

  ModuleBuilder& module_;
  Function& function_;
  Scopes& scopes_;
  Cursor& cursor_;
  Form const* form_ = nullptr;    // the form of the instruction that is being read
  Space space_ = Space::generic;  // the space of the address that is being read
};

/// Computes for each entry the resources that it uses through calls: frames and shared memory. Refuses an entry that
/// reaches something unsupported.
void link_functions(std::vector<Function>& functions, std::vector<Variable>& variables);

}  // namespace cuda_cpu::ptx
