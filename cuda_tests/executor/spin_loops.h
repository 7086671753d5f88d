// Declares mark_spin_loops(), which finds the loops in which threads wait for others.
#pragma once

#include "cuda_tests/executor/machine.h"

namespace cuda_tests {

/// Sets Step::waits of each branch back in whose loop an atomic or volatile read decides about going on: whoever takes it waits
/// for what another thread writes, so that its turn is better given to others soon. What is not found costs time alone.
void mark_spin_loops(DecodedKernel& kernel);

}  // namespace cuda_tests
