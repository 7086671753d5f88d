// Declares what the parts of the parser share: the module as it grows, and the names of a function's scopes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cuda_tests/ptx/cursor.h"
#include "cuda_tests/ptx/forms.h"
#include "cuda_tests/ptx/literal.h"
#include "cuda_tests/ptx/module.h"

namespace cuda_tests::ptx {

class ModuleBuilder {
 public:
  explicit ModuleBuilder(std::string_view text) : cursor(text), module(std::make_shared<Module>()) {}

  std::shared_ptr<Module const> run();

  Cursor cursor;
  unsigned target = 0;   // 90 of sm_90
  unsigned version = 0;  // of PTX, in tenths
  bool specific = false;  // a target with a suffix, such as sm_90a

  std::vector<Function>& functions() noexcept { return module->functions_; }
  std::vector<Variable>& variables() noexcept { return module->variables_; }
  std::int32_t find_function(std::string_view name) const noexcept;
  std::int32_t find_variable(std::string_view name) const noexcept;

 private:
  void header();
  void declaration();
  void variable(Space space, bool is_extern);
  void check_addresses(Variable& variable, Token const& at) const;
  void function(bool is_entry, bool is_extern);
  std::vector<Parameter> parameters(std::vector<Variable>* frame);
  void function_directives(Function& function);
  void keep(Function function, Token const& at);

  std::shared_ptr<Module> module;
};

/// A type as it stands in declarations, ".u32": fails where there is none.
Type declared_type(Cursor& cursor);
/// `.align 4 .b8 name[16] = {...}` behind the space, up to the ';' or the ',' or the ')' that follows.
Variable read_variable(Cursor& cursor, Space space, bool is_extern);

/// Reads the body of a function, from '{' to '}'.
void read_body(ModuleBuilder& module, Function& function);

/// What the instructions of a function may name: registers, variables and labels, by scopes.
class Scopes {
 public:
  explicit Scopes(Function& function) : function_(function) { open(); }

  void open() { scopes_.push_back({{}, {}, {}, {}, scopes_.empty() ? 0 : scopes_.back().own_end, 0}); }
  /// Labels that no instruction bears go to the scope around; in the last one they fail.
  void close(Cursor const& cursor);

  void declare_registers(Cursor& cursor);
  void declare_variable(Token const& at, Variable variable);
  void define_label(Token const& at);
  void use_label(Token const& at, std::size_t operand);
  /// A name in what is not supported, which must be that of a label if it is nothing else's.
  void mention(Token const& at);
  /// A declaration was not understood: from here on any name may be one that it declared.
  void lose_names() noexcept { lost_names_ = true; }
  bool lost_names() const noexcept { return lost_names_; }

  /// The index in Function::registers; -1 where no register has that name.
  std::int32_t find_register(std::string_view name);
  std::int32_t find_variable(std::string_view name) const noexcept;

 private:
  struct Registers {
    Type type = Type::none;
    std::int64_t count = -1;  // -1: one without a number
    std::map<std::int64_t, std::int32_t> indices;
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
    std::uint32_t own_end;    // of what it and those around it have in the frame
    std::uint32_t inner_end;  // of what those in it had
  };

  void declare(Token const& at, std::string_view name, Registers registers);
  std::int32_t index_of(Registers& registers, std::int64_t number, std::string_view name);

  Function& function_;
  std::vector<Scope> scopes_;
  bool lost_names_ = false;
};

/// Reads the operands of an instruction whose form is known, up to its ';', and checks them against the form.
class OperandReader {
 public:
  OperandReader(ModuleBuilder& module, Function& function, Scopes& scopes)
      : module_(module), function_(function), scopes_(scopes), cursor_(module.cursor) {}

  void read(Instruction& instruction);
  std::int32_t predicate(Token const& at);
  /// Of an instruction that is not supported, up to its ';': each name in it is declared somewhere.
  void check_names();

 private:
  Operand operand(Instruction const& instruction, OperandSpec const& spec, std::size_t index);
  Operand destination(Instruction const& instruction, OperandSpec const& spec);
  Operand source(Instruction const& instruction, OperandSpec const& spec);
  Operand any_source(Instruction const& instruction, OperandSpec const& spec);
  Operand set_predicates(Instruction const& instruction, bool two);
  Operand read_predicate(Instruction const& instruction);
  Operand address(Instruction const& instruction);
  Operand vector(Instruction const& instruction, OperandSpec const& spec, unsigned size, Type element, bool is_source,
                 bool sinks);
  Operand moved_vector(Instruction const& instruction, Type type, bool is_source);
  Operand number(Instruction const& instruction, Type type);
  Operand named(Instruction const& instruction, Token const& at);
  void call(Instruction& instruction);
  std::vector<std::int32_t> call_names();
  void check_call(Instruction const& instruction, Function const& callee) const;
  void check_values(Instruction const& instruction) const;
  bool is_counted_reduction(Instruction const& instruction, std::size_t i) const;
  std::int32_t typed_register(Instruction const& instruction, Token const& at, OperandSpec const& spec);
  std::uint64_t offset();
  void check_space(Instruction const& instruction, Operand const& operand) const;
  Space space_of(Operand const& operand) const noexcept;
  [[noreturn]] void mismatch(Instruction const& instruction) const;
  [[noreturn]] void unknown(Token const& at, std::string what) const;

  ModuleBuilder& module_;
  Function& function_;
  Scopes& scopes_;
  Cursor& cursor_;
};

/// What an entry uses of others: frames, shared memory, refusals.
void link_functions(std::vector<Function>& functions, std::vector<Variable>& variables);

}  // namespace cuda_tests::ptx
