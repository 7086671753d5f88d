#include "cuda_cpu/executor/program.h"

#include <cstring>
#include <map>
#include <vector>

#include "cuda_cpu/executor/machine/decode.h"
#include "tracing_core/support/mutex.h"

namespace cuda_cpu {

struct alignas(Addresses::kCodeBytes) CodePlace {
  std::byte bytes[Addresses::kCodeBytes];
};

struct Program::State {
  DeviceMemory& memory;
  Addresses addresses = {};
  std::unique_ptr<CodePlace[]> code = {};  // an element for each function: their addresses are unique in the process
  tracing::support::Mutex mutex = {};
  std::map<std::string, std::unique_ptr<DecodedKernel const>, std::less<>> kernels TRACING_GUARDED_BY(mutex) = {};
};

Program::Program(std::shared_ptr<ptx::Module const> module, DeviceMemory& memory)
    : module_(std::move(module)), state_(new State{memory}) {}

Program::~Program() {
  for (auto const address : state_->addresses.variables)
    if (address != 0) state_->memory.free(address, "freed with their module");
}

std::shared_ptr<Program const> Program::load(std::shared_ptr<ptx::Module const> module, DeviceMemory& memory) {
  std::shared_ptr<Program> made(new Program(std::move(module), memory));
  auto& addresses = made->state_->addresses.variables;
  made->state_->code.reset(new CodePlace[made->module_->functions().size() + 1]);
  made->state_->addresses.code = reinterpret_cast<std::uintptr_t>(made->state_->code.get());
  auto const& variables = made->module_->variables();
  for (auto const& variable : variables) {
    bool const placed = variable.space != ptx::Space::shared && variable.size_bytes != 0;
    addresses.push_back(placed ? memory.allocate(variable.size_bytes, variable.space == ptx::Space::constant,
                                                 "of the variable " + variable.name)
                               : 0);
    if (!placed) continue;
    if (addresses.back() == 0) return nullptr;
    auto* const to = reinterpret_cast<std::byte*>(addresses.back());
    std::memset(to, 0, variable.size_bytes);
    if (!variable.initial.empty()) std::memcpy(to, variable.initial.data(), variable.initial.size());
  }
  for (std::size_t i = 0; i < variables.size(); ++i) {
    for (auto const& relocation : variables[i].relocations) {
      auto* const place = reinterpret_cast<std::byte*>(addresses[i] + relocation.offset_bytes);
      std::uint64_t value = 0;
      std::memcpy(&value, place, sizeof value);
      value += made->address_of(relocation.symbol);
      std::memcpy(place, &value, sizeof value);
    }
  }
  return made;
}

std::uintptr_t Program::address_of(std::string_view symbol) const noexcept {
  auto const* const function = module_->find_function(symbol);
  if (function == nullptr) return find_variable(symbol).address;
  return state_->addresses.of_function(static_cast<std::size_t>(function - module_->functions().data()));
}

LoadedVariable Program::find_variable(std::string_view name) const noexcept {
  auto const* const variable = module_->find_variable(name);
  if (variable == nullptr) return {};
  std::uintptr_t const address =
      state_->addresses.variables[static_cast<std::size_t>(variable - module_->variables().data())];
  return address == 0 ? LoadedVariable{} : LoadedVariable{address, variable->size_bytes};
}

DecodedKernel const* Program::find_kernel(std::string_view name) const {
  auto const* const entry = module_->find_entry(name);
  if (entry == nullptr || entry->refusal) return nullptr;
  tracing::support::MutexLock const lock(state_->mutex);
  auto const known = state_->kernels.find(name);
  if (known != state_->kernels.end()) return known->second.get();
  auto decoded = decode(*module_, *entry, state_->addresses);
  return state_->kernels.emplace(name, std::move(decoded)).first->second.get();
}

}  // namespace cuda_cpu
