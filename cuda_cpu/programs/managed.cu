// Managed memory: variables and allocations that host and device share by their address.
#include <cmath>

#include "check.h"

__managed__ int visits;
__managed__ float table[64];

namespace {

struct Node {
  int value;
  Node* next;
};

__global__ void visit_table() {
  int const i = threadIdx.x;
  atomicAdd(&visits, 1);
  table[i] = table[i] * 2 + 1;
}

__global__ void sum_list(Node const* first, int* sum) {
  *sum = 0;
  for (Node const* node = first; node != nullptr; node = node->next) *sum += node->value;
}

void variables() {
  visits = 1;  // by the host, before any call
  for (int i = 0; i < 64; ++i) table[i] = static_cast<float>(i);
  visit_table<<<1, 64>>>();
  CUDA(cudaDeviceSynchronize());
  CHECK(visits == 65);
  CHECK_EACH(table, 64, [](int i) { return static_cast<float>(2 * i + 1); });
}

void list() {
  Node* first = nullptr;
  for (int i = 1; i <= 10; ++i) {
    Node* node = nullptr;
    CUDA(cudaMallocManaged(&node, sizeof(Node)));
    *node = {i * i, first};
    first = node;
  }
  int* sum = nullptr;
  CUDA(cudaMallocManaged(&sum, sizeof(int)));
  cudaPointerAttributes attributes{};
  CUDA(cudaPointerGetAttributes(&attributes, sum));
  CHECK(attributes.type == cudaMemoryTypeManaged);
  sum_list<<<1, 1>>>(first, sum);
  CUDA(cudaDeviceSynchronize());
  CHECK(*sum == 385);
  CUDA(cudaFree(sum));
  while (first != nullptr) {
    Node* const next = first->next;
    CUDA(cudaFree(first));
    first = next;
  }
}

int attribute_of(void const* memory, size_t bytes, cudaMemRangeAttribute attribute) {
  int value = -99;
  CUDA(cudaMemRangeGetAttribute(&value, sizeof value, attribute, memory, bytes));
  return value;
}

// Prefetches and advice are remembered for each part of the memory.
void ranges() {
  constexpr size_t kPage = 64 << 10;
  cudaMemLocation const device = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0};
  char* memory = nullptr;
  CUDA(cudaMallocManaged(&memory, 4 * kPage));
  CHECK(attribute_of(memory, 4 * kPage, cudaMemRangeAttributeLastPrefetchLocation) == cudaInvalidDeviceId);
  CHECK(attribute_of(memory, 4 * kPage, cudaMemRangeAttributeReadMostly) == 0);
  CUDA(cudaMemPrefetchAsync(memory, 2 * kPage, device, 0, nullptr));
  CUDA(cudaDeviceSynchronize());
  CHECK(attribute_of(memory, 2 * kPage, cudaMemRangeAttributeLastPrefetchLocation) == 0);
  CHECK(attribute_of(memory, kPage, cudaMemRangeAttributeLastPrefetchLocation) == 0);
  CHECK(attribute_of(memory, 3 * kPage, cudaMemRangeAttributeLastPrefetchLocation) == cudaInvalidDeviceId);
  CUDA(cudaMemPrefetchAsync(memory + 2 * kPage, 2 * kPage, host, 0, nullptr));
  CHECK(attribute_of(memory + 2 * kPage, kPage, cudaMemRangeAttributeLastPrefetchLocation) == cudaCpuDeviceId);
  CHECK(attribute_of(memory + 2 * kPage, kPage, cudaMemRangeAttributeLastPrefetchLocationType) == cudaMemLocationTypeHost);

  CUDA(cudaMemAdvise(memory, 4 * kPage, cudaMemAdviseSetReadMostly, device));
  CUDA(cudaMemAdvise(memory, kPage, cudaMemAdviseUnsetReadMostly, device));
  CUDA(cudaMemAdvise(memory, 4 * kPage, cudaMemAdviseSetPreferredLocation, host));
  CUDA(cudaMemAdvise(memory, kPage, cudaMemAdviseSetAccessedBy, device));
  CHECK(attribute_of(memory, 2 * kPage, cudaMemRangeAttributeReadMostly) == 0);
  CHECK(attribute_of(memory + kPage, kPage, cudaMemRangeAttributeReadMostly) == 1);
  int location = 0, readers[2] = {-99, -99};
  void* data[] = {&location, readers};
  size_t sizes[] = {sizeof location, sizeof readers};
  cudaMemRangeAttribute attributes[] = {cudaMemRangeAttributePreferredLocation, cudaMemRangeAttributeAccessedBy};
  CUDA(cudaMemRangeGetAttributes(data, sizes, attributes, 2, memory, kPage));
  CHECK(location == cudaCpuDeviceId && readers[0] == 0 && readers[1] == cudaInvalidDeviceId);

  CUDA_FAILS(cudaErrorInvalidValue, cudaMemRangeGetAttribute(&location, sizeof location,
                                                             cudaMemRangeAttributeReadMostly, memory, 5 * kPage));
  CUDA_FAILS(cudaErrorInvalidValue,
             cudaMemRangeGetAttribute(&location, 1, cudaMemRangeAttributeReadMostly, memory, kPage));
  CUDA(cudaFree(memory));
}

}  // namespace

int main() {
  variables();
  list();
  ranges();
}
