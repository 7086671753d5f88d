// Copies between clients: two streams of one server, and two servers.
#include <gmock/gmock.h>
#include <testlog/testlog.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cuda_tests/kernels/kernels.h"
#include "cuda_tests/runtime/error.h"
#include "cuda_tests/tests/on_backend.h"
#include "tests/support/recording_subscriber.h"

namespace cuda_tests { namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Clients : public OnBackend {
 protected:
  // Returns the lines for spans that `f` creates.
  template <class F>
  static std::string spans_of(F f) {
    auto const subscriber = std::make_shared<tracing_test::RecordingSubscriber>();
    tracing::with_default(subscriber, f);
    std::string spans;
    for (std::string const& line : subscriber->take())
      if (line.starts_with("new ")) spans += line + "\n";
    return spans;
  }
};
CUDA_TESTS_ON_BOTH_BACKENDS(Clients);

TEST_LOG_P(Clients, CopyMemoryToEachOther) {
  Client const other = client().on_stream({1});
  Handle const x = client().create(std::vector<float>(100, 2.0f));
  client().launch(saxpy_kernel(), {1, 1, 1}, {3.0f, x, x, 100});
  Handle copy;
  EXPECT_THAT(spans_of([&] { copy = client().to_client(x, other, FloatKind::F32); }),
              HasSubstr(" to_client dtype=F32"));
  EXPECT_EQ(copy.stream, other.stream());
  EXPECT_NE(copy.address(), x.address());
  EXPECT_EQ(other.read<float>(copy), std::vector<float>(100, 8.0f));
}

TEST_LOG_P(Clients, CopyTensorsToEachOther) {
  Client const other = client().on_stream({1});
  std::vector<double> const values{1, 2, 3, 4, 5, 6};
  Handle const x = client().create(values);
  Handle copy;
  EXPECT_THAT(spans_of([&] {
                copy = client().to_client_tensor(x, {2, 3}, other, FloatKind::F64);
              }),
              HasSubstr(" to_client_tensor dtype=F64"));
  EXPECT_EQ(other.read<double>(copy), values);
  EXPECT_THROW(client().to_client_tensor(x, {2, 4}, other, FloatKind::F64), Error);
  EXPECT_THROW(client().to_client_tensor(x, {2, 3}, other, FloatKind::F32), Error);
}

TEST_LOG_P(Clients, CopyOnTheirCommonDevice) {
  Client const other = Client(backend()).on_stream({1});
  std::vector<float> const values{1, 2, 3};
  Handle const x = client().create(values);
  Handle copy;
  std::string const spans = spans_of([&] { copy = client().to_client(x, other, FloatKind::F32); });
  EXPECT_THAT(spans, HasSubstr(" send dtype=F32 stream_id=StreamId { value: 0 } "
                               "device_id_dst=DeviceId { index_id: 0 }\n"));
  EXPECT_THAT(spans, HasSubstr(" recv handle=Handle { bytes: 12, stream: StreamId { value: 1 } } dtype=F32 "
                               "stream_id=StreamId { value: 1 } device_id_src=DeviceId { index_id: 0 }\n"));
  EXPECT_THAT(spans, HasSubstr(" memcpy_dtod_async "));
  EXPECT_THAT(spans, Not(HasSubstr("memcpy_dtoh")));
  EXPECT_EQ(other.read<float>(copy), values);
  Handle const nothing = client().empty(0);
  EXPECT_TRUE(other.read<float>(client().to_client(nothing, other, FloatKind::F32)).empty());
}

// Clients of two devices copy in this way.
TEST_LOG_P(Clients, CopyThroughTheHost) {
  Client const other = Client(backend()).on_stream({1});
  std::vector<float> const values{1, 2, 3};
  Handle const x = client().create(values);
  Handle copy;
  std::string const spans = spans_of([&] { copy = client().change_client_sync(x, {3}, sizeof(float), other); });
  EXPECT_THAT(spans, HasSubstr(" change_client_sync\n"));
  EXPECT_THAT(spans, HasSubstr(" memcpy_dtoh_async "));
  EXPECT_EQ(other.read<float>(copy), values);
}

// The other stream is busy when it is told to copy, and the memory is released and written again before it can copy.
TEST_LOG_P(Clients, DoNotReuseMemoryBeforeItIsCopied) {
  Client const other = Client(backend()).on_stream({1});
  void* memory = nullptr;
  ASSERT_EQ(backend().driver().mem_host_alloc(&memory, sizeof(unsigned), 0), CUDA_SUCCESS);
  std::atomic_ref flag(*static_cast<unsigned*>(memory));
  auto const address = static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(memory));
  Handle const seen{std::make_shared<Slice const>(Slice{address, 0, sizeof(unsigned)}), sizeof(unsigned),
                    other.stream()};
  std::vector<float> const values{1, 2, 3};
  std::vector<float> const others{7, 8, 9};
  // The first round loads the kernel and allocates memory, for which a driver may wait for kernels.
  for (unsigned const first : {1u, 0u}) {
    flag = first;
    other.launch(faults_kernel("wait_for"), {1, 1, 1}, {seen});
    Handle x = client().create(values);
    CUdeviceptr const used = x.address();
    Handle const copy = client().to_client(x, other, FloatKind::F32);
    x = {};
    Handle const y = client().create(others);
    EXPECT_EQ(y.address(), used);
    EXPECT_TRUE(first == 1 || !client().is_done()) << "the stream of the memory must wait for the copy";
    flag = 1;
    EXPECT_EQ(other.read<float>(copy), values);
    EXPECT_EQ(client().read<float>(y), others);
  }
  backend().driver().mem_free_host(memory);
}

}}  // namespace cuda_tests
