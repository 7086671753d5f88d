// The properties of the CPU backend's device, and the limits of a launch.
#pragma once

#include <string_view>

namespace cuda_tests::cpu {

inline constexpr std::string_view kDeviceName = "testlog CPU device";
inline constexpr int kDriverVersion = 13000;
inline constexpr int kCapability = 90;        // compute capability 9.0
inline constexpr int kNewestPtxVersion = 90;  // 9.0
inline constexpr int kMaxThreads = 1024;      // in a block
inline constexpr int kMaxBlockZ = 64;
inline constexpr int kMaxGridX = 2147483647;
inline constexpr int kMaxGridYZ = 65535;
inline constexpr int kSharedBytes = 48 * 1024;  // in a block
inline constexpr int kSharedBytesOnRequest = 227 * 1024;

}  // namespace cuda_tests::cpu
