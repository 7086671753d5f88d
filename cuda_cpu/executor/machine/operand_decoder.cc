#include "cuda_cpu/executor/machine/operand_decoder.h"

#include <algorithm>
#include <cstring>

namespace cuda_cpu {
namespace {

using ptx::Operand;
using ptx::OperandKind;
using ptx::OperandRole;
using ptx::Referent;
using ptx::Space;
using ptx::Type;

std::uint32_t aligned(std::uint32_t value) { return (value + 63) / 64 * 64; }

// A register of one byte is kept in two, of which only the lower one means anything.
std::uint32_t register_bytes(Type type) { return std::max(size_bytes(type), 2u); }

std::uint32_t bytes_in_frame(Type type) { return type == Type::pred ? sizeof(Mask) : register_bytes(type) * kLanes; }

}  // namespace

std::uint32_t& RegisterClasses::of(Type type) {
  switch (size_bytes(type)) {
    case 0: return predicates;
    case 1:
    case 2: return halves;
    case 4: return words;
    default: return longs;
  }
}

// In all functions of a kernel the registers of one width begin at the same offset of the frame. So lanes in different
// functions at the same depth never write to each other's registers of another width.
OperandDecoder::OperandDecoder(ptx::Module const& module, DecodedKernel& kernel, Addresses const& addresses)
    : module_(module), kernel_(kernel), addresses_(addresses) {
  RegisterClasses max;
  for (auto const index : kernel_.function->reachable) {
    RegisterClasses count;
    for (auto const& one : module_.functions()[static_cast<std::size_t>(index)].registers) ++count.of(one.type);
    max.predicates = std::max(max.predicates, count.predicates);
    max.halves = std::max(max.halves, count.halves);
    max.words = std::max(max.words, count.words);
    max.longs = std::max(max.longs, count.longs);
  }
  begin_.predicates = sizeof(Mask);  // the carry is before them
  begin_.halves = aligned(begin_.predicates + max.predicates * bytes_in_frame(Type::pred));
  begin_.words = aligned(begin_.halves + max.halves * bytes_in_frame(Type::b16));
  begin_.longs = aligned(begin_.words + max.words * bytes_in_frame(Type::b32));
  kernel_.frame_bytes = begin_.longs + max.longs * bytes_in_frame(Type::b64);
}

void OperandDecoder::begin_function(std::int32_t index) {
  function_index_ = index;
  function_ = &module_.functions()[static_cast<std::size_t>(index)];
  locations_.clear();
  RegisterClasses next = begin_;
  for (auto const& one : function_->registers) {
    locations_.push_back(next.of(one.type));
    next.of(one.type) += bytes_in_frame(one.type);
  }
}

void OperandDecoder::decode(Step& step, ptx::Instruction const& instruction) {
  ptx::Form const& form = *instruction.form;
  if (form.opcode() == "mov" && form.type != Type::pred) return move(step, instruction);
  unsigned next_source = 0;
  bool has_address = false;
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    auto const& operand = instruction.operands[i];
    auto const& spec = form.operands[i];
    if (spec.in_braces > 0) {
      registers(step, operand, spec.type);
      continue;
    }
    switch (spec.role) {
      case OperandRole::destination:
      case OperandRole::any_destination:
      case OperandRole::set_predicate:
      case OperandRole::set_predicates: destinations(step, operand); break;
      case OperandRole::source:
      case OperandRole::any_source:
      case OperandRole::predicate: sources(step, next_source, operand, spec); break;
      case OperandRole::immediate:
        if (has_address)
          step.count = static_cast<std::uint8_t>(std::min<std::uint64_t>(operand.bits, 255));
        else
          step.bits = operand.bits;
        break;
      case OperandRole::address:
        if (has_address) {
          next_address(step, operand, spec.space.value_or(form.space));
        } else {
          step.space = spec.space.value_or(step.space);
          address(step, operand);
        }
        has_address = true;
        break;
      case OperandRole::texel: texel(step, operand, spec.type); break;
      case OperandRole::label:
      case OperandRole::call: break;
    }
  }
  // The member mask.
  if (form.has("aligned") && form.opcode() != "barrier") step.source[3] = constant(kAllLanes, Type::b32);
}

ManyOperands& OperandDecoder::many_of(Step& step) {
  if (step.many == nullptr) {
    kernel_.many.push_back(std::make_unique<ManyOperands>());
    step.many = kernel_.many.back().get();
  }
  return *kernel_.many.back();
}

void OperandDecoder::next_address(Step& step, Operand const& operand, Space space) {
  Step other;
  other.space = space;
  other.line = step.line;
  other.index = step.index;
  other.form_index = step.form_index;
  other.unchecked = many_of(step).addresses.size() == 1;  // the third address is an mbarrier's
  address(other, operand);
  many_of(step).addresses.push_back(other);
}

void OperandDecoder::texel(Step& step, Operand const& operand, Type type) {
  step.base = location(operand.index);
  step.range = kernel_.ranges++;
  registers(step, operand, type);
}

// Adds the registers of a matrix fragment, or of coordinates.
void OperandDecoder::registers(Step& step, Operand const& operand, Type type) {
  std::vector<Location> all;
  for (auto const& element : operand.elements)
    all.push_back(element.kind == OperandKind::reg ? location(element.index) : constant(element.bits, type));
  many_of(step).registers.push_back(std::move(all));
}

// Returns the location of a value in all lanes, which kernels read like a register.
Location OperandDecoder::constant(std::uint64_t bits, Type type) {
  auto& bytes = kernel_.constants;
  auto const [known, is_new] =
      constants_.emplace(std::pair(bits, size_bytes(type)), static_cast<Location>(bytes.size()));
  if (is_new) {
    std::size_t const size = type == Type::pred ? sizeof(Mask) : size_bytes(type);
    std::uint64_t const value = type == Type::pred ? (bits != 0 ? kAllLanes : 0) : bits;
    std::size_t const begin = bytes.size();
    bytes.resize(aligned(static_cast<std::uint32_t>(begin) + bytes_in_frame(type)));
    for (std::size_t at = 0; at < bytes_in_frame(type); at += size)
      std::memcpy(bytes.data() + begin + at, &value, size);
  }
  return known->second | kConstant;
}

std::uint8_t OperandDecoder::width(std::int32_t index) const {
  return static_cast<std::uint8_t>(register_bytes(function_->registers[static_cast<std::size_t>(index)].type));
}

// Returns the offset or address of a variable in its space, or the address of a function.
std::uint64_t OperandDecoder::symbol(Operand const& operand, Step& step) const {
  auto const index = static_cast<std::size_t>(operand.symbol);
  if (operand.referent == Referent::function) return addresses_.of_function(index);
  if (operand.referent == Referent::entry_parameter) return function_->parameters[index].offset_bytes;
  auto const owner = operand.referent == Referent::function_variable ? function_index_ : -1;
  auto const& variable = owner < 0 ? module_.variables()[index] : function_->variables[index];
  if (variable.space == Space::shared) {
    for (auto const& slot : kernel_.function->shared)
      if (slot.function == owner && slot.variable == operand.symbol) return slot.offset_bytes;
  }
  if (owner < 0) return addresses_.variables[index];
  step.frame_relative = true;
  return variable.offset_bytes;
}

void OperandDecoder::source(Step& step, unsigned i, Operand const& operand, Type type) {
  if (operand.kind == OperandKind::reg) {
    step.source[i] = location(operand.index);
    step.source_width[i] = width(operand.index);
    if (operand.negated) step.negated = static_cast<std::uint8_t>(step.negated | 1 << i);
    step.bits |= static_cast<std::uint64_t>(operand.part) << (kPartShift * (i + 2));
  } else {
    Type const stored = size_bytes(type) == 1 ? Type::b16 : type;  // registers have at least 16 bits
    step.source[i] = constant(operand.bits, stored);
    step.source_width[i] = static_cast<std::uint8_t>(size_bytes(stored));
  }
}

void OperandDecoder::sources(Step& step, unsigned& next, Operand const& operand, ptx::OperandSpec const& spec) {
  if (operand.kind == OperandKind::vector) {
    for (auto const& element : operand.elements) source(step, next++, element, spec.type);
  } else if (operand.kind == OperandKind::symbol) {  // cvta of a variable; the handler adds the frame of local memory
    unsigned const i = next++;
    step.source[i] = constant(symbol(operand, step) + operand.bits, Type::b64);
    step.source_width[i] = 8;
  } else {
    source(step, next++, operand, spec.role == OperandRole::predicate ? Type::pred : spec.type);
  }
}

void OperandDecoder::destination(Step& step, unsigned i, Operand const& operand) const {
  if (operand.kind != OperandKind::reg) return;
  step.destination[i] = location(operand.index);
  step.width[i] = width(operand.index);
  step.bits |= static_cast<std::uint64_t>(operand.part) << kPartShift;
}

void OperandDecoder::destinations(Step& step, Operand const& operand) const {
  destination(step, 0, operand);
  for (unsigned i = 0; i < operand.elements.size(); ++i) destination(step, i, operand.elements[i]);
  if (operand.other >= 0) step.destination[1] = location(operand.other);
}

void OperandDecoder::address(Step& step, Operand const& operand) {
  step.bits = operand.bits;
  step.range = kernel_.ranges++;
  if (operand.referent != Referent::none) {
    step.bits += symbol(operand, step);
    // Only the parameters of the entry are in the buffer of the launch; the parameters of functions and calls are in
    // frames.
    if (step.space == Space::param && operand.referent != Referent::entry_parameter) step.space = Space::local;
    return;
  }
  step.base = location(operand.index);
  step.base_width = width(operand.index);
  if (step.space == Space::param && !function_->is_entry) step.space = Space::local;
}

void OperandDecoder::move(Step& step, ptx::Instruction const& instruction) {
  auto const& to = instruction.operands[0];
  auto const& from = instruction.operands[1];
  auto kind = MoveKind::unpack;
  destinations(step, to);
  if (to.kind == OperandKind::vector) {
    step.count = static_cast<std::uint8_t>(to.elements.size());
    source(step, 0, from, instruction.form->type);
  } else {
    kind = move_source(step, from, instruction.form->type);
  }
  step.choice = static_cast<std::uint8_t>(kind);
}

MoveKind OperandDecoder::move_source(Step& step, Operand const& from, Type type) {
  switch (from.kind) {
    case OperandKind::vector: {
      step.count = static_cast<std::uint8_t>(from.elements.size());
      std::size_t const bytes = size_bytes(type) / from.elements.size();
      Type const part = bytes == 4 ? Type::b32 : bytes == 2 ? Type::b16 : Type::b8;
      for (unsigned i = 0; i < from.elements.size(); ++i) source(step, i, from.elements[i], part);
      return MoveKind::pack;
    }
    case OperandKind::special: step.bits = static_cast<std::uint64_t>(from.index); return MoveKind::special;
    case OperandKind::symbol: step.bits = symbol(from, step) + from.bits; return MoveKind::address;
    default: source(step, 0, from, type); return MoveKind::plain;
  }
}

}  // namespace cuda_cpu
