// What the units of this program, which the device linker joins, share: functions, variables and a kernel of the device.
#pragma once

extern __device__ int step;
extern __constant__ int weights[4];

__device__ int stage(int value);

__global__ void apply_stage(int* values, int count);
