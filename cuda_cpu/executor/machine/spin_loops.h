// Declares mark_spin_loops(), which finds the loops in which threads wait for others.
#pragma once

#include "cuda_cpu/executor/machine/machine.h"

namespace cuda_cpu {

/// Sets Step::waits of the backward branch of each loop that continues depending on an atomic or volatile read. Threads
/// in such a loop wait for another thread, so their turn ends early. A loop that is missed only costs time.
void mark_spin_loops(DecodedKernel& kernel);

}  // namespace cuda_cpu
