#include "tracing_core/cuda/check.h"

#include <dlfcn.h>

#include <cstdlib>

#include "tracing_core/cuda/errors.h"

namespace tracing { inline namespace v1 { namespace cuda { namespace internal {
namespace {

// The functions of a library that return the texts of its codes. Their names are part of the library's binary
// interface, so we need no header.
struct Library {
  std::string_view type;             // of its codes
  char const* name_function;         // may be null
  char const* description_function;  // may be null
  bool by_pointer = false;           // the text is returned through the second argument
  std::int64_t pending = 0;          // the code for work that has not completed; zero if the library has none
};

constexpr Library kLibraries[] = {
    {"cudaError", "cudaGetErrorName", "cudaGetErrorString", false, 600},
    {"cudaError_enum", "cuGetErrorName", "cuGetErrorString", true, 600},
    {"nvrtcResult", "nvrtcGetErrorString", nullptr},
    {"cublasStatus_t", "cublasGetStatusName", "cublasGetStatusString"},
    {"cusparseStatus_t", "cusparseGetErrorName", "cusparseGetErrorString"},
    {"cudnnStatus_t", "cudnnGetErrorString", nullptr},
    {"cutensorStatus_t", nullptr, "cutensorGetErrorString"},
    {"ncclResult_t", nullptr, "ncclGetErrorString", false, 7},
    {"CUptiResult", "cuptiGetResultString", "cuptiGetErrorMessage", true},
    {"nvmlReturn_enum", nullptr, "nvmlErrorString"},
};

Library const* library_of(std::string_view type) noexcept {
  for (Library const& library : kLibraries)
    if (library.type == type) return &library;
  return nullptr;
}

// Returns the text from a function of the library; empty if the process does not have the function. Loads nothing.
std::string_view text_from(Library const& library, char const* function, int code) noexcept {
  void* const found = function == nullptr ? nullptr : dlsym(RTLD_DEFAULT, function);
  if (found == nullptr) return {};
  char const* text = nullptr;
  if (library.by_pointer)
    reinterpret_cast<int (*)(int, char const**)>(found)(code, &text);
  else
    text = reinterpret_cast<char const* (*)(int)>(found)(code);
  return text == nullptr ? std::string_view() : text;
}

std::string_view text_from(char const* (*function)(int), int code) noexcept {
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
  if (is_runtime(type)) text = text_from(runtime_name, code);
  return text.empty() ? text_from(*library, library->name_function, code) : text;
}

std::string Code::description() const {
  Library const* const library = library_of(type);
  int const code = static_cast<int>(value);
  std::string_view text;
  if (is_driver(type)) text = error_description(static_cast<CUresult>(code));
  if (is_runtime(type)) text = text_from(runtime_string, code);
  if (text.empty() && library != nullptr) text = text_from(*library, library->description_function, code);
  // Codes that the runtime shares with the driver have the same meaning.
  if (text.empty() && is_runtime(type)) text = error_description(static_cast<CUresult>(code));
  return text.empty() ? "the call returned the " + std::string(type) + " " + std::to_string(value) : std::string(text);
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

}}}}  // namespace tracing::v1::cuda::internal
