#include "cuda_cpu/executor/machine/decode.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <stdexcept>

#include "cuda_cpu/executor/machine/operand_decoder.h"
#include "cuda_cpu/executor/machine/spin_loops.h"

namespace cuda_cpu {
namespace {

using ptx::Form;
using ptx::Function;
using ptx::Instruction;
using ptx::Space;

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
      select_matrix,        select_matrix_memory, select_async, select_mbarrier,   select_conversion,
      select_approximation, select_float,         select_half,  select_comparison, select_carry,
      select_integer,       select_bits,          select_move,  select_memory,     select_atomic,
      select_collective,    select_stack,         select_video, select_image};
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

// Returns true for a form that has no effect on the host.
bool is_hint(Form const& form) {
  static constexpr std::string_view kOpcodes[] = {"nanosleep", "prefetch",      "prefetchu",
                                                  "discard",   "applypriority", "griddepcontrol"};
  return std::ranges::find(kOpcodes, form.opcode()) != std::end(kOpcodes);
}

bool is_control(Form const& form) {
  static constexpr std::string_view kOpcodes[] = {"bra", "call", "ret", "exit", "trap", "barrier"};
  return is_hint(form) || std::ranges::find(kOpcodes, form.opcode()) != std::end(kOpcodes) ||
         (form.opcode() == "bar" && !form.has("warp"));
}

BarrierKind barrier_kind(Form const& form) {
  if (form.has("arrive")) return BarrierKind::arrive;
  if (form.has("popc")) return BarrierKind::popc;
  if (!form.has("red")) return BarrierKind::sync;
  return form.has("and") ? BarrierKind::all : BarrierKind::any;
}

bool trap(Warp& warp, Step const& step, Mask lanes) {
  return warp.block.fail(warp, step, lanes, FaultKind::trap, "trap");
}
bool nothing(Warp&, Step const&, Mask) { return true; }

class Decoder {
 public:
  Decoder(ptx::Module const& module, Function const& entry, Addresses const& addresses)
      : module_(module),
        addresses_(addresses),
        kernel_(new_kernel(module, entry)),
        operands_(module, *kernel_, addresses) {}

  std::unique_ptr<DecodedKernel const> run() {
    for (auto const index : kernel_->function->reachable) {
      begins_[index] = static_cast<std::uint32_t>(kernel_->steps.size());
      function_ = &module_.functions()[static_cast<std::size_t>(index)];
      operands_.begin_function(index);
      body();
    }
    for (auto const& [step, callee] : calls_) kernel_->steps[step].target = begins_.at(callee);
    for (auto const& [info, prototype] : calls_by_address_) {
      for (auto const& [index, begin] : begins_)
        if (may_be_called(index, *prototype))
          info->targets.emplace(addresses_.of_function(static_cast<std::size_t>(index)), begin);
    }
    mark_spin_loops(*kernel_);
    return std::move(kernel_);
  }

 private:
  static std::unique_ptr<DecodedKernel> new_kernel(ptx::Module const& module, Function const& entry) {
    auto kernel = std::make_unique<DecodedKernel>();
    kernel->name = entry.name;
    kernel->module = &module;
    kernel->function = &entry;
    kernel->depth = entry.call_depth;
    kernel->local_frame_bytes = entry.local_frame_bytes;
    return kernel;
  }

  void body() {
    auto const begin = static_cast<std::uint32_t>(kernel_->steps.size());
    for (auto const& instruction : function_->instructions) {
      auto const at = kernel_->steps.size();
      Step made = step(instruction, begin);
      if (made.kind == StepKind::call && instruction.prototype < 0) calls_.emplace_back(at, callee_of(instruction));
      kernel_->steps.push_back(made);
    }
    // A function returns at its end, with or without a `ret`.
    Step end;
    end.kind = StepKind::ret;
    end.line = function_->instructions.empty() ? function_->line : function_->instructions.back().line;
    end.place = function_->instructions.empty() ? -1 : function_->instructions.back().place;
    end.form_index = form_index(ptx::find_form("ret"));
    kernel_->steps.push_back(end);
  }

  std::uint32_t form_index(Form const* form) {
    auto const found = std::ranges::find(kernel_->forms, form);
    auto const index = static_cast<std::uint32_t>(found - kernel_->forms.begin());
    if (found == kernel_->forms.end()) kernel_->forms.push_back(form);
    return index;
  }

  std::int32_t callee_of(Instruction const& instruction) const {
    auto const& functions = module_.functions();
    return static_cast<std::int32_t>(std::ranges::find(functions, instruction.callee, &Function::name) -
                                     functions.begin());
  }

  Step step(Instruction const& instruction, std::uint32_t begin) {
    Form const& form = *instruction.form;
    Step made;
    made.index = static_cast<std::uint32_t>(kernel_->steps.size());
    made.line = instruction.line;
    made.place = instruction.place;
    made.form_index = form_index(&form);
    set_modifiers(form, made);
    if (instruction.guard >= 0) made.guard = operands_.location(instruction.guard);
    made.guard_negated = instruction.guard_negated;
    if (is_control(form)) {
      control(made, instruction, begin);
      return made;
    }
    operands_.decode(made, instruction);
    made.handler = select(form, made);
    if (made.handler == nullptr) throw std::logic_error("no handler for " + form.name);
    return made;
  }

  // Fills in a control step. `begin`: the first step of the function.
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
    } else if (is_hint(*instruction.form) || (instruction.form->has("cluster") && instruction.form->has("arrive"))) {
      made.handler = nothing;
    } else if (op == "call") {
      call(made, instruction);
    } else {
      operands_.decode(made, instruction);
      made.kind = StepKind::barrier;
      made.span = SpanKind::barrier_sync;
      made.count = static_cast<std::uint8_t>(instruction.operands.size());
      if (instruction.form->has("cluster")) made.bits = kClusterBarrier;
      made.choice = static_cast<std::uint8_t>(barrier_kind(*instruction.form));
    }
  }

  bool may_be_called(std::int32_t index, ptx::Prototype const& prototype) const {
    auto const& function = module_.functions()[static_cast<std::size_t>(index)];
    return function.address_taken && function.fits(prototype);
  }

  // All functions that the call may reach have their parameters at equal offsets, so the first of them stands for all.
  void call_by_address(Step& made, Instruction const& instruction) {
    auto const& prototype = function_->prototypes[static_cast<std::size_t>(instruction.prototype)];
    auto info = std::make_unique<CallInfo>();
    info->by_address = true;
    for (auto const index : kernel_->function->reachable) {
      if (!may_be_called(index, prototype)) continue;
      auto const& callee = module_.functions()[static_cast<std::size_t>(index)];
      info->arguments = copies(instruction.arguments, callee.parameters, true);
      info->results = copies(instruction.results, callee.results, false);
      break;
    }
    made.source[0] = operands_.location(instruction.operands[0].index);
    made.kind = StepKind::call;
    made.span = SpanKind::call;
    made.call = info.get();
    calls_by_address_.emplace_back(info.get(), &prototype);
    kernel_->calls.push_back(std::move(info));
  }

  void call(Step& made, Instruction const& instruction) {
    if (instruction.prototype >= 0) return call_by_address(made, instruction);
    auto const& callee = module_.functions()[static_cast<std::size_t>(callee_of(instruction))];
    auto info = std::make_unique<CallInfo>();
    info->arguments = copies(instruction.arguments, callee.parameters, true);
    info->results = copies(instruction.results, callee.results, false);
    made.span = SpanKind::call;
    made.call = info.get();
    kernel_->calls.push_back(std::move(info));
    if (callee.has_body)
      made.kind = StepKind::call;
    else
      made.handler = select_provided(callee.name);
  }

  // Returns the copies from variables of the caller to parameters of the callee, or back.
  std::vector<Copy> copies(std::vector<std::int32_t> const& variables, std::vector<ptx::Parameter> const& parameters,
                           bool to_callee) const {
    std::vector<Copy> all;
    for (std::size_t i = 0; i < variables.size(); ++i) {
      auto const& variable = function_->variables[static_cast<std::size_t>(variables[i])];
      auto const in_caller = static_cast<std::uint32_t>(variable.offset_bytes), in_callee = parameters[i].offset_bytes;
      all.push_back(to_callee ? Copy{in_caller, in_callee, parameters[i].size_bytes}
                              : Copy{in_callee, in_caller, parameters[i].size_bytes});
    }
    return all;
  }

  ptx::Module const& module_;
  Addresses const& addresses_;
  std::unique_ptr<DecodedKernel> kernel_;
  OperandDecoder operands_;
  Function const* function_ = nullptr;                       // the function that is being decoded
  std::map<std::int32_t, std::uint32_t> begins_;             // the first step of each function
  std::vector<std::pair<std::size_t, std::int32_t>> calls_;  // a step and the function that it calls
  std::vector<std::pair<CallInfo*, ptx::Prototype const*>> calls_by_address_;
};

}  // namespace

namespace {

std::atomic<bool> forgoes_wide_vectors{false};

}  // namespace

bool has_wide_vectors() noexcept {
#if defined(__x86_64__)
  static bool const has = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  return has && !forgoes_wide_vectors.load(std::memory_order_relaxed);
#else
  return false;
#endif
}

void forgo_wide_vectors() noexcept { forgoes_wide_vectors.store(true, std::memory_order_relaxed); }

std::unique_ptr<DecodedKernel const> decode(ptx::Module const& module, Function const& entry,
                                            Addresses const& addresses) {
  return Decoder(module, entry, addresses).run();
}

Handler find_handler(Form const& form) {
  if (is_control(form)) return nothing;
  Step step;
  set_modifiers(form, step);
  if (form.opcode() == "st" && step.space == Space::param) step.space = Space::local;  // stores to .param go to frames
  return select(form, step);
}

}  // namespace cuda_cpu
