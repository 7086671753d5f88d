#include "cuda_tests/executor/decode.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>

#include "cuda_tests/executor/spin_loops.h"

namespace cuda_tests {
namespace {

using ptx::Form;
using ptx::Function;
using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;
using ptx::OperandRole;
using ptx::Referent;
using ptx::Space;
using ptx::Type;

// The part of a frame that holds registers of one width. All functions of a kernel have their parts at the same places, so
// that lanes in different functions at the same depth never write into each other's registers.
struct Classes {
  std::uint32_t predicates = 0;
  std::uint32_t halves = 0;
  std::uint32_t words = 0;
  std::uint32_t longs = 0;

  std::uint32_t& of(Type type) {
    switch (size_bytes(type)) {
      case 0: return predicates;
      case 2: return halves;
      case 4: return words;
      default: return longs;
    }
  }
};

std::uint32_t aligned(std::uint32_t value) { return (value + 63) / 64 * 64; }

Rounding rounding_of(Form const& form) {
  for (auto const word : form.words) {
    if (word == "rz" || word == "rzi") return Rounding::zero;
    if (word == "rm" || word == "rmi") return Rounding::down;
    if (word == "rp" || word == "rpi") return Rounding::up;
  }
  return Rounding::nearest;
}

Handler select(Form const& form, Step& step) {
  static constexpr Handler (*kFamilies[])(Form const&, Step&) = {
      select_conversion, select_approximation, select_float, select_half, select_comparison, select_integer,
      select_bits,       select_move,          select_memory, select_atomic, select_collective};
  for (auto const family : kFamilies)
    if (Handler const handler = family(form, step)) return handler;
  return nullptr;
}

void set_modifiers(Form const& form, Step& step) {
  step.rounding = rounding_of(form);
  step.ftz = form.has("ftz");
  step.saturate = form.has("sat");
  step.space = form.space;
}

bool is_control(Form const& form) {
  static constexpr std::string_view kOpcodes[] = {"bra", "call", "ret", "exit", "trap", "nanosleep", "barrier"};
  return std::ranges::find(kOpcodes, form.opcode()) != std::end(kOpcodes) || (form.opcode() == "bar" && !form.has("warp"));
}

bool trap(Warp& warp, Step const& step, Mask lanes) {
  return warp.block.fail(warp, step, lanes, FaultKind::illegal_instruction, "trap");
}
bool nothing(Warp&, Step const&, Mask) { return true; }

class Decoder {
 public:
  Decoder(ptx::Module const& module, Function const& entry, std::function<std::uintptr_t(std::size_t)> const& address_of)
      : module_(module), address_of_(address_of), kernel_(std::make_unique<DecodedKernel>()) {
    kernel_->name = entry.name;
    kernel_->function = &entry;
    kernel_->depth = entry.call_depth;
    kernel_->local_frame_bytes = entry.local_bytes / (entry.call_depth + 1);
  }

  std::unique_ptr<DecodedKernel const> run() {
    lay_out();
    for (auto const index : kernel_->function->reachable) {
      begins_[index] = static_cast<std::uint32_t>(kernel_->steps.size());
      function_ = &module_.functions()[static_cast<std::size_t>(index)];
      function_index_ = index;
      body();
    }
    for (auto const& [step, callee] : calls_) kernel_->steps[step].target = begins_.at(callee);
    mark_spin_loops(*kernel_);
    return std::move(kernel_);
  }

 private:
  void lay_out() {
    Classes most;
    for (auto const index : kernel_->function->reachable) {
      Classes count;
      for (auto const& one : module_.functions()[static_cast<std::size_t>(index)].registers) ++count.of(one.type);
      most.predicates = std::max(most.predicates, count.predicates);
      most.halves = std::max(most.halves, count.halves);
      most.words = std::max(most.words, count.words);
      most.longs = std::max(most.longs, count.longs);
    }
    begin_.predicates = sizeof(Mask);  // the first word is the carry
    begin_.halves = aligned(begin_.predicates + most.predicates * static_cast<std::uint32_t>(sizeof(Mask)));
    begin_.words = aligned(begin_.halves + most.halves * 2 * kLanes);
    begin_.longs = aligned(begin_.words + most.words * 4 * kLanes);
    kernel_->frame_bytes = begin_.longs + most.longs * 8 * kLanes;
  }

  void body() {
    locations_.clear();
    Classes next;
    for (auto const& one : function_->registers) {
      std::uint32_t const bytes = one.type == Type::pred ? sizeof(Mask) : size_bytes(one.type) * kLanes;
      locations_.push_back(begin_.of(one.type) + next.of(one.type)++ * bytes);
    }
    auto const begin = static_cast<std::uint32_t>(kernel_->steps.size());
    for (auto const& instruction : function_->instructions) {
      auto const at = kernel_->steps.size();
      Step made = step(instruction, begin);
      if (!instruction.callee.empty() && made.kind == StepKind::call) calls_.emplace_back(at, callee_of(instruction));
      kernel_->steps.push_back(made);
    }
    // Whoever gets behind the last instruction has come to the end.
    Step end;
    end.kind = StepKind::ret;
    end.line = function_->instructions.empty() ? function_->line : function_->instructions.back().line;
    end.form_index = form_index(ptx::find_form("ret"));
    kernel_->steps.push_back(end);
  }

  std::uint32_t form_index(Form const* form) {
    auto const found = std::ranges::find(kernel_->forms, form);
    if (found == kernel_->forms.end()) {
      kernel_->forms.push_back(form);
      return static_cast<std::uint32_t>(kernel_->forms.size() - 1);
    }
    return static_cast<std::uint32_t>(found - kernel_->forms.begin());
  }

  std::int32_t callee_of(Instruction const& instruction) const {
    auto const& functions = module_.functions();
    return static_cast<std::int32_t>(std::ranges::find(functions, instruction.callee, &Function::name) - functions.begin());
  }

  Location constant(std::uint64_t bits, Type type) {
    auto const [where, is_new] =
        constants_.emplace(std::pair(bits, size_bytes(type)), static_cast<Location>(kernel_->constants.size()));
    if (is_new) {
      auto& bytes = kernel_->constants;
      std::size_t const size = type == Type::pred ? sizeof(Mask) : size_bytes(type);
      std::uint64_t const value = type == Type::pred ? (bits != 0 ? kAllLanes : 0) : bits;
      std::size_t const begin = bytes.size();
      bytes.resize(aligned(static_cast<std::uint32_t>(begin + size * (type == Type::pred ? 1 : kLanes))));
      for (std::size_t i = 0; i < (type == Type::pred ? 1 : kLanes); ++i)
        std::memcpy(bytes.data() + begin + i * size, &value, size);
    }
    return where->second | kConstant;
  }

  Location location(std::int32_t index) const { return locations_[static_cast<std::size_t>(index)]; }
  std::uint8_t width(std::int32_t index) const {
    return static_cast<std::uint8_t>(size_bytes(function_->registers[static_cast<std::size_t>(index)].type));
  }

  // Where a variable is in its space.
  std::uint64_t symbol(Operand const& operand, Step& step) {
    auto const index = static_cast<std::size_t>(operand.symbol);
    if (operand.referent == Referent::entry_parameter) return function_->parameters[index].offset_bytes;
    auto const owner = operand.referent == Referent::function_variable ? function_index_ : -1;
    auto const& variable = owner < 0 ? module_.variables()[index] : function_->variables[index];
    if (variable.space == Space::shared) {
      for (auto const& slot : kernel_->function->shared)
        if (slot.function == owner && slot.variable == operand.symbol) return slot.offset_bytes;
    }
    if (owner < 0) return address_of_(index);
    step.frame_relative = true;
    return variable.offset_bytes;
  }

  void source(Step& step, unsigned i, Operand const& operand, Type type) {
    if (operand.kind == OperandKind::reg) {
      step.source[i] = location(operand.index);
      step.source_width[i] = width(operand.index);
      if (operand.negated) step.negated = static_cast<std::uint8_t>(step.negated | 1 << i);
    } else {
      // Narrow numbers have no registers of their own width.
      Type const held = size_bytes(type) == 1 ? Type::b16 : type;
      step.source[i] = constant(operand.bits, held);
      step.source_width[i] = static_cast<std::uint8_t>(size_bytes(held));
    }
  }

  void destination(Step& step, unsigned i, Operand const& operand) {
    if (operand.kind != OperandKind::reg) return;
    step.destination[i] = location(operand.index);
    step.width[i] = width(operand.index);
  }

  void address(Step& step, Operand const& operand) {
    step.bits = operand.bits;
    step.range = kernel_->ranges++;
    if (operand.referent != Referent::none) {
      step.bits += symbol(operand, step);
      // What a function gets and gives lies in its frame, and only what a launch hands over in a buffer.
      if (step.space == Space::param && operand.referent != Referent::entry_parameter) step.space = Space::local;
      return;
    }
    step.base = location(operand.index);
    step.base_width = width(operand.index);
    if (step.space == Space::param && !function_->is_entry) step.space = Space::local;
  }

  void move(Step& step, Instruction const& instruction) {
    auto const& to = instruction.operands[0];
    auto const& from = instruction.operands[1];
    auto kind = MoveKind::plain;
    if (to.kind == OperandKind::vector) {
      kind = MoveKind::unpack;
      step.count = static_cast<std::uint8_t>(to.elements.size());
      for (unsigned i = 0; i < to.elements.size(); ++i) destination(step, i, to.elements[i]);
      source(step, 0, from, instruction.form->type);
    } else {
      destination(step, 0, to);
      if (from.kind == OperandKind::vector) {
        kind = MoveKind::pack;
        step.count = static_cast<std::uint8_t>(from.elements.size());
        Type const part = size_bytes(instruction.form->type) / from.elements.size() == 4 ? Type::b32 : Type::b16;
        for (unsigned i = 0; i < from.elements.size(); ++i) source(step, i, from.elements[i], part);
      } else if (from.kind == OperandKind::special) {
        kind = MoveKind::special;
        step.bits = static_cast<std::uint64_t>(from.index);
      } else if (from.kind == OperandKind::symbol) {
        kind = MoveKind::address;
        step.bits = symbol(from, step) + from.bits;
      } else {
        source(step, 0, from, instruction.form->type);
      }
    }
    step.choice = static_cast<std::uint8_t>(kind);
  }

  void operands(Step& step, Instruction const& instruction) {
    Form const& form = *instruction.form;
    if (form.opcode() == "mov" && form.type != Type::pred) return move(step, instruction);
    unsigned sources = 0;
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
      auto const& operand = instruction.operands[i];
      auto const& spec = form.operands[i];
      switch (spec.role) {
        case OperandRole::destination:
        case OperandRole::any_destination:
        case OperandRole::set_predicate:
        case OperandRole::set_predicates:
          if (operand.kind == OperandKind::vector) {
            for (unsigned k = 0; k < operand.elements.size(); ++k) destination(step, k, operand.elements[k]);
          } else {
            destination(step, 0, operand);
            if (operand.other >= 0) step.destination[1] = location(operand.other);
          }
          break;
        case OperandRole::source:
        case OperandRole::any_source:
        case OperandRole::predicate: {
          if (operand.kind == OperandKind::vector) {
            for (auto const& element : operand.elements) source(step, sources++, element, spec.type);
            break;
          }
          if (operand.kind == OperandKind::symbol) {
            variable_source(step, sources++, operand);
            break;
          }
          source(step, sources++, operand, spec.role == OperandRole::predicate ? Type::pred : spec.type);
          break;
        }
        case OperandRole::immediate: step.bits = operand.bits; break;
        case OperandRole::address: address(step, operand); break;
        case OperandRole::label:
        case OperandRole::call: break;
      }
    }
  }

  // cvta of a variable: of local memory the frame is added by the handler of an address.
  void variable_source(Step& step, unsigned i, Operand const& operand) {
    Step scratch;
    std::uint64_t const at = symbol(operand, scratch) + operand.bits;
    step.source[i] = constant(at, Type::b64);
    step.source_width[i] = 8;
    step.frame_relative = scratch.frame_relative;
  }

  Step step(Instruction const& instruction, std::uint32_t begin) {
    Form const& form = *instruction.form;
    Step made;
    made.line = instruction.line;
    made.form_index = form_index(&form);
    set_modifiers(form, made);
    if (instruction.guard >= 0) made.guard = location(instruction.guard);
    made.guard_negated = instruction.guard_negated;
    if (is_control(form)) {
      control(made, instruction, begin);
      return made;
    }
    operands(made, instruction);
    made.handler = select(form, made);
    if (form.opcode().starts_with("add") || form.opcode().starts_with("sub")) made.destination[1] = 0;  // the carry
    if (made.handler == nullptr) throw std::logic_error("no handler of " + form.name);
    return made;
  }

  void control(Step& made, Instruction const& instruction, std::uint32_t begin) {
    std::string_view const op = instruction.form->opcode();
    if (op == "bra") {
      made.kind = StepKind::branch;
      made.span = SpanKind::bra;
      made.target = begin + static_cast<std::uint32_t>(instruction.operands[0].index);
    } else if (op == "ret" || op == "exit") {
      made.kind = op == "ret" ? StepKind::ret : StepKind::exit;
      made.span = op == "ret" ? SpanKind::ret : SpanKind::exit;
    } else if (op == "trap") {
      made.handler = trap;
    } else if (op == "nanosleep") {
      made.handler = nothing;
    } else if (op == "call") {
      call(made, instruction);
    } else {
      operands(made, instruction);
      made.kind = StepKind::barrier;
      made.span = SpanKind::barrier_sync;
      made.count = static_cast<std::uint8_t>(instruction.operands.size());
      made.choice = static_cast<std::uint8_t>(barrier_kind(*instruction.form));
    }
  }

  static BarrierKind barrier_kind(Form const& form) {
    if (form.has("arrive")) return BarrierKind::arrive;
    if (form.has("popc")) return BarrierKind::popc;
    if (!form.has("red")) return BarrierKind::sync;
    return form.has("and") ? BarrierKind::all : BarrierKind::any;
  }

  void call(Step& made, Instruction const& instruction) {
    auto const& callee = module_.functions()[static_cast<std::size_t>(callee_of(instruction))];
    auto info = std::make_unique<CallInfo>();
    auto const copies = [this](std::vector<std::int32_t> const& mine, std::vector<ptx::Parameter> const& theirs, bool in) {
      std::vector<Copy> all;
      for (std::size_t i = 0; i < mine.size(); ++i) {
        auto const here = static_cast<std::uint32_t>(function_->variables[static_cast<std::size_t>(mine[i])].offset_bytes);
        all.push_back(in ? Copy{here, theirs[i].offset_bytes, theirs[i].size_bytes}
                         : Copy{theirs[i].offset_bytes, here, theirs[i].size_bytes});
      }
      return all;
    };
    info->arguments = copies(instruction.arguments, callee.parameters, true);
    info->results = copies(instruction.results, callee.results, false);
    made.span = SpanKind::call;
    made.call = info.get();
    kernel_->calls.push_back(std::move(info));
    if (callee.has_body) made.kind = StepKind::call;
    else made.handler = select_provided(callee.name);
  }

  ptx::Module const& module_;
  std::function<std::uintptr_t(std::size_t)> const& address_of_;
  std::unique_ptr<DecodedKernel> kernel_;
  Function const* function_ = nullptr;
  std::int32_t function_index_ = -1;
  Classes begin_;
  std::vector<Location> locations_;
  std::map<std::pair<std::uint64_t, unsigned>, Location> constants_;
  std::map<std::int32_t, std::uint32_t> begins_;
  std::vector<std::pair<std::size_t, std::int32_t>> calls_;
};

}  // namespace

std::unique_ptr<DecodedKernel const> decode(ptx::Module const& module, Function const& entry,
                                            std::function<std::uintptr_t(std::size_t)> const& address_of) {
  return Decoder(module, entry, address_of).run();
}

Handler find_handler(Form const& form) {
  if (is_control(form)) return nothing;
  Step step;
  set_modifiers(form, step);
  if (form.opcode() == "st" && step.space == Space::param) step.space = Space::local;  // there is no other
  return select(form, step);
}

}  // namespace cuda_tests
