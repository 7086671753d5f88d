#include "tracing_core/emit/function_path.h"

#include <gtest/gtest.h>

#include <coroutine>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/recording_subscriber.h"
#include "tracing_core/tracing.h"

namespace tracing::internal { namespace {

// Returns `target|function`.
std::string parsed(std::string_view text) {
  std::string const terminated(text);  // like the compilers' literals
  PathParts const parts = parse_parts(terminated.data(), terminated.size());
  std::string target;
  for (std::size_t i = 0; i < parts.target_parts(); ++i) {
    if (i > 0) target += "::";
    target += parts.part(i);
  }
  FunctionPath const path = parse_function(terminated.data(), terminated.size());
  EXPECT_EQ(path.target_size, target.size()) << text;
  if (path.is_contiguous) {
    EXPECT_EQ(path.target, target) << text;
  }
  return target + "|" + std::string(path.function);
}

struct Case {
  char const* text;
  char const* expected;
};

TEST(FunctionPath, ParsesFunctionNamesOfGcc) {
  Case const cases[] = {
      {"int main(int, char**)", "|main"},
      {"void f()", "|f"},
      {"constexpr int ns::f(int)", "ns|f"},
      {"static int ns::S::f()", "ns::S|f"},
      {"int ns::{anonymous}::f()", "ns|f"},
      {"int {anonymous}::S::f()", "S|f"},
      {"int ns::_GLOBAL__N__6f8b49a9_10_kernels_cu_3cb6221b::S::f()", "ns::S|f"},
      {"void ns::v1::f()", "ns|f"},
      {"void ns::__1::S::f() const", "ns::S|f"},
      {"ns::S::S(int)", "ns::S|S"},
      {"ns::S::~S()", "ns::S|~S"},
      {"constexpr ns::S<T>::S() [with T = int]", "ns::S|S"},
      {"T ns::S<T, N>::f(U) [with U = std::pair<int, long int>; T = int; long unsigned int N = 3]", "ns::S|f"},
      {"void ns::S<T>::f() && [with T = ns::X<(a > b)>]", "ns::S|f"},
      {"std::map<int, std::vector<ns::X> > ns::make(int)", "ns|make"},
      {"const std::map<int, int>& ns::S::get() const", "ns::S|get"},
      {"ns::X* ns::find(int)", "ns|find"},
      {"char& ns::S::at(size_t)", "ns::S|at"},
      {"decltype(auto) ns::f(T&&) [with T = int&]", "ns|f"},
      {"decltype ((x + y)) ns::f(T, U) [with T = int; U = long int]", "ns|f"},
      {"auto ns::f(auto:1) [with auto:1 = int]", "ns|f"},
      {"void (* ns::get(int))(double)", "ns|get"},
      {"int (& ns::S::array())[3]", "ns::S|array"},
      {"void (ns::S::* ns::member(int))(double)", "ns|member"},
      {"ns::f(int)::<lambda(auto:1)> [with auto:1 = int]", "ns|f"},
      {"ns::S::f(int)::<lambda()>", "ns::S|f"},
      {"ns::S<T>::f(int)::<lambda()>::<lambda()> [with T = int]", "ns::S|f"},
      {"ns::f(int)::<lambda()> mutable", "ns|f"},
      {"ns::<lambda(int)>", "ns|"},
      {"<lambda()>", "|"},
      {"ns::{anonymous}::<lambda()>", "ns|"},
      {"ns::f()::Local::g()", "ns|f"},
      {"void ns::f()::Local::g()", "ns|f"},
      {"void ns::S::operator()(int) const", "ns::S|operator()"},
      {"bool ns::operator<(const S&, const S&)", "ns|operator<"},
      {"bool ns::operator>>(S, S)", "ns|operator>>"},
      {"ns::S& ns::S::operator->()", "ns::S|operator->"},
      {"ns::S& ns::S::operator=(const ns::S&)", "ns::S|operator="},
      {"auto ns::S::operator<=>(const ns::S&) const", "ns::S|operator<=>"},
      {"int& ns::S::operator[](int)", "ns::S|operator[]"},
      {"ns::S::operator bool() const", "ns::S|operator bool"},
      {"ns::S::operator std::vector<int>() const", "ns::S|operator std::vector<int>"},
      {"static void* ns::S::operator new(size_t)", "ns::S|operator new"},
      {"static void ns::S::operator delete [](void*)", "ns::S|operator delete []"},
      {"long double ns::operator\"\"_km(long double)", "ns|operator\"\"_km"},
      {"void ns::operators()", "ns|operators"},
      {"void ns::operator_like::f()", "ns::operator_like|f"},
      {"ns::Task ns::run(int)", "ns|run"},
      {"void ns::run(ns::run(int)::_Z3runi.Frame*)", "ns|run"},
      {"ns::Foo<T>::bar<U>(int)::<lambda()> [with U = int; T = long int]", "ns::Foo|bar"},
      {"void ns::f(void (*)(int), std::function<void()>)", "ns|f"},
      {"virtual void ns::Suite_Name_Test::TestBody()", "ns|TestBody"},
      {"virtual void Suite_Name_Test::TestBody()", "|TestBody"},
      {"virtual void ns::{anonymous}::Suite_Name_Test::TestBody()", "ns|TestBody"},
      {"ns::Suite_Name_Test::TestBody()::<lambda()>", "ns|TestBody"},
      {"void ns::Suite_Name_Test<gtest_TypeParam_>::TestBody() [with gtest_TypeParam_ = int]", "ns|TestBody"},
      {"void ns::gtest_suite_Suite_::Name<T>::TestBody() [with T = int]", "ns|TestBody"},
      {"void ns::Suite_Name_Test::helper()", "ns::Suite_Name_Test|helper"},
  };
  for (Case const& c : cases) EXPECT_EQ(parsed(c.text), c.expected) << c.text;
}

TEST(FunctionPath, ParsesFunctionNamesOfClang) {
  Case const cases[] = {
      {"int main(int, char **)", "|main"},
      {"int ns::f(int)", "ns|f"},
      {"int ns::(anonymous namespace)::f()", "ns|f"},
      {"int (anonymous namespace)::S::f()", "S|f"},
      {"std::map<int, std::vector<ns::X>> ns::make(int)", "ns|make"},
      {"ns::X *ns::find(int)", "ns|find"},
      {"T &&ns::forward(T &&) [T = int]", "ns|forward"},
      {"decltype(auto) ns::f(T &&) [T = int &]", "ns|f"},
      {"decltype(x + y) ns::f(T, U) [T = int, U = long]", "ns|f"},
      {"void (*ns::get(int))(double)", "ns|get"},
      {"int (&ns::S::array())[3]", "ns::S|array"},
      {"void (ns::S::*ns::member(int))(double)", "ns|member"},
      {"auto ns::f(int)::(anonymous class)::operator()(auto:1) const [auto:1 = int]", "ns|f"},
      {"auto ns::S::f(int)::(anonymous class)::operator()() const", "ns::S|f"},
      {"auto ns::S<int>::f(int)::(anonymous class)::operator()()::(anonymous class)::operator()() const", "ns::S|f"},
      {"auto ns::(anonymous class)::operator()(int) const", "ns|"},
      {"auto (anonymous class)::operator()() const", "|"},
      {"auto ns::(anonymous namespace)::(anonymous class)::operator()() const", "ns|"},
      {"auto ns::S::operator<=>(const ns::S &) const", "ns::S|operator<=>"},
      {"void ns::Foo<int>::bar() [T = int, U = ns::X<(a > b)>]", "ns::Foo|bar"},
  };
  for (Case const& c : cases) EXPECT_EQ(parsed(c.text), c.expected) << c.text;
}

TEST(FileStem, HasNeitherFoldersNorEndings) {
  EXPECT_EQ(file_stem("a/b/engine.cc"), "engine");
  EXPECT_EQ(file_stem("engine.test.cc"), "engine");
  EXPECT_EQ(file_stem("engine"), "engine");
  EXPECT_EQ(file_stem("a/.hidden"), ".hidden");
}

}}  // namespace tracing::internal

// The same functions give the same targets and names with GCC and Clang.
#define HERE() TRACE_INFO("here")

void at_global_scope() { HERE(); }
namespace {
void anonymous() { HERE(); }
auto const lambda_at_global_scope = [] { HERE(); };
}  // namespace

namespace forms {

constexpr int constant(int n) {
  HERE();
  return n;
}
void no_throw() noexcept { HERE(); }
template <class T>
void generic(T) {
  HERE();
}
void abbreviated(auto) { HERE(); }
std::vector<std::pair<int, std::string>> returns_template() {
  HERE();
  return {};
}
decltype(auto) deduced() {
  HERE();
  return 1;
}
auto trailing() -> std::vector<int> {
  HERE();
  return {};
}
void (*returns_function_pointer(int))(int) {
  HERE();
  return generic<int>;
}
auto const lambda = [](int) { HERE(); };
void nested_lambdas() {
  [] { [](auto) { HERE(); }(1); }();
}
void local_class() {
  struct Local {
    void method() { HERE(); }
  };
  Local{}.method();
}

inline namespace v2 {
void versioned() { HERE(); }
}  // namespace v2
namespace {
struct Hidden {
  void method() { HERE(); }
};
}  // namespace
namespace deep::deeper {
void down() { HERE(); }
}  // namespace deep::deeper

struct Class {
  Class() { HERE(); }
  explicit Class(Class const*) {}
  void method() const& { HERE(); }
  static void of_class() { HERE(); }
  void operator()(int) { HERE(); }
  void operator<<(int) { HERE(); }
  void operator[](int) { HERE(); }
  explicit operator bool() const {
    HERE();
    return true;
  }
  void in_lambda() {
    [] { HERE(); }();
  }
};
struct WithDestructor {
  ~WithDestructor() { HERE(); }
};

template <class T, int N>
struct Template {
  template <class U>
  void generic(U) {
    HERE();
  }
  void in_lambda() {
    [] { HERE(); }();
  }
  template <class U>
  struct Nested {
    void method() { HERE(); }
  };
};

struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};
Task coroutine() {
  HERE();
  co_return;
}

}  // namespace forms

namespace {

TEST(FunctionPath, IsTheSameForBothCompilers) {
  tracing_test::Recording recording;
  struct Live {
    void (*call)();
    char const* expected;
  };
  using Template = forms::Template<std::vector<int>, (3 > 2)>;
  static forms::Class object(nullptr);
  Live const cases[] = {
      {[] { at_global_scope(); }, "function_path_test|at_global_scope"},
      {[] { anonymous(); }, "function_path_test|anonymous"},
      {[] { lambda_at_global_scope(); }, "function_path_test|"},
      {[] { forms::constant(1); }, "forms|constant"},
      {[] { forms::no_throw(); }, "forms|no_throw"},
      {[] { forms::generic(std::vector<std::pair<int, char const*>>{}); }, "forms|generic"},
      {[] { forms::abbreviated(1); }, "forms|abbreviated"},
      {[] { forms::returns_template(); }, "forms|returns_template"},
      {[] { forms::deduced(); }, "forms|deduced"},
      {[] { forms::trailing(); }, "forms|trailing"},
      {[] { forms::returns_function_pointer(1); }, "forms|returns_function_pointer"},
      {[] { forms::lambda(1); }, "forms|"},
      {[] { forms::nested_lambdas(); }, "forms|nested_lambdas"},
      {[] { forms::local_class(); }, "forms|local_class"},
      {[] { forms::versioned(); }, "forms|versioned"},
      {[] { forms::Hidden{}.method(); }, "forms::Hidden|method"},
      {[] { forms::deep::deeper::down(); }, "forms::deep::deeper|down"},
      {[] { forms::Class{}; }, "forms::Class|Class"},
      {[] { (void)forms::WithDestructor{}; }, "forms::WithDestructor|~WithDestructor"},
      {[] { forms::Class::of_class(); }, "forms::Class|of_class"},
      {[] { object.method(); }, "forms::Class|method"},
      {[] { object(1); }, "forms::Class|operator()"},
      {[] { object << 1; }, "forms::Class|operator<<"},
      {[] { object[1]; }, "forms::Class|operator[]"},
      {[] { (void)static_cast<bool>(object); }, "forms::Class|operator bool"},
      {[] { object.in_lambda(); }, "forms::Class|in_lambda"},
      {[] { Template{}.generic("a"); }, "forms::Template|generic"},
      {[] { Template{}.in_lambda(); }, "forms::Template|in_lambda"},
      {[] { Template::Nested<int>{}.method(); }, "forms::Template::Nested|method"},
      {[] { forms::coroutine(); }, "forms|coroutine"},
  };
  for (Live const& live : cases) {
    live.call();
    tracing::Metadata const* const metadata = recording->last_event();
    ASSERT_NE(metadata, nullptr);
    EXPECT_EQ(std::string(metadata->target()) + "|" + std::string(metadata->function()), live.expected);
  }
}

}  // namespace
