// Declares the functions, variables and the kernel of the device that the units of this program share. The device
// linker joins the units.
#pragma once

extern __device__ int step;
extern __constant__ int weights[4];

__device__ int stage(int value);

__global__ void apply_stage(int* values, int count);
