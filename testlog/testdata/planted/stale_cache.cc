// Planted: a cache keeps a value that is out of date. A reader stores what it has read after the writer has emptied the
// cache.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "testlog/testdata/planted/noise.h"

namespace planted { namespace {

class Store {
 public:
  int read() {
    TRACE_SPAN(debug, "read");
    if (int const cached = cache_.load(); cached != 0) {
      TRACE_TRACE("from the cache", tracing::kv("versions_behind", value_.load() - cached));
      return cached;
    }
    int const value = value_.load();
    TRACE_TRACE("read from disk", tracing::kv("value", value));
    cache_.store(value);
    return value;
  }
  void write(int value) {
    TRACE_SPAN(debug, "write", value);
    value_.store(value);
    cache_.store(0);
  }

 private:
  std::atomic<int> value_{1}, cache_{0};
};

TEST(StaleCache, Planted) {
  Store store;
  for (int value = 2; value < 10; ++value) {
    std::thread reader([&store] {
      make_noise();
      nap(500);
      store.read();
    });
    nap(500);
    store.write(value);
    reader.join();
    ASSERT_EQ(store.read(), value);
    store.write(value);
  }
}

}}  // namespace planted
