// Declares what the CPU backend's device is said to be, and what a launch may ask of it.
#pragma once

#include <string_view>

namespace cuda_tests::cpu {

inline constexpr std::string_view kDeviceName = "testlog CPU device";
inline constexpr int kDriverVersion = 13000;
inline constexpr int kCapability = 90;        // of the device: 9.0
inline constexpr int kNewestPtxVersion = 90;  // that this version compiles: 9.0
inline constexpr int kMaxThreads = 1024;      // of a block
inline constexpr int kMaxBlockZ = 64;
inline constexpr int kMaxGridX = 2147483647;
inline constexpr int kMaxGridYZ = 65535;
inline constexpr int kSharedBytes = 48 * 1024;  // of a block
inline constexpr int kSharedBytesOnRequest = 227 * 1024;

}  // namespace cuda_tests::cpu
