// A CUDA library whose copies, launches and errors appear in its own spans. It uses the driver that the project's tests
// run on the CPU, so that the example runs on any machine; tracing::cuda::load_driver() loads the machine's driver.
#include <tracing_core/cuda/driver.h>
#include <tracing_core/tracing.h>

#include <vector>

#include "collect.h"
#include "cuda_cpu/cpu/cpu_driver.h"

namespace images {

// Computes values[i] *= factor, as NVRTC compiles it, without a check that i is within bounds.
constexpr char kScale[] = R"(
.version 7.8
.target sm_75
.address_size 64

.visible .entry scale(.param .u64 values, .param .f32 factor)
{
  .reg .f32 %f<4>;
  .reg .b32 %r<5>;
  .reg .b64 %rd<5>;

  ld.param.u64 %rd1, [values];
  ld.param.f32 %f1, [factor];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.u32 %rd3, %r4, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.f32 %f2, [%rd4];
  mul.f32 %f3, %f2, %f1;
  st.global.f32 [%rd4], %f3;
  ret;
}
)";

class Scaler {
 public:
  explicit Scaler(tracing::cuda::Driver& driver) : driver_(driver) {
    CUmodule module = nullptr;
    driver_.module_load(&module, kScale, "scale.ptx", sizeof kScale);
    driver_.module_get_function(&scale_, module, "scale");
  }

  bool scale(std::vector<float>& values, float factor, unsigned threads) {
    TRACE_FN(info, tracing::kv("pixels", values.size()), factor);
    std::size_t const bytes = values.size() * sizeof(float);
    CUdeviceptr memory = 0;
    if (driver_.mem_alloc(&memory, bytes) != CUDA_SUCCESS) return false;
    driver_.memcpy_htod(memory, values.data(), bytes);
    auto const blocks = static_cast<unsigned>((values.size() + threads - 1) / threads);
    void* parameters[] = {&memory, &factor};
    driver_.launch_kernel(scale_, {blocks}, {threads}, 0, nullptr, parameters);
    return driver_.memcpy_dtoh(values.data(), memory, bytes) == CUDA_SUCCESS &&
           driver_.mem_free(memory) == CUDA_SUCCESS;
  }

 private:
  tracing::cuda::Driver& driver_;
  CUfunction scale_ = nullptr;
};

}  // namespace images

int main() {
  auto const tracing_guard = examples::init();
  tracing::cuda::DriverOptions options;
  options.failed_launch = [] {
    auto const fault = cuda_cpu::cpu_driver_last_fault();
    return fault ? tracing::cuda::DriverOptions::Failed{fault->launch, fault->fault.message}
                 : tracing::cuda::DriverOptions::Failed{};
  };
  tracing::cuda::Driver driver(cuda_cpu::cpu_driver_api(), options);
  driver.open_device(0);
  images::Scaler scaler(driver);

  std::vector<float> values(64, 1.0f);
  scaler.scale(values, 2.0f, 32);
  values.resize(100);
  scaler.scale(values, 0.5f, 32);  // 4 blocks of 32 threads: the last 28 are out of bounds
}
