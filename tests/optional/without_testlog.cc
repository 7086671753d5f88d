// Compiled with each standard from C++11 on, where testlog cannot be found: nothing is evaluated, nothing warns.
#include "statements.h"

#if TRACING_OPTIONAL != 0 || TRACING_OPTIONAL_VERSION < 1
#error "testlog is used"
#endif

// A handle is as small as an empty class.
static_assert(sizeof(tracing::Span) == 1, "");

namespace {

std::int64_t fails() { return 2; }
constexpr char kRows[] = "rows";

struct Promise {
  explicit Promise(int x) : value(x) {}
  int value;
};

int kinds(int n) {
  TRACE_PERF_ALLOCATION(shapes::argument(n), "pool");
  TRACE_PERF_EXECUTION("gemm", shapes::argument(n));
  TRACE_PERF_TRANSFER(shapes::argument(n), tracing::H2D, n);
  TRACE_PERF_THROUGHPUT(shapes::argument(n), n);
  TRACE_PERF_FLOPS(shapes::argument(n), n);
  TRACE_PERF("slow", tracing::threshold(shapes::argument(n)), tracing::kv<kRows>(n));
  tracing::set_thread_name("worker");
  return tracing::instrument(TRACE_MAKE_SPAN(info, "task"), tracing::traced_promise<Promise>(n)).value;
}

bool calls() {
  if (TRACE_CUDA_CALL(fails()) != 2) return false;
  TRACE_CUDA_CALL_THROW(fails() - 2);
  try {
    TRACE_CUDA_CALL_THROW(fails());
  } catch (tracing::cuda::CallError const& e) {
    return e.code() == 2 && std::string(e.what()) == "fails() failed: 2";
  }
  return false;
}

}  // namespace

int main() {
  shapes::Pool const pool(4);
  shapes::events(1, "name", shapes::Mode::fast);
  shapes::own_types();
  shapes::Limits::request();
  shapes::Limits::measure();
  shapes::forward_line("forwarded", 12);
  int const sum = shapes::spans(pool, 3) + shapes::measured({1, 2}) + kinds(5) + pool.size();
  if (sum != 6 + 4 + 2 + 5 + 4) return 1;
  if (!calls()) return 2;
  return shapes::evaluated() == 0 ? 0 : 3;
}
