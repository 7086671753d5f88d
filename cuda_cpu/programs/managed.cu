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

}  // namespace

int main() {
  variables();
  list();
}
