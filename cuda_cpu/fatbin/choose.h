// Chooses the PTX of a fat binary that a device runs, and explains a failure to find any.
#pragma once

#include <span>
#include <string>

#include "cuda_cpu/fatbin/fatbin.h"

namespace cuda_cpu::fatbin {

/// The newest target whose PTX can be run, that is, compute capability 12.1.
inline constexpr int kNewestTarget = 121;

/// The PTX that find_ptx() chose.
struct Ptx {
  std::string text;
  int arch = 0;  // the target's number: 75 for compute_75
};

/// Returns the entry with the PTX to run on a device of this capability (90: 9.0): the PTX for the highest target that
/// the device can run. If all targets are above the device, returns the PTX for the lowest of them: its code runs here
/// if the instructions that it uses are supported. PTX for a single architecture or family (sm_100a, sm_100f) is the
/// last choice on other devices. Returns null if there is no PTX up to kNewestTarget.
Entry const* choose(std::span<Entry const> entries, int capability) noexcept;

/// Explains why choose() found nothing: "only machine code for sm_75; add -gencode arch=compute_75,code=compute_75,
/// ..."
std::string why_no_ptx(std::span<Entry const> entries, int capability);

/// Returns the PTX to load from one container.
Result<Ptx> find_ptx(std::span<std::byte const> container, int capability);

/// Returns the PTX to load from a container or a wrapper in memory, such as the argument of __cudaRegisterFatBinary().
/// Links the PTX of several translation units (-rdc=true), see ptx::link(), but leaves out the unit of libcudadevrt,
/// with which kernels launch kernels and call the runtime: kernels that do so are refused. REQUIRES: is_container() or
/// is_wrapper().
Result<Ptx> find_ptx(void const* image, int capability);

}  // namespace cuda_cpu::fatbin
