#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "cuda_cpu/executor/reference/reference.h"

namespace cuda_cpu::reference {
namespace {

using ptx::Form;
using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;
using ptx::OperandRole;
using ptx::Part;
using ptx::Space;
using ptx::Type;

bool is_memory(Form const& form) {
  std::string_view const op = form.opcode();
  bool const plain = op == "ld" || op == "st" || op == "ldu";
  bool const atomic = (op == "atom" || op == "red") && !ptx::is_float(form.type);
  return (plain || atomic) && form.space != Space::constant && (form.space != Space::param || op == "ld");
}

Bits changed(Form const& form, Bits old, Bits value, Bits other) {
  Int const x = integer(old, form.type), y = integer(value, form.type);
  if (form.has("and")) return old & value;
  if (form.has("or")) return old | value;
  if (form.has("xor")) return old ^ value;
  if (form.has("exch")) return value;
  if (form.has("cas")) return x == y ? other : old;
  if (form.has("add")) return old + value;
  if (form.has("inc")) return x >= y ? 0 : old + 1;
  if (form.has("dec")) return x == 0 || x > y ? value : old - 1;
  if (form.has("min")) return x < y ? old : value;
  return x > y ? old : value;
}

class Interpreter {
 public:
  Interpreter(ptx::Function const& entry, Thread& thread) : entry_(entry), thread_(thread) {
    registers_.resize(entry.registers.size());
  }

  std::uint64_t run() {
    std::uint64_t count = 0;
    for (std::size_t at = 0; at < entry_.instructions.size();) {
      Instruction const& instruction = entry_.instructions[at];
      ++count;
      ++at;
      if (instruction.guard >= 0 &&
          (registers_[static_cast<std::size_t>(instruction.guard)] != 0) == instruction.guard_negated)
        continue;
      std::string_view const op = instruction.form->opcode();
      if (op == "ret" || op == "exit") return count;
      if (op == "bra")
        at = static_cast<std::size_t>(instruction.operands[0].index);
      else if (is_memory(*instruction.form))
        access(instruction);
      else
        compute(instruction);
    }
    return count;
  }

 private:
  Bits value_of(Operand const& operand) const {
    switch (operand.kind) {
      case OperandKind::reg: {
        Bits const value = registers_[static_cast<std::size_t>(operand.index)];
        bool const is_predicate = entry_.registers[static_cast<std::size_t>(operand.index)].type == Type::pred;
        return operand.negated && is_predicate ? value ^ 1 : value;
      }
      case OperandKind::immediate: return operand.bits;
      case OperandKind::special:
        if (operand.index == static_cast<std::int32_t>(ptx::SpecialRegister::tid_x)) return thread_.index;
        break;
      default: break;
    }
    throw std::logic_error("an operand that the reference does not know");
  }

  // Returns a source of an instruction as a word: the manual's partSelectSignExtend().
  static Bits extended(Form const& form, Part part, std::size_t source, Bits word) {
    if (part == Part::whole) return word;
    bool const is_signed = form.words[source + (form.opcode() == "vset" ? 0 : 1)] == "s32";
    if (part >= Part::h0)
      return static_cast<Bits>(integer(part == Part::h1 ? word >> 16 : word, is_signed ? Type::s16 : Type::u16));
    auto const byte = static_cast<unsigned>(part) - static_cast<unsigned>(Part::b0);
    return static_cast<Bits>(integer(word >> (8 * byte), is_signed ? Type::s8 : Type::u8));
  }
  // Puts the result into a part of `word` and keeps the other bits: the manual's optMerge(), after the saturation to
  // the part.
  static Bits merged(Form const& form, Part part, Bits result, Bits word) {
    unsigned const bits = part >= Part::h0 ? 16 : 8;
    unsigned const at = part >= Part::h0 ? (part == Part::h1 ? 16 : 0)
                                         : 8 * (static_cast<unsigned>(part) - static_cast<unsigned>(Part::b0));
    if (form.has("sat")) {
      bool const is_signed = form.words[1] == "s32";
      Int const greatest = (Int{1} << (is_signed ? bits - 1 : bits)) - 1, least = is_signed ? -greatest - 1 : 0;
      result = static_cast<Bits>(std::clamp(integer(result, is_signed ? Type::s32 : Type::u32), least, greatest));
    }
    Bits const mask = ((Bits{1} << bits) - 1) << at;
    return (word & ~mask) | (result << at & mask);
  }

  // Sets a register. Extends the value by its type if the register is wider.
  void set(Operand const& operand, Type type, Bits value) {
    if (operand.kind != OperandKind::reg) return;
    Type const own = entry_.registers[static_cast<std::size_t>(operand.index)].type;
    unsigned const bits = 8 * ptx::size_bytes(own);
    if (ptx::size_bytes(type) < ptx::size_bytes(own)) value = static_cast<Bits>(integer(value, type));
    registers_[static_cast<std::size_t>(operand.index)] = bits == 64 ? value : value & ((Bits{1} << bits) - 1);
  }
  void set_predicate(std::int32_t index, bool value) {
    if (index >= 0) registers_[static_cast<std::size_t>(index)] = value ? 1 : 0;
  }

  void compute(Instruction const& instruction) {
    Form const& form = *instruction.form;
    std::vector<Bits> sources;
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
      OperandRole const role = form.operands[i].role;
      if (role == OperandRole::source || role == OperandRole::immediate || role == OperandRole::predicate ||
          role == OperandRole::any_source)
        sources.push_back(extended(form, instruction.operands[i].part, i, value_of(instruction.operands[i])));
    }
    if (form.opcode() == "vmad") {
      Bits negated = 0;
      for (std::size_t i = 1; i < 4; ++i) negated |= instruction.operands[i].negated ? Bits{1} << (i - 1) : 0;
      sources.push_back(negated);
    }
    auto const made = outcome_of(form, sources, carry_);
    if (!made) throw std::logic_error("the reference does not know " + form.name);
    if (made->carry) carry_ = *made->carry;
    Operand const& to = instruction.operands[0];
    OperandRole const role = form.operands[0].role;
    if (role == OperandRole::set_predicate || role == OperandRole::set_predicates) {
      if (to.kind == OperandKind::reg) set_predicate(to.index, made->first);
      set_predicate(to.other, made->second);
    } else {
      bool const is_part = to.part != Part::whole;
      set(to, form.operands[0].type, is_part ? merged(form, to.part, made->value, sources[2]) : made->value);
    }
  }

  // Returns the bytes at an address, in its space.
  std::byte* place(Form const& form, Operand const& operand, std::size_t bytes) {
    Bits at = operand.bits;
    if (operand.referent == ptx::Referent::function_variable) {
      auto const& variable = entry_.variables[static_cast<std::size_t>(operand.symbol)];
      at += variable.offset_bytes;
    } else if (operand.referent == ptx::Referent::entry_parameter) {
      at += entry_.parameters[static_cast<std::size_t>(operand.symbol)].offset_bytes;
    } else {
      at += registers_[static_cast<std::size_t>(operand.index)];
    }
    auto const inside = [&](std::byte* begin, std::size_t size) {
      if (at > size || bytes > size - at) throw std::logic_error("the reference accesses memory out of bounds");
      return begin + at;
    };
    switch (form.space) {
      case Space::shared: return inside(thread_.shared.data(), thread_.shared.size());
      case Space::local: return inside(thread_.local.data(), thread_.local.size());
      case Space::param:
        return inside(reinterpret_cast<std::byte*>(thread_.parameters.data()),
                      thread_.parameters.size() * sizeof(Bits));
      default: at -= thread_.global->begin; return inside(thread_.global->bytes.data(), thread_.global->bytes.size());
    }
  }

  void access(Instruction const& instruction) {
    Form const& form = *instruction.form;
    bool const loads = form.opcode() == "ld" || form.opcode() == "ldu", stores = form.opcode() == "st";
    bool const atomic = !loads && !stores, returns = form.opcode() == "atom";
    auto const& operands = instruction.operands;
    std::size_t const size = ptx::size_bytes(form.type);
    std::byte* at = place(form, operands[loads || returns ? 1 : 0], size * form.vector_size);
    for (unsigned i = 0; i < form.vector_size; ++i, at += size) {
      auto const element = [&](Operand const& operand) -> Operand const& {
        return operand.kind == OperandKind::vector ? operand.elements[i] : operand;
      };
      Bits old = 0;
      std::memcpy(&old, at, size);
      if (loads || returns) {
        // Compute first, because a source may be the destination.
        Bits const next = atomic ? changed_by(instruction, old) : old;
        set(element(operands[0]), form.type, old);
        if (atomic) std::memcpy(at, &next, size);
      } else {
        Bits const next = stores ? value_of(element(operands[1])) : changed_by(instruction, old);
        std::memcpy(at, &next, size);
      }
    }
  }

  Bits changed_by(Instruction const& instruction, Bits old) const {
    std::size_t const first = instruction.form->opcode() == "atom" ? 2 : 1;
    bool const two = instruction.operands.size() > first + 1;
    return changed(*instruction.form, old, value_of(instruction.operands[first]),
                   two ? value_of(instruction.operands[first + 1]) : 0);
  }

  ptx::Function const& entry_;
  Thread& thread_;
  std::vector<Bits> registers_;
  bool carry_ = false;
};

}  // namespace

std::optional<Outcome> outcome_of(Form const& form, std::span<Bits const> sources, bool carry) {
  if (form.opcode() == "vote") return std::nullopt;
  if (auto made = conversion_outcome(form, sources)) return made;
  if (auto made = comparison_outcome(form, sources)) return made;
  if (auto made = float_outcome(form, sources)) return made;
  return integer_outcome(form, sources, carry);
}

bool supports(Form const& form) {
  if (is_memory(form) || form.opcode() == "bra" || form.opcode() == "ret" || form.opcode() == "exit") return true;
  std::vector<Bits> const zeros(sources_of(form).size());
  return !zeros.empty() && outcome_of(form, zeros, false).has_value();
}

std::uint64_t run_thread(ptx::Function const& entry, Thread& thread) { return Interpreter(entry, thread).run(); }

}  // namespace cuda_cpu::reference
