// For tests: kernels that differ only in their body.
#pragma once

#include <optional>
#include <string>

#include "cuda_cpu/executor/reference/run_test_support.h"

namespace cuda_cpu {

/// A test that runs kernels, given by their body.
class BodyTest : public testing::Test {
 protected:
  // Runs a kernel with an array at %rd1, the index of the thread in %r1, and the address of its element in %rd2.
  std::optional<Fault> run_body(std::string const& body, LaunchShape const& shape = {{1}, {32}, 0},
                                std::size_t bytes = 4096, std::string const& declarations = "") {
    device.load(".version 9.0\n.target sm_90\n.address_size 64\n" + declarations +
                "\n.visible .entry k(.param .u64 p) {\n"
                ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .local .align 8 .b8 own[16]; "
                ".shared .align 8 .b8 ours[64];\n"
                "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd1, %rd2; "
                "setp.lt.u32 %p1, %r1, 16;\n" +
                body + "\nret;\n}\n");
    data = device.allocate<std::uint32_t>(bytes / 4);
    return device.run("k", shape, data);
  }

  TestDevice device;
  std::uint32_t* data = nullptr;
};

}  // namespace cuda_cpu
