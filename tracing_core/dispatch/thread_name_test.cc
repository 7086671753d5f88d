#include "tracing_core/dispatch/thread_name.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <memory>
#include <string>
#include <thread>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/emit/emit.h"
#include "tracing_core/support/thread_info.h"

namespace {

class NameOfLastEvent : public tracing::Layer {
 public:
  explicit NameOfLastEvent(std::string& name) : name_(name) {}
  void on_event(tracing::Event const&, tracing::Context const& context) noexcept override {
    name_ = context.track().name;
  }

 private:
  std::string& name_;
};

// Returns the thread name of an event that a new thread emits after `prepare()`.
template <class F>
std::string recorded_name(F prepare) {
  std::string name = "nothing recorded";
  auto const registry = tracing::RegistryBuilder().with(std::make_unique<NameOfLastEvent>(name)).build();
  std::thread([&] {
    tracing::ScopedDefault const scope(registry);
    prepare();
    tracing::RuntimeCallsite const callsite({});
    tracing::emit_event(callsite.callsite(), nullptr);
  }).join();
  return name;
}

std::string recorded_after_naming(std::string const& name) {
  return recorded_name([&] { tracing::set_thread_name(name); });
}

// Returns a name that no thread of this process was given, even if tests are repeated.
std::string new_name(std::string const& name) {
  static int names = 0;
  return name + '-' + std::to_string(++names);
}

TEST(SetThreadName, NamesRecordsOfTheThread) {
  std::string const name = new_name("loader");
  EXPECT_EQ(recorded_after_naming(name), name);
}

TEST(SetThreadName, AcceptsLongerNamesThanTheSystem) {
  std::string const name = new_name("worker-with-a-long-name");
  EXPECT_EQ(recorded_after_naming(name), name);
}

// Returns the number that the next new thread will get; this call itself uses the number before it.
std::string next_number() {
  std::uint64_t number = 0;
  std::thread([&number] { number = tracing::support::this_thread_info().number; }).join();
  return std::to_string(number + 1);
}

TEST(SetThreadName, AddsTheNumberIfAnEarlierThreadHasTheName) {
  std::string const name = new_name("loader");
  EXPECT_EQ(recorded_after_naming(name), name);
  std::string const number = next_number();
  EXPECT_EQ(recorded_after_naming(name), name + " " + number);
  std::string longest = new_name("b");
  longest.insert(0, 63 - longest.size(), 'b');
  EXPECT_EQ(recorded_after_naming(longest), longest);
  std::string const third = next_number();
  EXPECT_EQ(recorded_after_naming(longest + "b"), longest.substr(0, 62 - third.size()) + " " + third);
}

TEST(SetThreadName, AddsTheNumberToNamesOfTheSystem) {
  std::string const given = new_name("system");
  auto const name = [&given] { return recorded_name([&given] { pthread_setname_np(pthread_self(), given.c_str()); }); };
  EXPECT_EQ(name(), given);
  std::string const number = next_number();
  EXPECT_EQ(name(), given + " " + number);
}

TEST(SetThreadName, KeepsTheNameThatTheThreadHas) {
  std::string const name = new_name("named twice");
  EXPECT_EQ(recorded_name([&name] {
              tracing::set_thread_name(name);
              tracing::set_thread_name(name);
            }),
            name);
}

TEST(SetThreadName, AddsNothingToAnEarlierNameOfTheThread) {
  std::string const name = new_name("idle");
  EXPECT_EQ(recorded_name([&name] {
              tracing::set_thread_name(name);
              tracing::set_thread_name(new_name("busy"));
              tracing::set_thread_name(name);
            }),
            name);
}

TEST(SetThreadName, LeavesTheNameMainToTheMainThread) {
  std::string const number = next_number();
  EXPECT_EQ(recorded_after_naming("main"), "main " + number);
}

TEST(SetThreadName, AddsNothingToTheSystemsName) {
  for (int i = 0; i < 2; ++i) {
    std::thread([] {
      tracing::set_thread_name("shared");
      char name[32];
      pthread_getname_np(pthread_self(), name, sizeof(name));
      EXPECT_STREQ(name, "shared");
    }).join();
  }
}

TEST(SetThreadName, RemovesTheNameIfEmpty) {
  EXPECT_EQ(recorded_name([] {
              pthread_setname_np(pthread_self(), "system");
              tracing::set_thread_name({});
            }),
            "");
}

TEST(SetThreadName, CutsAtTheEndOfACharacter) {
  std::string const long_one = new_name("long") + std::string(70, 'a');
  EXPECT_EQ(recorded_after_naming(long_one), long_one.substr(0, 63));
  std::string name = new_name("cut");
  name.resize(62, 'a');
  EXPECT_EQ(recorded_after_naming(name + "\u00e9"), name);
}

TEST(SetThreadName, TakesPrecedenceOverTheSystemsName) {
  std::string const system = new_name("system"), ours = new_name("ours");
  EXPECT_EQ(recorded_name([&] {
              pthread_setname_np(pthread_self(), system.c_str());
              tracing::set_thread_name(ours);
            }),
            ours);
  EXPECT_EQ(recorded_name([&] { pthread_setname_np(pthread_self(), system.c_str()); }), system);
}

TEST(SetThreadName, SetsTheSystemsNameToTheFirst15Bytes) {
  std::thread([] {
    tracing::set_thread_name("worker-with-a-long-name");
    char name[32];
    pthread_getname_np(pthread_self(), name, sizeof(name));
    EXPECT_STREQ(name, "worker-with-a-l");
  }).join();
}

TEST(SetThreadName, DoesNotRenameTheProcess) {
  char before[32];
  char after[32];
  pthread_getname_np(pthread_self(), before, sizeof(before));
  tracing::set_thread_name("main");
  pthread_getname_np(pthread_self(), after, sizeof(after));
  EXPECT_STREQ(before, after);
}

}  // namespace
