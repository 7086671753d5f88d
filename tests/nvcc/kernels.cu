// Instrumented CUDA source: statements in host functions next to a kernel. Runs without a device.
#include <cstdio>
#include <string>

#include <tracing_core/tracing.h>

#include "kernels.h"

namespace gpu {
namespace {

__global__ void scale(float* values, int count, float factor) {
  int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) values[i] *= factor;
}

template <class T>
void described(T value) {
  TRACE_FN(debug, value);
  TRACE_DEBUG("in a template", value, tracing::kv("bytes", sizeof(T)));
}

constexpr int twice(int n) {
  TRACE_DEBUG("twice {}", n);
  return 2 * n;
}
static_assert(twice(2) == 4);

struct Launcher {
  dim3 grid{4, 2, 1};

  void launch(int count) const {
    TRACE_SPAN(info, "launch", count, grid.x, tracing::kv("kernel.name", "scale"));
    TRACE_INFO("launching {} threads in blocks of {:>4}", count, 64);
    auto const log = [&](char const* what) { TRACE_TRACE("from a lambda: {}", what, count); };
    log("inside");
  }
};

// Their names and messages are stored in units of sixteen characters; one of these fills them exactly.
int messages_of_each_length() {
  TRACE_TRACE(".");
  TRACE_TRACE("..");
  TRACE_TRACE("...");
  TRACE_TRACE("....");
  TRACE_TRACE(".....");
  TRACE_TRACE("......");
  TRACE_TRACE(".......");
  TRACE_TRACE("........");
  TRACE_TRACE(".........");
  TRACE_TRACE("..........");
  TRACE_TRACE("...........");
  TRACE_TRACE("............");
  TRACE_TRACE(".............");
  TRACE_TRACE("..............");
  TRACE_TRACE("...............");
  TRACE_TRACE("................");
  return 16;
}

}  // namespace

void work() {
  TRACE_FN(info);
  Launcher().launch(256);
  described(2.5f);
  described(twice(3));
  described(std::string("text"));
  auto request = TRACE_MAKE_SPAN(info, "request", tracing::kv("status", tracing::empty));
  request.in_scope([&] {
    request.record(tracing::kv("status", 200));
    TRACE_VALUES(warn, tracing::kv("x", 1), tracing::kv("missing", nullptr));
  });
  TRACE_ERROR("no device is needed: {}", reinterpret_cast<void const*>(&scale) != nullptr);
  TRACE_INFO("{} messages", messages_of_each_length());
  if (TRACE_ENABLED(error)) TRACE_LOG(error, "done");
}

}  // namespace gpu
