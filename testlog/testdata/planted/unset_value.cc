// Planted: a value is read before it is set. A connection can be found before it has its limit; its memory still has
// what was there before.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "testlog/testdata/planted/noise.h"

namespace planted { namespace {

constexpr int kLimit = 64;

class Connections {
 public:
  Connections() {
    for (std::atomic<int>& limit : limits_) limit.store(static_cast<int>(1000 + random_below(1u << 30)));
  }
  void open() {
    TRACE_SPAN(debug, "open");
    std::size_t const own = count_.fetch_add(1);
    TRACE_TRACE("can be found");
    limits_[own].store(kLimit);
  }
  // Returns the limit of the newest connection.
  int limit() const {
    TRACE_SPAN(debug, "send");
    std::size_t const count = count_.load();
    int const limit = count == 0 ? kLimit : limits_[count - 1].load();
    TRACE_DEBUG("read the limit", limit);
    return limit;
  }

  static constexpr std::size_t kMax = 8;

 private:
  std::array<std::atomic<int>, kMax> limits_;
  std::atomic<std::size_t> count_{0};
};

TEST(UnsetValue, Planted) {
  Connections connections;
  for (std::size_t i = 0; i < Connections::kMax; ++i) {
    std::thread opener([&connections] {
      make_noise();
      nap(500);
      connections.open();
    });
    nap(500);
    int const limit = connections.limit();
    opener.join();
    ASSERT_EQ(limit, kLimit);
  }
}

}}  // namespace planted
