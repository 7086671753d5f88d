// Copies between the clients of two streams.
#include <testlog/testlog.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cuda_tests/kernels/kernels.h"
#include "cuda_tests/runtime/error.h"
#include "cuda_tests/tests/on_backend.h"
#include "tests/support/recording_subscriber.h"

namespace cuda_tests {
namespace {

class Clients : public OnBackend {
 protected:
  // True if a span with this name and type was created.
  static bool has_span(std::vector<std::string> const& lines, std::string const& name_and_type) {
    return std::ranges::any_of(lines, [&](std::string const& line) {
      return line.starts_with("new ") && line.find(" " + name_and_type) != line.npos;
    });
  }
};
CUDA_TESTS_ON_BOTH_BACKENDS(Clients);

TEST_LOG_P(Clients, CopyMemoryToEachOther) {
  Client const other = client().on_stream({1});
  Handle const x = client().create(std::vector<float>(100, 2.0f));
  client().launch(saxpy_kernel(), {1, 1, 1}, {3.0f, x, x, 100});
  auto const subscriber = std::make_shared<tracing_test::RecordingSubscriber>();
  Handle const copy = tracing::with_default(subscriber, [&] { return client().to_client(x, other, FloatKind::F32); });
  EXPECT_TRUE(has_span(subscriber->take(), "to_client dtype=F32"));
  EXPECT_EQ(copy.stream, other.stream());
  EXPECT_NE(copy.address(), x.address());
  EXPECT_EQ(other.read<float>(copy), std::vector<float>(100, 8.0f));
}

TEST_LOG_P(Clients, CopyTensorsToEachOther) {
  Client const other = client().on_stream({1});
  std::vector<double> const values{1, 2, 3, 4, 5, 6};
  Handle const x = client().create(values);
  auto const subscriber = std::make_shared<tracing_test::RecordingSubscriber>();
  Handle const copy =
      tracing::with_default(subscriber, [&] { return client().to_client_tensor(x, {2, 3}, other, FloatKind::F64); });
  EXPECT_TRUE(has_span(subscriber->take(), "to_client_tensor dtype=F64"));
  EXPECT_EQ(other.read<double>(copy), values);
  EXPECT_THROW(client().to_client_tensor(x, {2, 4}, other, FloatKind::F64), Error);
  EXPECT_THROW(client().to_client_tensor(x, {2, 3}, other, FloatKind::F32), Error);
}

}  // namespace
}  // namespace cuda_tests
