// How each call of the stand-in for cuBLAS begins and ends, and how it gives its work to a stream.
#pragma once

#include <cublas_api.h>
#include <cuda.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/process/call.h"

namespace cuda_cpu::cublas {

/// What a handle stands for. The program sets it and calls with it from one thread at a time, as with cuBLAS.
struct Context {
  CUstream stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
  cublasAtomicsMode_t atomics_mode = CUBLAS_ATOMICS_NOT_ALLOWED;
  int sm_count_target = 0;
};
/// The handles of the process, which are never reused. Thread-safe.
cpu::Handles<Context>& contexts();

/// Thrown by the body of a call: its status, and the reason. `result` is the error of the device, if it is one.
struct CallError {
  cublasStatus_t status = CUBLAS_STATUS_INVALID_VALUE;
  std::string reason;
  CUresult result = CUDA_SUCCESS;
};
[[noreturn]] void fail_invalid(std::string reason);
[[noreturn]] void fail_unsupported(std::string reason);
/// Throws if a parameter is null.
void check_pointer(char const* name, void const* pointer);

/// A part of memory that a call accesses: columns of `rows` elements, `stride` elements apart. A vector is one row.
struct Block {
  char const* name;  // the name of the parameter
  void const* memory;
  std::size_t element_bytes;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t stride;

  bool empty() const noexcept { return rows <= 0 || columns <= 0; }
  /// Returns how many bytes there are from the first to the last element.
  std::uint64_t bytes() const noexcept;
};

/// Thrown by work that accesses memory wrongly: the device fails, as it does for a kernel.
struct WorkFault {
  CUresult code;
  FaultKind kind;
  std::string message;
};

/// The memory that work accesses, while the work runs.
class Access {
 public:
  /// `site`: where the program made the call.
  Access(cpu::Device& device, std::string_view call, CallSite const& site)
      : device_(device), call_(call), site_(site) {}

  /// Return the memory of a block. Throw WorkFault if the block is not within one allocation or, if the device checks
  /// for that, has an element that was never written and is read. update() is for memory that is read and written.
  void const* read(Block const& block) { return check(block, true, false); }
  void* write(Block const& block) { return check(block, false, true); }
  void* update(Block const& block) { return check(block, true, true); }

  /// Throws WorkFault if other work accesses the same memory and nothing orders the two.
  void check_races();

 private:
  void* check(Block const& block, bool reads, bool writes);
  void check_written(Block const& block, WrittenBytes const& written) const;
  std::string called() const;

  cpu::Device& device_;
  std::string_view const call_;
  CallSite const& site_;
  std::vector<std::shared_ptr<std::byte>> held_;  // memory that may be freed meanwhile
  std::vector<AccessedRange> accessed_;           // if the device looks for races
};
using Work = std::function<void(Access&)>;

/// A call that is being made.
struct Call {
  Context& context;
  std::string name;  // without _v2

  /// Gives work to the stream; adds it to the graph if the stream is captured.
  void enqueue(Work work) const;
  /// As enqueue(), and waits until the work is done.
  void run(Work work) const;
};

/// Reports why the call failed. Returns the error's status.
cublasStatus_t finish_failed(CallError const& error, std::string_view function) noexcept;

/// Runs the body of a call that needs no handle.
template <class Body>
[[gnu::always_inline]] inline cublasStatus_t call_without_handle(
    Body const& body, process::Where const& where = process::Where::current()) noexcept {
  cpu::CallerScope const caller;
  try {
    body();
    return CUBLAS_STATUS_SUCCESS;
  } catch (CallError const& error) {
    return finish_failed(error, where.function_name());
  } catch (std::bad_alloc const&) {
    return finish_failed({CUBLAS_STATUS_ALLOC_FAILED, {}}, where.function_name());
  } catch (...) {
    return finish_failed({CUBLAS_STATUS_INTERNAL_ERROR, {}}, where.function_name());
  }
}

/// Finds the handle, and makes the device's context current on this thread. Throws CallError.
std::shared_ptr<Context> begin_call(cublasHandle_t handle);
/// Returns `cublasSgemm` for cublasSgemm_v2, which is what programs write.
std::string written_name(std::string_view function);

/// Runs the body of a call, which gets a Call.
template <class Body>
[[gnu::always_inline]] inline cublasStatus_t call(cublasHandle_t handle, Body const& body,
                                                  process::Where const& where = process::Where::current()) noexcept {
  return call_without_handle(
      [&] {
        auto const context = begin_call(handle);
        body(Call{*context, written_name(where.function_name())});
      },
      where);
}

}  // namespace cuda_cpu::cublas
