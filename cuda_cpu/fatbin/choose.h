// Which PTX of a fat binary a device runs, and what to say if there is none.
#pragma once

#include <span>
#include <string>

#include "cuda_cpu/fatbin/fatbin.h"

namespace cuda_cpu::fatbin {

/// The newest target whose PTX can be run: that of compute capability 12.1.
inline constexpr int kNewestTarget = 121;

/// PTX to load.
struct Ptx {
  std::string text;
  int arch = 0;  // of its target: 75
};

/// Of the PTX for targets that a device of this capability (90: 9.0) can run, that for the highest. Else that for the
/// lowest above it: its code runs here if the instructions that it uses are supported. PTX for a single architecture or
/// family (sm_100a, sm_100f) is for other devices the last choice. Null if there is no PTX up to kNewestTarget.
Entry const* choose(std::span<Entry const> entries, int capability) noexcept;

/// Why choose() found nothing: "only machine code for sm_75; add -gencode arch=compute_75,code=compute_75, ..."
std::string why_no_ptx(std::span<Entry const> entries, int capability);

/// The PTX to load of one container.
Result<Ptx> find_ptx(std::span<std::byte const> container, int capability);

/// The same for a container or a wrapper in memory, such as the argument of __cudaRegisterFatBinary(). The PTX of
/// several translation units (-rdc=true) is linked: see ptx::link(). Without the unit of libcudadevrt, by which kernels
/// launch kernels and call the runtime: those that do are refused. REQUIRES: is_container() or is_wrapper().
Result<Ptx> find_ptx(void const* image, int capability);

}  // namespace cuda_cpu::fatbin
