#include "tracing_core/cuda/check.h"

#include <dlfcn.h>

#include <cstdlib>

#include "tracing_core/cuda/errors.h"

namespace tracing::inline v1::cuda::internal {
namespace {

// How a library tells the texts of its codes.
struct Library {
  std::string_view type;
  char const* name_function;         // null: it has none
  char const* description_function;  // likewise
  char const* files[4];              // where the loader does not find them; null: no more
  bool by_pointer = false;           // the text comes by the second argument
  std::int64_t pending = 0;          // the code that says: not ended yet; zero: there is none
};

// What stands here needs no header: the texts' names are part of each library's binary interface.
constexpr Library kLibraries[] = {
    {"cudaError", "cudaGetErrorName", "cudaGetErrorString", {"libcudart.so.13", "libcudart.so.12"}, false, 600},
    {"cudaError_enum", "cuGetErrorName", "cuGetErrorString", {"libcuda.so.1"}, true, 600},
    {"nvrtcResult", "nvrtcGetErrorString", nullptr, {"libnvrtc.so.13", "libnvrtc.so.12"}},
    {"cublasStatus_t", "cublasGetStatusName", "cublasGetStatusString", {"libcublas.so.13", "libcublas.so.12"}},
    {"cusparseStatus_t", "cusparseGetErrorName", "cusparseGetErrorString", {"libcusparse.so.12"}},
    {"cudnnStatus_t", "cudnnGetErrorString", nullptr, {"libcudnn.so.9", "libcudnn.so.8"}},
    {"cutensorStatus_t", nullptr, "cutensorGetErrorString", {"libcutensor.so.2"}},
    {"ncclResult_t", nullptr, "ncclGetErrorString", {"libnccl.so.2"}, false, 7},
    {"CUptiResult", "cuptiGetResultString", "cuptiGetErrorMessage", {"libcupti.so.13", "libcupti.so.12"}, true},
    {"nvmlReturn_enum", nullptr, "nvmlErrorString", {"libnvidia-ml.so.1"}},
};

Library const* library_of(std::string_view type) noexcept {
  for (Library const& library : kLibraries)
    if (library.type == type) return &library;
  return nullptr;
}

// What the process has of this name, linked or opened by somebody; nothing is loaded.
void* find(Library const& library, char const* function) noexcept {
  if (void* const found = dlsym(RTLD_DEFAULT, function)) return found;
  for (char const* const file : library.files) {
    if (file == nullptr) break;
    void* const handle = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    void* const found = dlsym(handle, function);
    dlclose(handle);
    if (found != nullptr) return found;
  }
  return nullptr;
}

std::string_view ask(Library const& library, char const* function, int code) noexcept {
  void* const found = function == nullptr ? nullptr : find(library, function);
  if (found == nullptr) return {};
  char const* text = nullptr;
  if (library.by_pointer) reinterpret_cast<int (*)(int, char const**)>(found)(code, &text);
  else text = reinterpret_cast<char const* (*)(int)>(found)(code);
  return text == nullptr ? std::string_view() : text;
}

std::string_view ask(char const* (*function)(int), int code) noexcept {
  char const* const text = function == nullptr ? nullptr : function(code);
  return text == nullptr ? std::string_view() : text;
}

bool is_runtime(std::string_view type) noexcept { return type == "cudaError"; }
bool is_driver(std::string_view type) noexcept { return type == "cudaError_enum"; }

}  // namespace

bool Code::is_pending() const noexcept {
  Library const* const library = library_of(type);
  return library != nullptr && library->pending != 0 && library->pending == value;
}

std::string_view Code::name() const noexcept {
  Library const* const library = library_of(type);
  if (library == nullptr) return {};
  int const code = static_cast<int>(value);
  std::string_view text;
  if (is_driver(type)) text = error_name(static_cast<CUresult>(code));
  if (is_runtime(type)) text = ask(runtime_name, code);
  return text.empty() ? ask(*library, library->name_function, code) : text;
}

std::string Code::description() const {
  Library const* const library = library_of(type);
  int const code = static_cast<int>(value);
  std::string_view text;
  if (is_driver(type)) text = error_description(static_cast<CUresult>(code));
  if (is_runtime(type)) text = ask(runtime_string, code);
  if (text.empty() && library != nullptr) text = ask(*library, library->description_function, code);
  // The codes that the driver has, too, mean the same to the runtime.
  if (text.empty() && is_runtime(type)) text = error_description(static_cast<CUresult>(code));
  return text.empty() ? "it returned the " + std::string(type) + " " + std::to_string(value) : std::string(text);
}

void throw_call_error(std::string_view call, Code const& code) {
  std::string_view const name = code.name();
  std::string what(call);
  what += " failed: " + code.description() + " (";
  if (!name.empty()) what.append(name).append(", ");
  what += std::to_string(code.value) + ")";
  throw CallError(what, code.value, std::string(name));
}

Value launch_blocking() noexcept {
  static bool const is_blocking = [] {
    char const* const value = std::getenv("CUDA_LAUNCH_BLOCKING");
    return value != nullptr && std::string_view(value) == "1";
  }();
  return is_blocking ? Value::of_bool(true) : Value();
}

}  // namespace tracing::inline v1::cuda::internal
