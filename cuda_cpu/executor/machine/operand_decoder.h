// OperandDecoder lays out the registers of a kernel and fills in the operands of its steps.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "cuda_cpu/executor/machine/machine.h"
#include "cuda_cpu/ptx/module.h"

namespace cuda_cpu {

/// A value for each width of registers: a number of bytes or a number of registers.
struct RegisterClasses {
  std::uint32_t predicates = 0;
  std::uint32_t halves = 0;
  std::uint32_t words = 0;
  std::uint32_t longs = 0;

  std::uint32_t& of(ptx::Type type);
};

/// Fills in the operands of steps. The modifiers of a step must be set before its operands.
class OperandDecoder {
 public:
  /// Lays out the registers and sets kernel.frame_bytes.
  OperandDecoder(ptx::Module const& module, DecodedKernel& kernel, Addresses const& addresses);

  /// Says that the instructions that follow belong to this function, an index in the module.
  void begin_function(std::int32_t index);
  void decode(Step& step, ptx::Instruction const& instruction);
  Location location(std::int32_t index) const { return locations_[static_cast<std::size_t>(index)]; }

 private:
  Location constant(std::uint64_t bits, ptx::Type type);
  std::uint8_t width(std::int32_t index) const;
  std::uint64_t symbol(ptx::Operand const& operand, Step& step) const;
  void source(Step& step, unsigned i, ptx::Operand const& operand, ptx::Type type);
  void sources(Step& step, unsigned& next, ptx::Operand const& operand, ptx::OperandSpec const& spec);
  void destination(Step& step, unsigned i, ptx::Operand const& operand) const;
  void destinations(Step& step, ptx::Operand const& operand) const;
  void address(Step& step, ptx::Operand const& operand);
  void next_address(Step& step, ptx::Operand const& operand, ptx::Space space);
  void texel(Step& step, ptx::Operand const& operand, ptx::Type type);
  void registers(Step& step, ptx::Operand const& operand, ptx::Type type);
  ManyOperands& many_of(Step& step);
  void move(Step& step, ptx::Instruction const& instruction);
  MoveKind move_source(Step& step, ptx::Operand const& from, ptx::Type type);

  ptx::Module const& module_;
  DecodedKernel& kernel_;
  Addresses const& addresses_;
  ptx::Function const* function_ = nullptr;
  std::int32_t function_index_ = -1;
  RegisterClasses begin_;            // offsets of the registers of each width in a frame
  std::vector<Location> locations_;  // locations of the function's registers
  std::map<std::pair<std::uint64_t, unsigned>, Location> constants_;  // by value and size
};

}  // namespace cuda_cpu
