#include "tests/hygiene/places.h"

#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include "tracing_core/tracing.h"

namespace hygiene {

int dangling_else(bool first, bool second) {
  if (first)
    TRACE_INFO("first");
  else
    TRACE_INFO("not first");
  if (first)
    TRACE_VALUES(info, first);
  else if (second)
    TRACE_LOG(warn, "second");
  else
    return 0;
  for (int i = 0; i < 1; ++i) TRACE_DEBUG("in a loop without braces");
  if (TRACE_ENABLED(trace)) TRACE_TRACE("enabled");
  while (TRACE_ENABLED(trace) && !first) first = true;
  return TRACE_ENABLED(trace) ? 1 : 2;
}

// clang-format off
void two_on_a_line(int n) {
  TRACE_SPAN(info, "a", n); TRACE_SPAN(info, "b", n); TRACE_FN(info); TRACE_INFO("x"); TRACE_INFO("y"); { TRACE_SPAN(info, "c"); }
  auto const one = TRACE_MAKE_SPAN(info, "d"); auto const two = TRACE_MAKE_SPAN(info, "e"); bool const both = TRACE_ENABLED(info) && TRACE_ENABLED(debug);
  TRACE_INFO("z", both);
}
// clang-format on

void only_for_tracing(int n) {
  int sum = 0;
  sum += n;
  auto const emit = [n, sum] {
    TRACE_SPAN(info, "scope", n);
    TRACE_INFO("", sum);
  };
  emit();
  struct {
    int unused;
  } const record{n};
  TRACE_FN(info, record.unused);
}

bool enabled_as_constant() {
  bool const on = TRACE_ENABLED(info);
  static bool const once = TRACE_ENABLED(info);
  return on && once;
}

void in_switch(int n) {
  switch (n) {
    case 0:
      TRACE_INFO("zero");
      break;
    case 1: {
      TRACE_SPAN(info, "one");
      TRACE_INFO("one");
      break;
    }
    case 2:
      TRACE_INFO("two");
      [[fallthrough]];
    default:
      TRACE_INFO("default");
  }
}

void in_loops(int n) {
  for (int i = 0; i < n; ++i) {
    TRACE_SPAN(info, "step", i);
    if (i == 0) continue;
    TRACE_INFO("step {}", i);
    if (i == 1) break;
  }
}

void in_lambdas(int n) {
  auto const plain = [n] {
    TRACE_FN(info, n);
    TRACE_INFO("in a lambda", n);
  };
  plain();
  auto const generic = [](auto const& x, auto... more) {
    TRACE_SPAN(info, "generic", x);
    TRACE_INFO("{}", x, tracing::kv("count", sizeof...(more)));
    return x;
  };
  generic(n);
  generic("text", 1, 2);
  auto const nested = [&] { return [&](auto const& x) { TRACE_INFO("{}", x, n); }; };
  nested()(1.5);
  auto counter = [i = 0]() mutable { TRACE_INFO("", i); return ++i; };
  TRACE_INFO("{}", counter());
  TRACE_INFO("{}", [] {
    TRACE_SPAN(info, "inside an argument");
    return 1;
  }());
}

namespace {

template <class T>
class Box {
 public:
  explicit Box(T x) : x_(std::move(x)) { TRACE_INFO("made", x_); }
  template <class U>
  void compare(U const& y) const {
    TRACE_SPAN(info, "compare", this->x_, y);
    TRACE_INFO("{} {}", x_, y);
  }
  static void shared(T const& x) { TRACE_FN(info, x); }

 private:
  T x_;
};

template <class T>
void number_of(T const& x) {
  TRACE_SPAN(info, "each", x);
}

template <class... T>
void pack(T const&... x) {
  TRACE_SPAN(info, "pack", tracing::kv("count", sizeof...(x)));
  (number_of(x), ...);
  TRACE_INFO("sum {}", (x + ...), tracing::kv("all", std::tuple(x...)));
}

template <int kN>
int number() {
  TRACE_INFO("{}", kN);
  return kN;
}

constexpr int sum_below(int n) {
  TRACE_FN(trace, n);
  int total = 0;
  for (int i = 0; i < n; ++i) {
    TRACE_SPAN(trace, "step", i);
    total += i;
    TRACE_TRACE("added {}", i, total);
  }
  TRACE_VALUES(trace, total);
  return total;
}
static_assert(sum_below(5) == 10);
constinit int const kTen = sum_below(5);

}  // namespace

void in_templates(int n) {
  Box<int> const number_box(n);
  number_box.compare(2.5);
  Box<std::string>("text").compare(std::string_view("other"));
  Box<int>::shared(n);
  pack(n, 2L, 3U);
  pack(std::string("a"), std::string("b"));
  number<3>();
}

#define LOG_AND_CALL(function, ...)                      \
  do {                                                   \
    TRACE_INFO("calling " #function, __VA_ARGS__);       \
    function(__VA_ARGS__);                               \
  } while (0)
#define WITH_SPAN(span_name, ...) \
  TRACE_SPAN(info, span_name);    \
  TRACE_INFO(__VA_ARGS__)
#define ANSWER 42

void in_user_macros(int n) {
  LOG_AND_CALL(in_switch, n);
  WITH_SPAN("by a macro", "of {}", n, tracing::kv("answer", ANSWER));
}

void in_constant_expressions() {
  static_assert(kTen == 10);
  std::array<int, static_cast<std::size_t>(sum_below(3))> const three{};
  TRACE_INFO("", tracing::kv("size", three.size()));
  TRACE_INFO("{}", sum_below(2));
}

void after_a_label(int n) {
again:
  TRACE_INFO("again", n);
  if (--n > 0) goto again;
}

void in_noexcept_function(int n) noexcept {
  TRACE_FN(info, n);
  TRACE_INFO("no throw", n);
  auto const span = TRACE_MAKE_SPAN(info, "handle");
  static_assert(noexcept(TRACE_ENABLED(info)));
  static_assert(noexcept(tracing::kv("n", n)));
  static_assert(noexcept(tracing::display(n)));
  static_assert(noexcept(span.record(tracing::kv("n", n))));
  static_assert(noexcept(span.enter()));
  static_assert(noexcept(span.follows_from(span)));
  static_assert(noexcept(tracing::Span::current()));
  static_assert(noexcept(tracing::Span(span)));
}

void in_try_blocks(int n) {
  try {
    TRACE_SPAN(info, "tried", n);
    throw n;
  } catch (int caught) {
    TRACE_INFO("caught", caught);
  }
}

namespace {

bool emit_early() {
  TRACE_SPAN(info, "early");
  TRACE_INFO("early");
  return TRACE_ENABLED(error);
}
bool const early = emit_early();

}  // namespace

bool enabled_in_static_initialiser() noexcept { return early; }

EmitsGoodbye::~EmitsGoodbye() {
  TRACE_FN(info);
  TRACE_INFO("gone");
}

int evaluations_of_each_statement() {
  int count = 0;
  auto const next = [&count] { return ++count; };
  TRACE_SPAN(info, "scope", tracing::kv("n", next()));
  TRACE_FN(info, tracing::kv("n", next()));
  auto const handle = TRACE_MAKE_SPAN(info, "handle", tracing::kv("n", next()));
  TRACE_INFO("{0} {0}", next());
  TRACE_LOG(info, "", tracing::kv("n", next()));
  TRACE_VALUES(info, tracing::kv("n", next()));
  if (TRACE_ENABLED(info, tracing::kv("n", next()))) return count;  // does not evaluate its arguments
  return count;
}

}  // namespace hygiene
