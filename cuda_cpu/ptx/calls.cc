// Reads the operands of calls, and computes the resources that an entry needs for the functions that it calls.
#include <algorithm>
#include <map>

#include "cuda_cpu/ptx/builder.h"

namespace cuda_cpu::ptx {
namespace {

constexpr std::uint32_t kRecursiveDepth = 1024;  // less if their frames take too much memory
constexpr std::uint32_t kAllocaBytes = 64 * 1024;
constexpr std::uint32_t kMaxCallDepth = 64;
constexpr std::uint32_t kMaxSharedBytes = 48 * 1024;
constexpr std::uint64_t kMaxLocalBytes = 512 * 1024;  // limit for a thread, as on devices

void refuse(std::optional<Refusal>& refusal, int line, std::string_view what) {
  if (!refusal) refusal = Unsupported(line, what).refusal;
}

// Follows the calls of an entry.
class Linker {
 public:
  Linker(std::vector<Function>& functions, std::vector<Variable>& variables, Function& entry)
      : functions_(functions), variables_(variables), entry_(entry) {}

  void run() {
    auto const self = static_cast<std::int32_t>(&entry_ - functions_.data());
    entry_.call_depth = visit(self, 0);
    std::uint32_t frame = 0;
    for (auto const index : entry_.reachable)
      frame = std::max(frame, functions_[static_cast<std::size_t>(index)].frame_bytes);
    frame = (frame + 15) / 16 * 16;
    if (entry_.recursive) {
      auto const fit = static_cast<std::uint32_t>((kMaxLocalBytes - entry_.alloca_bytes) / std::max(frame, 1u));
      entry_.call_depth = std::max(entry_.call_depth, std::min(kRecursiveDepth, std::max(fit, 1u) - 1));
    }
    if (std::uint64_t{frame} * (entry_.call_depth + 1) + entry_.alloca_bytes > kMaxLocalBytes)
      return refuse(entry_.refusal, entry_.line, "more than 512 KiB of local memory for a thread");
    entry_.local_frame_bytes = frame;
    entry_.local_bytes = frame * (entry_.call_depth + 1) + entry_.alloca_bytes;
    place_shared();
  }

 private:
  // Returns the depth of the deepest chain of calls that begins at `index`.
  std::uint32_t visit(std::int32_t index, std::uint32_t depth) {
    if (std::ranges::find(path_, index) != path_.end()) {
      entry_.recursive = true;
      return 0;
    }
    if (depth > kMaxCallDepth) {
      refuse(entry_.refusal, functions_[static_cast<std::size_t>(index)].line, "a chain of more than 64 calls");
      return 0;
    }
    if (auto const known = depths_.find(index); known != depths_.end()) return known->second;
    entry_.reachable.push_back(index);
    path_.push_back(index);
    Function const& function = functions_[static_cast<std::size_t>(index)];
    std::uint32_t deepest = 0;
    for (auto const& instruction : function.instructions) {
      use_variables(instruction);
      if (instruction.form->opcode() == "alloca") entry_.alloca_bytes = kAllocaBytes;
      if (instruction.prototype >= 0) {
        auto const& prototype = function.prototypes[static_cast<std::size_t>(instruction.prototype)];
        for (auto const& callee : functions_)
          if (callee.address_taken && callee.has_body && callee.fits(prototype)) follow(callee, deepest, depth);
      }
      if (instruction.callee.empty()) continue;
      auto const callee = std::ranges::find(functions_, instruction.callee, &Function::name);
      if (callee != functions_.end() && is_provided(*callee)) continue;
      if (callee == functions_.end() || !callee->has_body || callee->is_entry) {
        bool const is_runtime = instruction.callee.starts_with("__cudaCDP2") ||  // libcudadevrt
                                instruction.callee.starts_with("cudaGraph");     // cudaGraphSetConditional()
        refuse(entry_.refusal, instruction.line,
               "a call of " + quoted(instruction.callee) +
                   (is_runtime ? ": kernels cannot call the CUDA runtime, launch kernels or change graphs"
                               : ", which has no body"));
      } else {
        follow(*callee, deepest, depth);
      }
    }
    path_.pop_back();
    depths_[index] = deepest;
    return deepest;
  }

  void follow(Function const& callee, std::uint32_t& deepest, std::uint32_t depth) {
    if (callee.refusal && !entry_.refusal) entry_.refusal = callee.refusal;
    deepest = std::max(deepest, 1 + visit(static_cast<std::int32_t>(&callee - functions_.data()), depth + 1));
  }

  // Returns true for a function that the device provides, declared with the parameters that the device expects.
  static bool is_provided(Function const& function) {
    if (function.has_body || function.refusal) return false;
    auto const have_sizes = [](std::vector<Parameter> const& all, std::initializer_list<std::uint32_t> sizes) {
      return std::ranges::equal(all, sizes, {}, &Parameter::size_bytes);
    };
    if (function.name == "vprintf") return have_sizes(function.parameters, {8, 8}) && have_sizes(function.results, {4});
    if (function.name == "malloc") return have_sizes(function.parameters, {8}) && have_sizes(function.results, {8});
    if (function.name == "free") return have_sizes(function.parameters, {8}) && function.results.empty();
    return function.name == "__assertfail" && have_sizes(function.parameters, {8, 8, 4, 8, 8}) &&
           function.results.empty();
  }

  void use_variables(Instruction const& instruction) {
    for (auto const& operand : instruction.operands) {
      if (operand.referent != Referent::module_variable) continue;
      auto const& variable = variables_[static_cast<std::size_t>(operand.symbol)];
      if (variable.refusal && !entry_.refusal) entry_.refusal = variable.refusal;
      if (variable.space == Space::shared && std::ranges::find(shared_, operand.symbol) == shared_.end())
        shared_.push_back(operand.symbol);
    }
  }

  void place(std::int32_t function, std::int32_t index, Variable const& variable) {
    auto const begin = (entry_.static_shared_bytes + std::uint64_t{variable.align_bytes} - 1) / variable.align_bytes *
                       variable.align_bytes;
    if (begin + variable.size_bytes > kMaxSharedBytes)
      return refuse(entry_.refusal, entry_.line, "more than 48 KiB of shared memory");
    entry_.shared.push_back({function, index, static_cast<std::uint32_t>(begin)});
    entry_.static_shared_bytes = static_cast<std::uint32_t>(begin + variable.size_bytes);
  }

  // Variables whose size is set by the launch come last, all at one place.
  void place_shared() {
    for (auto const index : entry_.reachable) {
      auto const& variables = functions_[static_cast<std::size_t>(index)].variables;
      entry_.uses_reserved_shared |= functions_[static_cast<std::size_t>(index)].uses_reserved_shared;
      for (std::size_t i = 0; i < variables.size(); ++i)
        if (variables[i].space == Space::shared) place(index, static_cast<std::int32_t>(i), variables[i]);
    }
    bool dynamic = false;
    for (auto const index : shared_) {
      auto const& variable = variables_[static_cast<std::size_t>(index)];
      if (variable.size_bytes != 0)
        place(-1, index, variable);
      else
        dynamic = true;
    }
    if (!dynamic) return;
    std::uint32_t alignment = 16;
    for (auto const index : shared_)
      alignment = std::max(alignment, variables_[static_cast<std::size_t>(index)].align_bytes);
    entry_.static_shared_bytes = (entry_.static_shared_bytes + alignment - 1) / alignment * alignment;
    for (auto const index : shared_)
      if (variables_[static_cast<std::size_t>(index)].size_bytes == 0)
        entry_.shared.push_back({-1, index, entry_.static_shared_bytes});
  }

  std::vector<Function>& functions_;
  std::vector<Variable>& variables_;
  Function& entry_;
  std::vector<std::int32_t> path_;
  std::vector<std::int32_t> shared_;  // the used shared variables of the module
  std::map<std::int32_t, std::uint32_t> depths_;
};

}  // namespace

std::vector<std::int32_t> OperandReader::call_names() {
  std::vector<std::int32_t> names;
  cursor_.expect('(');
  if (cursor_.accept(')')) return names;
  do {
    auto const index = cursor_.peek().kind == TokenKind::word ? scopes_.find_variable(cursor_.take().text) : -1;
    if (index < 0 || function_.variables[static_cast<std::size_t>(index)].space != Space::param) cursor_.unsupported();
    names.push_back(index);
  } while (cursor_.accept(','));
  cursor_.expect(')');
  return names;
}

void OperandReader::call(Instruction& instruction) {
  if (cursor_.peek().is('(')) {
    instruction.results = call_names();
    cursor_.expect(',');
  }
  Token const callee = cursor_.expect(TokenKind::word, "a function");
  if (scopes_.find_register(callee.text) >= 0) return call_by_address(instruction, callee);
  auto const known = module_.find_function(callee.text);
  if (known < 0) cursor_.fail(callee, "undeclared function");
  instruction.callee = callee.text;
  if (cursor_.accept(',')) instruction.arguments = call_names();
  if (!cursor_.peek().is(';')) cursor_.unsupported();  // a prototype
  auto const& function = module_.functions()[static_cast<std::size_t>(known)];
  if (function.is_entry) cursor_.unsupported();
  check_call(instruction, function.results, function.parameters);
}

void OperandReader::prototype(std::string_view name) {
  Prototype made;
  made.name = name;
  if (cursor_.peek().is('(')) made.results = module_.parameters(nullptr);
  cursor_.name();  // _
  if (cursor_.peek().is('(')) made.parameters = module_.parameters(nullptr);
  cursor_.accept(".noreturn");
  cursor_.expect(';');
  function_.prototypes.push_back(std::move(made));
}

// `call (result), %address, (parameters), prototype;`
void OperandReader::call_by_address(Instruction& instruction, Token const& address) {
  OperandSpec spec;
  spec.type = Type::b64;
  auto& operand = instruction.operands.emplace_back();
  operand.kind = OperandKind::reg;
  operand.index = typed_register(address, spec);
  if (!cursor_.accept(',')) cursor_.unsupported();  // a call by address needs a prototype
  if (cursor_.peek().is('(')) {
    instruction.arguments = call_names();
    cursor_.expect(',');
  }
  Token const& name = cursor_.name();
  // An inner scope may repeat a name: the last prototype of that name is meant.
  auto const found = std::find_if(function_.prototypes.rbegin(), function_.prototypes.rend(),
                                  [&](Prototype const& one) { return one.name == name.text; });
  if (found == function_.prototypes.rend() || !cursor_.peek().is(';')) cursor_.unsupported();  // a list of targets
  instruction.prototype = static_cast<std::int32_t>(found.base() - function_.prototypes.begin()) - 1;
  check_call(instruction, found->results, found->parameters);
}

void OperandReader::check_call(Instruction const& instruction, std::vector<Parameter> const& results,
                               std::vector<Parameter> const& parameters) const {
  auto const same = [this](std::vector<std::int32_t> const& given, std::vector<Parameter> const& wanted) {
    return std::ranges::equal(
        given, wanted, {},
        [this](std::int32_t i) { return function_.variables[static_cast<std::size_t>(i)].size_bytes; },
        [](Parameter const& one) { return std::uint64_t{one.size_bytes}; });
  };
  if (!same(instruction.arguments, parameters) || !same(instruction.results, results)) cursor_.unsupported();
}

void link_functions(std::vector<Function>& functions, std::vector<Variable>& variables) {
  for (auto& function : functions)
    if (function.is_entry && function.has_body) Linker(functions, variables, function).run();
}

}  // namespace cuda_cpu::ptx
