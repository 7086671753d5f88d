// A library's header, C++11: each kind of statement, and the types and functions that instrumented code uses. Its
// variables, parameters and captures that only statements use must not cause warnings.
#pragma once

#include TRACING_OPTIONAL_HEADER

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace shapes {

struct Size {
  int rows;
  int columns;
};
TRACE_FIELDS(Size, rows, columns)
enum class Mode { fast, exact };
TRACE_ENUM(Mode, fast, exact)

class Block {
 public:
  explicit Block(int size) : size_(size) {}
  int size() const { return kind_ == Kind::large ? size_ : 0; }

 private:
  enum class Kind { small, large };
  friend TRACE_ENUM(Kind, small, large) friend TRACE_FIELDS(Block, size_, kind_)

      int size_;
  Kind kind_ = Kind::large;
};
template <class T>
class Buffer {
 public:
  explicit Buffer(T item) : item_(item) {}
  T item() const { return item_; }
  TRACE_FIELDS(Buffer, item_)

 private:
  T item_;
};
template <class T>
struct Range {
  T first;
  T last;
};
template <class T>
TRACE_FIELDS(Range<T>, first, last)
struct Nothing {};
TRACE_FIELDS(Nothing)

inline void own_types() {
  TRACE_INFO("own types", tracing::kv("block", Block(16)), tracing::kv("buffer", Buffer<int>(3)),
             tracing::kv("range", Range<int>()), tracing::kv("nothing", Nothing()));
}

inline void forward_line(char const* text, int line) {
  tracing::log_event(tracing::Level::warn, "shapes::log", text, "shapes.cpp", line);
}

// Counts how often an argument was evaluated.
inline int& evaluated() {
  static int count = 0;
  return count;
}
inline int argument(int x) {
  ++evaluated();
  return x;
}

// Before C++17 a constant of a class has no definition, which a statement must not need.
class Limits {
 public:
  static tracing::Span request() { return TRACE_MAKE_SPAN(info, "request", kMax); }
  static void measure() {
    TRACE_INFO("limit {}", kMax);
    if (TRACE_ENABLED(info, tracing::kv("limit", kMax))) return;
    TRACE_PERF_AS(all, "all", tracing::kv("limit", kMax));
    tracing::finish_perf(TRACE_MAKE_PERF("limits", tracing::kv("limit", kMax)), std::chrono::microseconds(3));
  }

 private:
  static constexpr int kMax = 8;
};

class Pool {
 public:
  explicit Pool(int threads) : threads_(threads) {}

  int size() const { return threads_; }
  tracing::Span const& span() const { return span_; }

 private:
  int threads_;
  tracing::Span span_ = TRACE_MAKE_SPAN(debug, "pool", threads_, tracing::kv("status", tracing::empty));
};

template <class T>
T twice(T value) {
  TRACE_FN(trace, value, tracing::kv("argument", argument(1)));
  return value + value;
}

inline void events(int number, std::string const& name, Mode mode) {
  int const only_here = number + 1;
  int set_here = 0;
  set_here = number;
  TRACE_ERROR("error {}", only_here);
  TRACE_WARN("warning {}", set_here, tracing::kv("argument", argument(2)));
  TRACE_INFO("just text");
  TRACE_DEBUG("moved {} of {}", number, argument(3), name, tracing::target("shapes::events"));
  TRACE_TRACE("mode", mode, tracing::kv("shown", tracing::display(name)), tracing::kv("quoted", tracing::debug(name)));
  TRACE_LOG(warn, "a level as an argument", tracing::kv("pretty", tracing::pretty(number)));
  TRACE_VALUES(info, number, name);
  if (number > 0)
    TRACE_INFO("positive");
  else
    TRACE_INFO("not positive");
  if (TRACE_ENABLED(debug, tracing::target("shapes")))
    TRACE_LOG(debug, "enabled", tracing::kv("argument", argument(4)));
  auto const captured = [number, &name] {
    TRACE_SPAN(debug, "in a lambda", number);
    TRACE_INFO("of {}", name);
  };
  captured();
}

inline int spans(Pool const& pool, int count) {
  // clang-format off
  TRACE_SPAN(info, "spans", count); TRACE_SPAN(debug, "on a line", tracing::kv("argument", argument(5)));
  // clang-format on
  auto const unused = TRACE_MAKE_SPAN(trace, "unused", count, tracing::parent(pool.span()));
  auto const entered = pool.span().enter();
  tracing::Span request =
      TRACE_MAKE_SPAN(info, "request", tracing::kv("bytes", tracing::empty), tracing::parent(nullptr));
  request.record(tracing::kv("bytes", count)).follows_from(pool.span());
  int const doubled = request.in_scope([count] { return twice(count); });
  tracing::EnteredSpan inside = std::move(request).entered();
  tracing::Span outside = std::move(inside).exit();
  bool const same =
      outside == outside.or_current() && outside.is_none() == !outside && tracing::Span::none().is_disabled();
  if (!same || outside.id() != outside.id()) return -1;
  auto task = tracing::with_current_span([count](int more) {
    TRACE_DEBUG("in a task", more);
    return count + more;
  });
  return doubled + task(1);
}

inline int measured(std::vector<double> const& values) {
  TRACE_PERF("sum", tracing::kv("values", values.size()));
  TRACE_PERF_AT(info, "sum", tracing::kv("argument", argument(6)));
  TRACE_PERF_AS(all, "all", tracing::kv("values", values.size()));
  TRACE_PERF_AS(unused, "unused");
  auto const handle = TRACE_MAKE_PERF("handle", tracing::kv("argument", argument(7)));
  TRACE_PERF_EVENT("cache", tracing::kv("hits", argument(8)));
  if (TRACE_PERF_ENABLED(trace)) TRACE_PERF_EVENT("enabled");
  TRACE_ANNOTATE("annotation", tracing::kv("argument", argument(9)));
  TRACE_ANNOTATE_AT(verbose, "row", tracing::kv("argument", argument(10)));
  TRACE_STEP(argument(11));
  int const sum = tracing::annotate("sum", [&values] { return static_cast<int>(values.size()); });
  tracing::annotate(
      tracing::AnnotationLevel::info, std::string("sum"), [] {}, tracing::kv("sum", sum));
  return all.elapsed_ns() > 0 || sum > 0 ? sum : -1;
}

// Only a value, so that C++14 can evaluate the function during compilation.
constexpr int half(int n) { return n / 2; }
#if __cplusplus >= 201402L
constexpr int quarter(int n) {
  TRACE_INFO("a quarter of {}", n);
  TRACE_SPAN(debug, "quarter", n);
  return half(half(n));
}
static_assert(quarter(8) == 2, "");
#endif

}  // namespace shapes
