#include "tracing_core/dispatch/thread_name.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <memory>
#include <string>
#include <thread>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/emit/emit.h"

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

// The thread name of an event that a new thread emits after `prepare()`.
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

TEST(SetThreadName, NamesRecordsOfTheThread) { EXPECT_EQ(recorded_after_naming("loader"), "loader"); }

TEST(SetThreadName, AcceptsLongerNamesThanTheSystem) {
  EXPECT_EQ(recorded_after_naming("worker-with-a-long-name"), "worker-with-a-long-name");
}

TEST(SetThreadName, RemovesTheNameIfEmpty) {
  EXPECT_EQ(recorded_name([] {
              pthread_setname_np(pthread_self(), "system");
              tracing::set_thread_name({});
            }),
            "");
}

TEST(SetThreadName, CutsAtTheEndOfACharacter) {
  EXPECT_EQ(recorded_after_naming(std::string(70, 'a')), std::string(63, 'a'));
  EXPECT_EQ(recorded_after_naming(std::string(62, 'a') + "\u00e9"), std::string(62, 'a'));
}

TEST(SetThreadName, TakesPrecedenceOverTheSystemsName) {
  EXPECT_EQ(recorded_name([] {
              pthread_setname_np(pthread_self(), "system");
              tracing::set_thread_name("ours");
            }),
            "ours");
  EXPECT_EQ(recorded_name([] { pthread_setname_np(pthread_self(), "system"); }), "system");
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
