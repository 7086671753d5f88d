// Declares Module, what a PTX text says: its entries, functions and variables, each instruction with the form by which it was
// accepted. Immutable once parsed, so any thread may read it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cuda_tests/ptx/types.h"

namespace cuda_tests::ptx {

struct Form;

/// Why a text is not PTX, or not such that we could go on with the rest of it.
struct Diagnosis {
  int line = 0;      // from 1
  int column = 0;    // from 1
  std::string text;  // the token that offends, empty at the end of the text
  std::string message;

  /// "line 12, column 3: ',' expected here: ']'"
  std::string to_string() const;
};

/// Why an entry or a function cannot be run although its text may well be PTX: it uses what is not supported.
struct Refusal {
  int line = 0;
  std::string message;  // "line 57: 'tex.2d.v4.f32.f32' is not supported"
};

/// A parameter: of an entry in the buffer that a launch passes, of a function in its frame.
struct Parameter {
  std::string name;
  Type type = Type::none;
  std::uint32_t offset_bytes = 0;
  std::uint32_t size_bytes = 0;
  std::uint32_t align_bytes = 0;
};

/// The address of another variable of the module, to be added to the eight bytes at `offset_bytes`.
struct Relocation {
  std::uint64_t offset_bytes = 0;
  std::string symbol;
};

/// A variable in a space. Of those in global and constant memory the loader decides the address; shared and local ones of a
/// function have the offset given here.
struct Variable {
  std::string name;
  Space space = Space::global;
  std::uint64_t offset_bytes = 0;
  std::uint64_t size_bytes = 0;  // zero: shared memory whose size the launch says
  std::uint32_t align_bytes = 1;
  std::vector<std::byte> initial;  // may be shorter than the variable: the rest is zero
  std::vector<Relocation> relocations;
  std::optional<Refusal> refusal;  // what it holds at the start is not supported; so is whoever names it
};

enum class OperandKind : std::uint8_t {
  reg,        // `index`, and `other` of the second predicate of `%p|%q` or `%r|%p`; negated: `!%p`
  sink,       // `_`
  immediate,  // `bits`, as wide as the form asks for
  special,    // `index` is a SpecialRegister
  address,    // `[base + bits]`: the base is a register, `index`, or a variable, or none
  symbol,     // the address of a variable, plus `bits`
  label,      // `index` of an instruction; that behind the last one is the function's end
  vector,     // `elements`
};

enum class SpecialRegister : std::uint8_t {
  tid_x, tid_y, tid_z, ntid_x, ntid_y, ntid_z, ctaid_x, ctaid_y, ctaid_z, nctaid_x, nctaid_y, nctaid_z,
  laneid, warpid, nwarpid, smid, nsmid, gridid, lanemask_eq, lanemask_le, lanemask_lt, lanemask_ge, lanemask_gt,
  clock, clock_hi, clock64, globaltimer, globaltimer_lo, globaltimer_hi, total_smem_size, dynamic_smem_size,
};

/// What the name in an operand stands for: `symbol` is its index there.
enum class Referent : std::uint8_t { none, entry_parameter, function_variable, module_variable };

struct Operand {
  OperandKind kind = OperandKind::immediate;
  bool negated = false;
  Referent referent = Referent::none;
  std::int32_t index = -1;
  std::int32_t other = -1;
  std::int32_t symbol = -1;
  std::uint64_t bits = 0;
  std::vector<Operand> elements;
};

struct Instruction {
  Form const* form = nullptr;
  int line = 0;
  std::int32_t guard = -1;  // a predicate register
  bool guard_negated = false;
  std::vector<Operand> operands;  // none: an optional one that is not there
  // Of calls alone: the function, and indices of .param variables of the caller.
  std::string callee;
  std::vector<std::int32_t> arguments;
  std::vector<std::int32_t> results;
};

struct Register {
  std::string name;
  Type type = Type::none;
};

/// Where a shared variable lies in the shared memory of an entry.
struct SharedSlot {
  std::int32_t function = -1;  // whose variable it is; -1: the module's
  std::int32_t variable = -1;
  std::uint32_t offset_bytes = 0;
};

/// An entry or a device function.
struct Function {
  std::string name;
  int line = 0;
  bool is_entry = false;
  bool has_body = false;  // not so: declared only, for one that we know (vprintf) or for none
  /// Those of an entry lie in the buffer of a launch. Those of a function, and its results, are its first variables: their
  /// offsets are those in its frame.
  std::vector<Parameter> parameters;
  std::vector<Parameter> results;
  std::uint32_t parameter_bytes = 0;
  std::vector<Register> registers;  // those that instructions use
  std::vector<Variable> variables;  // shared, local and param ones of its own; the latter two lie in its frame
  std::vector<Instruction> instructions;
  std::optional<Refusal> refusal;  // its own, or that of a function or variable that it uses
  bool refused_declaration = false;  // not all of its parameters are known
  std::uint32_t frame_bytes = 0;   // local memory of one call
  std::array<std::uint32_t, 3> max_ntid{};  // .maxntid, zero where it says none
  std::array<std::uint32_t, 3> req_ntid{};  // .reqntid, likewise
  // The rest is of entries alone.
  std::vector<std::int32_t> reachable;  // indices of the functions that it calls, itself the first
  std::uint32_t call_depth = 0;         // the most calls at a time: zero where it makes none
  std::vector<SharedSlot> shared;
  /// Shared memory that the entry and those that it calls declare, without what a launch adds.
  std::uint32_t static_shared_bytes = 0;
  /// Local memory of one thread, with the frames of calls.
  std::uint32_t local_bytes = 0;

  /// An estimate in 32-bit words, as PTX has as many registers as it likes: at most 64, so that 1024 threads can have them.
  unsigned registers_used() const noexcept;
  /// The most threads of a block: 1024, or what .maxntid and .reqntid say.
  unsigned max_threads() const noexcept;
};

class Module {
 public:
  /// The entry or function, null where there is none of this name. It may be refused: see Function::refusal.
  Function const* find_entry(std::string_view name) const noexcept;
  Function const* find_function(std::string_view name) const noexcept;
  /// Global, constant and shared variables of the module itself.
  Variable const* find_variable(std::string_view name) const noexcept;

  std::vector<Function> const& functions() const noexcept { return functions_; }
  std::vector<Variable> const& variables() const noexcept { return variables_; }
  std::string const& version() const noexcept { return version_; }
  std::string const& target() const noexcept { return target_; }

 private:
  friend class ModuleBuilder;
  std::vector<Function> functions_;
  std::vector<Variable> variables_;
  std::string version_;
  std::string target_;
};

}  // namespace cuda_tests::ptx
