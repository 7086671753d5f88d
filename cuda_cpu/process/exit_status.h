// Chooses the status of the process: 1 in place of 0, with a line that says why, if the program did not notice a
// failure.
//
// These count: a kernel that failed; a launch that was refused because the kernel or the launch is not supported; a
// call of the runtime that frees what is not allocated, or copies beyond an allocation, if the program never asks for
// the error. Other failed calls do not count: programs try calls, and only they know whether they looked at the result.
#pragma once

namespace cuda_cpu::process {

/// Registers what is done at exit(): waits for the work of the device for at most ten seconds, calls `report_fault` if
/// a kernel has failed, and chooses the status. Programs that end by _exit(), abort() or a signal are not changed. Call
/// it once.
void watch_exit(void (*report_fault)());

}  // namespace cuda_cpu::process
