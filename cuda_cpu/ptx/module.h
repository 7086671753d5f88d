// Declares Module, a parsed PTX text with its entries, functions and variables. Immutable once parsed, so any thread
// may read it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cuda_cpu/ptx/diagnostic.h"
#include "cuda_cpu/ptx/source_lines.h"
#include "cuda_cpu/ptx/types.h"

namespace cuda_cpu::ptx {

struct Form;

/// A parameter. The launch passes a buffer with the parameters of an entry; the parameters of a function are in its
/// frame.
struct Parameter {
  std::string name;
  Type type = Type::none;
  std::uint32_t offset_bytes = 0;
  std::uint32_t size_bytes = 0;
  std::uint32_t align_bytes = 0;
};

/// Adds the address of another variable of the module to the eight bytes at `offset_bytes`.
struct Relocation {
  std::uint64_t offset_bytes = 0;
  std::string symbol;
};

/// A variable. The loader chooses the address of a global or constant variable; `offset_bytes` places the others in the
/// frame of their function.
struct Variable {
  std::string name;
  Space space = Space::global;
  std::uint64_t offset_bytes = 0;
  std::uint64_t size_bytes = 0;  // zero: shared memory whose size is set by the launch
  std::uint32_t align_bytes = 1;
  std::vector<std::byte> initial;  // may be shorter than the variable; the rest is zero
  std::vector<Relocation> relocations;
  bool managed = false;  // global memory that the host also uses
  // Set if its declaration is not supported; each function that names it is then refused.
  std::optional<Refusal> refusal;
};

enum class OperandKind : std::uint8_t {
  reg,        // `index`; `other` is the second predicate in `%p|%q` or `%r|%p`; `negated` means `!%p`
  sink,       // `_`
  immediate,  // `bits`, converted to the type that the form takes
  special,    // `index` is a SpecialRegister
  address,    // `[base + bits]`: the base is a register (`index`) or a variable
  symbol,     // the address of a variable, plus `bits`, or of a function
  label,      // `index` of an instruction; one past the last is the function's end
  vector,     // `elements`
  texel,      // `[index, {elements}]`: the register of a handle, and coordinates
};

enum class SpecialRegister : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi,
  total_smem_size,
  dynamic_smem_size,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  envreg1,
  envreg2,
  reserved_smem_offset_begin,
  reserved_smem_offset_end,
  reserved_smem_offset_cap,
  reserved_smem_offset_0,
  reserved_smem_offset_1,
};

/// The selected part of the register of a video instruction's operand: `%r1.b3`, `%r1.h0`.
enum class Part : std::uint8_t { whole, b0, b1, b2, b3, h0, h1 };

/// The kind of symbol that the name in an operand refers to; `symbol` is its index in the list of that kind.
enum class Referent : std::uint8_t { none, entry_parameter, function_variable, module_variable, function };

struct Operand {
  OperandKind kind = OperandKind::immediate;
  bool negated = false;  // means `!%p`, and in vmad `-%r1`
  Part part = Part::whole;
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
  std::int32_t place = -1;  // an index in Module::sources()
  std::int32_t guard = -1;  // the index of a predicate register
  bool guard_negated = false;
  std::vector<Operand> operands;  // missing optional operands at the end are left out
  // For a call: the function, or the index in Function::prototypes if the call is by address; the indices of the
  // caller's .param variables that hold the arguments and results.
  std::string callee;
  std::int32_t prototype = -1;
  std::vector<std::int32_t> arguments;
  std::vector<std::int32_t> results;
};

struct Register {
  std::string name;
  Type type = Type::none;
};

/// The parameters and results of a call by address.
struct Prototype {
  std::string name;
  std::vector<Parameter> results;
  std::vector<Parameter> parameters;
};

/// The place of a shared variable in the shared memory of an entry.
struct SharedSlot {
  std::int32_t function = -1;  // the function that declares the variable; -1: the module
  std::int32_t variable = -1;
  std::uint32_t offset_bytes = 0;
};

/// An entry or a device function.
struct Function {
  std::string name;
  int line = 0;
  bool is_entry = false;
  bool has_body = false;       // false: only declared, such as vprintf
  bool address_taken = false;  // calls by address may reach this function
  // Reads %reserved_smem_offset_...; for an entry, also true if a called function reads it.
  bool uses_reserved_shared = false;
  /// The results and parameters of a function are its first variables, at their offsets in its frame.
  std::vector<Parameter> parameters;
  std::vector<Parameter> results;
  std::uint32_t parameter_bytes = 0;
  std::vector<Register> registers;  // only registers that instructions use
  std::vector<Variable> variables;  // its shared, local and param variables; local and param variables are in its frame
  std::vector<Prototype> prototypes;
  std::vector<Instruction> instructions;
  /// The function's own refusal, or the refusal of a function or variable that it uses. The instructions are then
  /// incomplete.
  std::optional<Refusal> refusal;
  std::uint32_t frame_bytes = 0;            // local memory of one call
  std::array<std::uint32_t, 3> max_ntid{};  // .maxntid; zeros without one
  std::array<std::uint32_t, 3> req_ntid{};  // .reqntid; zeros without one
  // The members below are set for entries only.
  std::vector<std::int32_t> reachable;  // its own index, then the functions that it calls, directly or not
  std::uint32_t call_depth = 0;         // length of the deepest chain of calls, or its limit; zero without calls
  bool recursive = false;
  std::uint32_t local_frame_bytes = 0;  // the largest frame in local memory of all `reachable`
  std::uint32_t alloca_bytes = 0;       // for alloca; these bytes follow the frames
  std::vector<SharedSlot> shared;
  /// The shared memory that the entry and the functions that it calls declare, without the dynamic shared memory of a
  /// launch.
  std::uint32_t static_shared_bytes = 0;
  /// The local memory of one thread: the frames of its calls and `alloca_bytes`.
  std::uint32_t local_bytes = 0;

  /// Estimates the number of 32-bit registers, since PTX has an unlimited number of registers. Returns at most 64, so
  /// that a block can have 1024 threads.
  unsigned registers_used() const noexcept;
  /// Returns true if a call by address with this prototype may call the function.
  bool fits(Prototype const& prototype) const noexcept;
  /// Returns the maximum number of threads in a block: 1024, or less by .maxntid or .reqntid.
  unsigned max_threads() const noexcept;
};

class Module {
 public:
  /// Returns the entry or function of this name, or null. It may be refused: see Function::refusal.
  Function const* find_entry(std::string_view name) const noexcept;
  Function const* find_function(std::string_view name) const noexcept;
  /// Returns the global, constant or shared variable of this name that the module declares outside of functions, or
  /// null.
  Variable const* find_variable(std::string_view name) const noexcept;

  std::vector<Function> const& functions() const noexcept { return functions_; }
  std::vector<Variable> const& variables() const noexcept { return variables_; }
  std::string const& version() const noexcept { return version_; }
  std::string const& target() const noexcept { return target_; }
  SourceTable const& sources() const noexcept { return sources_; }

 private:
  friend class ModuleBuilder;
  std::vector<Function> functions_;
  std::vector<Variable> variables_;
  std::string version_;
  std::string target_;
  SourceTable sources_;
};

}  // namespace cuda_cpu::ptx
