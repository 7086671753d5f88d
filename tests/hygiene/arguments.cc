#include <cerrno>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/hygiene/places.h"
#include "tracing_core/tracing.h"

namespace hygiene {
namespace {

struct Bits {
  unsigned low : 3;
  int high : 5;
  bool flag : 1;
};
class MoveOnly {
 public:
  explicit MoveOnly(int n) : n_(n) {}
  MoveOnly(MoveOnly&&) = default;
  MoveOnly& operator=(MoveOnly&&) = default;
  int n_;
};
TRACE_FIELDS(MoveOnly, n_)
struct Converts {
  operator std::string_view() const { return "converted"; }
};
struct NeitherCopiedNorMoved {
  NeitherCopiedNorMoved() = default;
  NeitherCopiedNorMoved(NeitherCopiedNorMoved const&) = delete;
  NeitherCopiedNorMoved& operator=(NeitherCopiedNorMoved const&) = delete;
  int n = 3;
};
TRACE_FIELDS(NeitherCopiedNorMoved, n)

template <class A, class B>
int first_of(A a, B) {
  return static_cast<int>(a);
}

}  // namespace

void argument_kinds() {
  Bits const bits{5, -3, true};
  TRACE_VALUES(info, bits.low, bits.high, bits.flag);
  int volatile changing = 1;
  int const volatile& reference = changing;
  TRACE_VALUES(info, changing, reference);
  MoveOnly mine(7);
  TRACE_VALUES(info, mine, tracing::kv("moved", std::move(mine)), tracing::kv("made", MoveOnly(8)));
  NeitherCopiedNorMoved const fixed;
  TRACE_VALUES(info, fixed, tracing::kv("made", NeitherCopiedNorMoved()));
  auto const owned = std::make_unique<int>(9);
  TRACE_VALUES(info, tracing::kv("owned", *owned), tracing::kv("known", owned != nullptr));
  errno = ENOENT;
  TRACE_VALUES(info, errno);
  auto const [one, two] = std::pair(1, std::string("two"));
  TRACE_VALUES(info, one, two);
  TRACE_INFO(R"(raw, "quoted" {} \n)", R"x(inside ),( it)x");
  TRACE_INFO("{} {} {}", first_of<int, long>(1, 2), std::is_same_v<int, long>, (1 < 2));
  TRACE_INFO("{}", std::map<int, std::pair<int, int>>{{1, {2, 3}}},
             tracing::kv("comma", std::tuple<int, char>(1, ',')));
  TRACE_INFO("a comma, in (the \"message\")", tracing::kv("a,b", ','), tracing::kv("(", '('));
  Converts const converts;
  TRACE_VALUES(info, converts);
  long double const precise = 1.5L;
  unsigned char const byte = 200;
  signed char const small = -3;
  short const narrow = -4;
  wchar_t const wide = L'w';
  char16_t const utf16 = u'x';
  TRACE_VALUES(info, precise, byte, small, narrow, tracing::kv("wide", static_cast<int>(wide)),
               tracing::kv("utf16", static_cast<int>(utf16)));
  char const* const absent = nullptr;
  char letters[4] = {'a', 'b', 'c', 'd'};
  TRACE_VALUES(info, absent, letters, tracing::kv("is", nullptr == absent ? "yes" : "no"));
}

}  // namespace hygiene
