#include "cuda_cpu/process/registry.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "cuda_cpu/cpu/cpu_driver.h"
#include "cuda_cpu/fatbin/fatbin.h"
#include "cuda_cpu/graph/errors.h"
#include "cuda_cpu/process/driver.h"
#include "tracing_core/cuda/driver/kernel_name.h"
#include "tracing_core/support/cut_in_middle.h"

namespace cuda_cpu::process {

using graph::explain;
using graph::refuse;
using graph::to_error;
using tracing::support::MutexLock;

namespace {

// Returns the name of the program or library that contains an image; empty for other memory, such as PTX that was read
// from a file.
std::string file_of(void const* image) {
  Dl_info info{};
  if (dladdr(image, &info) == 0 || info.dli_fname == nullptr) return {};
  std::string_view const path = info.dli_fname;
  return std::string(path.substr(path.rfind('/') + 1));
}

}  // namespace

std::size_t bytes_of(void const* image) {
  if (fatbin::is_container(image)) return fatbin::container_at(image).size();
  if (!fatbin::is_wrapper(image)) return std::strlen(static_cast<char const*>(image));  // PTX
  std::size_t bytes = 0;
  auto const containers = fatbin::containers_of(image);
  if (auto const* const all = std::get_if<0>(&containers))
    for (auto const& container : *all) bytes += container.size();
  return bytes;
}

CUresult Binary::load(CUmodule* module, std::string const& user) {
  MutexLock const lock(mutex_);
  if (!is_loaded_) {
    result_ = driver().module_load(&module_, image_, file_of(image_), bytes_of(image_));
    if (result_ != CUDA_SUCCESS) why_ = cpu_driver_last_message();
    is_loaded_ = true;
  }
  if (result_ != CUDA_SUCCESS) refuse(to_error(result_), why_ + "; " + user + " cannot be used");
  *module = module_;
  return result_;
}

void Binary::unload() noexcept {
  MutexLock const lock(mutex_);
  if (module_ != nullptr) driver().module_unload(module_);
  module_ = nullptr;
  is_loaded_ = false;
}

CUresult Kernel::find(CUfunction* function) {
  *function = function_.load(std::memory_order_acquire);
  if (*function != nullptr) [[likely]]
    return CUDA_SUCCESS;
  CUmodule module = nullptr;
  std::string const of_user = "the kernel " + tracing::support::cut_in_middle(tracing::cuda::kernel_name(name.c_str()),
                                                                              tracing::cuda::kMaxKernelName);
  if (CUresult const result = binary.load(&module, of_user); result != CUDA_SUCCESS) return result;
  CUresult const result = driver().module_get_function(function, module, name.c_str());
  if (result == CUDA_SUCCESS)
    function_.store(*function, std::memory_order_release);
  else
    explain(fmt::format("{}; {} cannot be used", cpu_driver_last_message(), of_user));
  return result;
}

CUresult Variable::find(CUdeviceptr* address) {
  CUmodule module = nullptr;
  if (CUresult const result = binary.load(&module, "the variable " + name); result != CUDA_SUCCESS) return result;
  CUresult const result = driver().check(driver().api().module_get_global(address, nullptr, module, name.c_str()),
                                         fmt::format("cuModuleGetGlobal({})", name));
  // Code made by nvcc ignores the result when it asks for the address of a managed variable, so explain it here.
  if (result != CUDA_SUCCESS)
    explain(fmt::format("its module does not define it; the variable {} cannot be used", name));
  return result;
}

bool is_complete(std::string const& image) {
  constexpr std::size_t kHeaderBytes = 16;
  if (image.size() < kHeaderBytes || fatbin::is_wrapper(image.data())) return !fatbin::is_wrapper(image.c_str());
  return !fatbin::is_container(image.data()) || fatbin::container_at(image.data()).size() <= image.size();
}

Binary& Registry::add(void const* wrapper) {
  MutexLock const lock(mutex_);
  return *binaries_.emplace_back(std::make_unique<Binary>(wrapper));
}

void Registry::remove(Binary& binary) noexcept {
  MutexLock const lock(mutex_);
  std::erase_if(kernels_, [&](auto const& entry) { return &entry.second->binary == &binary; });
  std::erase_if(variables_, [&](auto const& entry) { return &entry.second->binary == &binary; });
  std::erase_if(binaries_, [&](auto const& its) { return its.get() == &binary; });
}

Kernel& Registry::add_kernel(Binary& binary, void const* host_function, char const* name) {
  auto kernel = std::make_shared<Kernel>(binary, name);
  MutexLock const lock(mutex_);
  // Each unit with an inline kernel registers it: the first is as good as the others.
  auto const [entry, is_new] = kernels_.emplace(host_function, kernel);
  if (is_new) kernels_.emplace(kernel.get(), kernel);
  return *entry->second;
}

void Registry::remove_kernel(void const* host_function) noexcept {
  MutexLock const lock(mutex_);
  auto const found = kernels_.find(host_function);
  if (found == kernels_.end()) return;
  kernels_.erase(found->second.get());
  kernels_.erase(host_function);
}

void Registry::add_variable(Binary& binary, void const* host_variable, char const* name, std::size_t bytes,
                            void** host_pointer) {
  MutexLock const lock(mutex_);
  variables_.emplace(host_variable, std::make_unique<Variable>(binary, name, bytes, host_pointer));
}

Kernel* Registry::find_kernel(void const* host_function) const {
  MutexLock const lock(mutex_);
  auto const found = kernels_.find(host_function);
  return found == kernels_.end() ? nullptr : found->second.get();
}

void const* Registry::host_function_of(CUfunction function) const {
  MutexLock const lock(mutex_);
  for (auto const& [key, kernel] : kernels_)
    if (key != kernel.get() && kernel->is(function)) return key;
  return nullptr;
}

std::string Registry::name_of(CUfunction function) const {
  MutexLock const lock(mutex_);
  for (auto const& [key, kernel] : kernels_)
    if (kernel->is(function)) return tracing::cuda::kernel_name(kernel->name.c_str());
  return "a kernel";
}

Variable* Registry::find_variable(void const* host_variable) const {
  MutexLock const lock(mutex_);
  auto const found = variables_.find(host_variable);
  return found == variables_.end() ? nullptr : found->second.get();
}

CUresult Registry::place_managed(Binary& binary) {
  std::vector<Variable*> managed;
  {
    MutexLock const lock(mutex_);
    for (auto const& [host, variable] : variables_)
      if (variable->host_pointer != nullptr && &variable->binary == &binary) managed.push_back(variable.get());
  }
  for (Variable* const variable : managed) {
    CUdeviceptr address = 0;
    if (CUresult const result = variable->find(&address); result != CUDA_SUCCESS) return result;
    *variable->host_pointer = reinterpret_cast<void*>(address);
  }
  return CUDA_SUCCESS;
}

void Registry::forget_loaded() noexcept {
  MutexLock const lock(mutex_);
  for (auto const& [host, kernel] : kernels_) kernel->forget();
  for (auto const& binary : binaries_) binary->unload();
}

Registry& registry() {
  static auto& its = *new Registry;
  return its;
}

cudaError_t no_kernel(void const* host_function) {
  return refuse(cudaErrorInvalidDeviceFunction, fmt::format("no kernel is registered for {}", host_function));
}

cudaError_t find_function(void const* host_function, CUfunction* function) {
  Kernel* const kernel = registry().find_kernel(host_function);
  if (kernel == nullptr) return no_kernel(host_function);
  return to_error(kernel->find(function));
}

}  // namespace cuda_cpu::process
