#include "tracing_core/dispatch/printed_values.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <atomic>
#include <map>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tracing_core/setup.h"
#include "tracing_core/tracing.h"

namespace printed_values_test {

using tracing::kv;

// Emits a span and an event each time it prints itself, like a tensor that is first copied from its device.
struct Tensor {
  int id = 0;
  friend std::ostream& operator<<(std::ostream& os, Tensor const& x) {
    TRACE_SPAN(info, "copy_to_host", kv("id", x.id));
    TRACE_ERROR("copy failed");
    return os << "Tensor " << x.id;
  }
};
struct Formatted {};
struct Shape {
  std::vector<int> sizes() const {
    TRACE_WARN("sizes");
    return {2, 3};
  }
};
TRACE_FIELDS(Shape, sizes())
struct Lazy {
  struct Iterator {
    int i;
    int operator*() const {
      TRACE_INFO("element {}", i);
      return i;
    }
    Iterator& operator++() { return ++i, *this; }
    bool operator==(Iterator const&) const = default;
  };
  Iterator begin() const { return {0}; }
  Iterator end() const { return {2}; }
};
// Traces itself while it is printed.
struct Mirror {
  int depth = 0;
  friend std::ostream& operator<<(std::ostream& os, Mirror x) {
    TRACE_INFO("in the mirror {}", Mirror{x.depth + 1});
    return os << "Mirror " << x.depth;
  }
};
struct Throws {
  friend std::ostream& operator<<(std::ostream&, Throws const&) {
    TRACE_ERROR("about to throw");
    throw std::runtime_error("thrown");
  }
};
enum class Mode { fast };
std::ostream& operator<<(std::ostream& os, Mode) {
  TRACE_INFO("mode");
  return os << "fast";
}

}  // namespace printed_values_test

template <>
struct fmt::formatter<printed_values_test::Formatted> {
  std::string_view spec{};
  constexpr auto parse(fmt::format_parse_context& context) {
    auto const* end = context.begin();
    while (end != context.end() && *end != '}') ++end;
    spec = {context.begin(), static_cast<std::size_t>(end - context.begin())};
    return end;
  }
  auto format(printed_values_test::Formatted, fmt::format_context& context) const {
    TRACE_WARN("formatting");
    return fmt::format_to(context.out(), "formatted by '{}'", spec);
  }
};

namespace printed_values_test {

using namespace tracing;

// Compares the lines of two layers, which both print the values and must be equal.
class PrintedValues : public testing::Test {
 protected:
  static std::shared_ptr<Subscriber> printing_to(std::string& first, std::string& second) {
    auto const layer = [](std::string& to) {
      return print_layer({.format = {.kind = FormatKind::compact, .target = false, .timer = nullptr},
                          .writer = to_sink(make_sink([&to](Level, std::string_view line) { to += line; }))});
    };
    return RegistryBuilder().with(layer(first)).with(layer(second)).build();
  }

  std::string take() {
    EXPECT_EQ(first_, second_);
    second_.clear();
    return std::exchange(first_, {});
  }

 private:
  std::string first_;
  std::string second_;
  ScopedDefault const default_{printing_to(first_, second_)};
};

std::string const copy_failed = "ERROR copy_to_host: copy failed id=1\n";

TEST_F(PrintedValues, AreRecordedAfterWhatTheirPrintingTraces) {
  Tensor const x{1};
  TRACE_INFO("message {}", x);
  EXPECT_EQ(take(), copy_failed + " INFO message Tensor 1\n");
  TRACE_INFO("field", x);
  EXPECT_EQ(take(), copy_failed + " INFO field x=Tensor 1\n");
  TRACE_INFO("several {} {}", x, 2, kv("again", x));
  EXPECT_EQ(take(), copy_failed + copy_failed + " INFO several Tensor 1 2 again=Tensor 1\n");
  TRACE_VALUES(info, x);
  EXPECT_EQ(take(), copy_failed + " INFO x=Tensor 1\n");
}

TEST_F(PrintedValues, AreThoseOfSpans) {
  Tensor const x{1};
  {
    TRACE_SPAN(info, "span", x);
    EXPECT_EQ(take(), copy_failed);
    TRACE_INFO("in it");
    EXPECT_EQ(take(), " INFO span: in it x=Tensor 1\n");
  }
  auto const span = TRACE_MAKE_SPAN(info, "made", x, kv("later", tracing::empty));
  EXPECT_EQ(take(), copy_failed);
  span.record(tracing::kv("later", Tensor{2}));
  EXPECT_EQ(take(), "ERROR copy_to_host: copy failed id=2\n");
  span.in_scope([] { TRACE_INFO("in it"); });
  EXPECT_EQ(take(), " INFO made: in it x=Tensor 1 later=Tensor 2\n");
  {
    TRACE_SPAN(info, "below", tracing::parent(span), x);
    EXPECT_EQ(take(), copy_failed);
  }
}

TEST_F(PrintedValues, AreOfEveryTypeThatRunsCodeOfTheProgram) {
  TRACE_INFO("{}", Formatted());
  EXPECT_EQ(take(), " WARN formatting\n INFO formatted by ''\n");
  TRACE_INFO("shape", kv("shape", Shape()));
  EXPECT_EQ(take(), " WARN sizes\n INFO shape shape=Shape { sizes(): [2, 3] }\n");
  TRACE_INFO("{}", Lazy());
  EXPECT_EQ(take(), " INFO element 0\n INFO element 1\n INFO [0, 1]\n");
  TRACE_INFO("{}", Mode::fast);
  EXPECT_EQ(take(), " INFO mode\n INFO fast\n");
  TRACE_INFO("{}", Throws());
  EXPECT_EQ(take(), "ERROR about to throw\n INFO <unprintable>\n");

  TRACE_INFO("{}", std::vector<Tensor>{{1}, {1}});
  EXPECT_EQ(take(), copy_failed + copy_failed + " INFO [Tensor 1, Tensor 1]\n");
  TRACE_INFO("{}", std::map<int, Tensor>{{7, {1}}});
  EXPECT_EQ(take(), copy_failed + " INFO {7: Tensor 1}\n");
  TRACE_INFO("{}", std::optional<Tensor>(Tensor{1}));
  EXPECT_EQ(take(), copy_failed + " INFO Tensor 1\n");
  TRACE_INFO("{}", std::pair(1, Tensor{1}));
  EXPECT_EQ(take(), copy_failed + " INFO (1, Tensor 1)\n");
  TRACE_INFO("{}", tracing::display(Tensor{1}));
  EXPECT_EQ(take(), copy_failed + " INFO Tensor 1\n");
  TRACE_INFO("{}", tracing::pretty(std::vector<Tensor>{{1}}));
  EXPECT_EQ(take(), copy_failed + " INFO [\n    Tensor 1,\n]\n");
}

TEST_F(PrintedValues, ArePrintedOnceByASpecificationOfTheirType) {
  TRACE_INFO("{:abc}", Formatted());
  EXPECT_EQ(take(), " WARN formatting\n INFO formatted by 'abc'\n");
  TRACE_INFO("{0:a} {0:b} {x}", Formatted(), kv("x", Formatted()));
  EXPECT_EQ(take(),
            " WARN formatting\n WARN formatting\n"
            " INFO formatted by 'a' formatted by 'b' formatted by '' x=formatted by ''\n");
}

TEST_F(PrintedValues, DoNotRecurse) {
  TRACE_INFO("{}", Mirror());
  EXPECT_EQ(take(), " INFO in the mirror Mirror 1\n INFO Mirror 0\n");
}

// Is long enough to move the text of the values before it.
struct Long {
  friend std::ostream& operator<<(std::ostream& os, Long const&) { return os << std::string(2000, 'x'); }
};

TEST_F(PrintedValues, StayWholeWhenTheirTextGrows) {
  TRACE_INFO("{} {} {}", Tensor{1}, Long(), Tensor{1});
  EXPECT_EQ(take(), copy_failed + copy_failed + " INFO Tensor 1 " + std::string(2000, 'x') + " Tensor 1\n");
}

// If printing a type runs no code of the program, only the layers that need its text print it.
using tracing::internal::printing_runs_code;
static_assert(!printing_runs_code<int>() && !printing_runs_code<std::vector<int>>() &&
              !printing_runs_code<std::map<std::string, std::vector<char>>>() && !printing_runs_code<int const[3]>() &&
              !printing_runs_code<std::pair<int, std::string>>());
static_assert(printing_runs_code<Tensor>() && printing_runs_code<std::vector<Tensor>>() &&
              printing_runs_code<std::map<int, Tensor>>() && printing_runs_code<Shape>() &&
              printing_runs_code<std::optional<Lazy>>() && printing_runs_code<Mode>() &&
              printing_runs_code<Formatted const&>());

// Tests the form in which a statement passes arguments on.
template <class T>
using Passed = std::remove_cvref_t<decltype(tracing::internal::bare(std::declval<T const&>()))>;
template <class T>
constexpr bool kIsPrintedFirst =
    std::is_same_v<tracing::internal::Printed<Passed<T>>, tracing::internal::PrintedValues>;
static_assert(!kIsPrintedFirst<char[4]> && !kIsPrintedFirst<std::u16string> && !kIsPrintedFirst<std::atomic<int>> &&
              !kIsPrintedFirst<tracing::internal::KeyValue<char[4]>>);
static_assert(kIsPrintedFirst<Tensor> && kIsPrintedFirst<Tensor[2]> && kIsPrintedFirst<std::atomic<Mode>> &&
              kIsPrintedFirst<tracing::internal::KeyValue<Tensor>>);

}  // namespace printed_values_test
