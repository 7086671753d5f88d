#include "tracing_core/dispatch/dispatcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/recording_subscriber.h"
#include "tracing_core/tracing.h"

namespace dispatcher_test { namespace {

using testing::IsEmpty;
using testing::SizeIs;
using tracing::ScopedDefault;
using tracing_test::Recording;
using tracing_test::RecordingSubscriber;

void say() { TRACE_INFO("said"); }
void hint() { TRACE_DEBUG("hinted"); }

// Runs in a child process, since the subscriber of the process cannot be unset.
void set_twice_and_exit() {
  auto const first = std::make_shared<RecordingSubscriber>();
  auto const second = std::make_shared<RecordingSubscriber>();
  bool good = tracing::current_subscriber() == nullptr && !tracing::set_global_default(nullptr);
  say();  // dropped
  good = good && tracing::set_global_default(first) && !tracing::set_global_default(second);
  good = good && tracing::current_subscriber() == first.get();
  say();
  std::thread(say).join();
  good = good && first->take().size() == 2 && second->take().empty();
  {
    ScopedDefault const scope(second);
    say();
    good = good && second->take().size() == 1 && first->take().empty();
    {
      ScopedDefault const none(nullptr);
      say();
      good = good && tracing::current_subscriber() == nullptr;
    }
    std::thread(say).join();  // another thread uses the subscriber of the process
    good = good && second->take().empty() && first->take().size() == 1;
  }
  say();
  good = good && first->take().size() == 1;
  std::_Exit(good ? 0 : 1);
}

TEST(Dispatcher, SubscriberOfTheProcessIsSetOnce) { EXPECT_EXIT(set_twice_and_exit(), testing::ExitedWithCode(0), ""); }

TEST(ScopedDefault, ReceivesTheRecordsOfItsThreadOnly) {
  say();
  Recording const outer;
  say();
  EXPECT_THAT(outer->take(), SizeIs(1));
  {
    Recording const inner;
    say();
    say();
    EXPECT_THAT(outer->take(), IsEmpty());
    EXPECT_THAT(inner->take(), SizeIs(2));
    std::thread(say).join();
    EXPECT_THAT(inner->take(), IsEmpty());
  }
  say();
  EXPECT_THAT(outer->take(), SizeIs(1));
}

TEST(ScopedDefault, NullDropsTheRecordsOfTheThread) {
  Recording const outer;
  {
    ScopedDefault const none(nullptr);
    EXPECT_EQ(tracing::current_subscriber(), nullptr);
    EXPECT_FALSE(TRACE_ENABLED(error));
    say();
    Recording const inner;
    say();
    EXPECT_THAT(inner->take(), SizeIs(1));
  }
  EXPECT_TRUE(TRACE_ENABLED(error));
  say();
  EXPECT_THAT(outer->take(), SizeIs(1));
}

TEST(ScopedDefault, MayBeSharedBySeveralThreads) {
  auto const subscriber = std::make_shared<RecordingSubscriber>();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        ScopedDefault const scope(subscriber);
        say();
      }
      say();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_THAT(subscriber->take(), SizeIs(80));
}

TEST(ScopedDefault, MaxLevelDiffersByThread) {
  auto const all = std::make_shared<RecordingSubscriber>();
  auto const few = std::make_shared<RecordingSubscriber>();
  few->set_max_level(tracing::LevelFilter::info);
  std::atomic<int> ready{0};
  auto const work = [&](std::shared_ptr<RecordingSubscriber> const& own) {
    ScopedDefault const scope(own);
    ++ready;
    while (ready < 2) std::this_thread::yield();  // both are set now
    for (int i = 0; i < 50; ++i) {
      say();
      hint();
    }
    ++ready;
    while (ready < 4) std::this_thread::yield();
  };
  std::thread other([&] { work(few); });
  work(all);
  other.join();
  EXPECT_THAT(all->take(), SizeIs(100));
  EXPECT_THAT(few->take(), SizeIs(50));
}

TEST(WithDefault, ReturnsTheResultOfTheFunction) {
  auto const subscriber = std::make_shared<RecordingSubscriber>();
  EXPECT_EQ(tracing::with_default(subscriber, [] { return say(), 3; }), 3);
  int n = 0;
  int& same = tracing::with_default(subscriber, [&]() -> int& { return n; });
  EXPECT_EQ(&same, &n);
  EXPECT_THROW(tracing::with_default(subscriber, [] { throw std::string("out"); }), std::string);
  EXPECT_EQ(tracing::current_subscriber(), nullptr);
  EXPECT_THAT(subscriber->take(), SizeIs(1));
}

TEST(RebuildInterest, QueriesEveryCallsiteAgain) {
  Recording const recording(tracing::LevelFilter::warn);
  say();
  EXPECT_THAT(recording->take(), IsEmpty());
  std::size_t const asked = recording->registered().size();
  say();
  EXPECT_EQ(recording->registered().size(), asked);  // the cached answer is used
  recording->set_max_level(tracing::LevelFilter::trace);
  say();
  EXPECT_THAT(recording->take(), IsEmpty());  // the change is not noticed yet
  tracing::rebuild_interest();
  EXPECT_GT(recording->registered().size(), asked);
  say();
  EXPECT_THAT(recording->take(), SizeIs(1));
  recording->set_max_level(tracing::LevelFilter::off);
  tracing::rebuild_interest();
  say();
  EXPECT_THAT(recording->take(), IsEmpty());
}

TEST(RebuildInterest, DynamicSubscribersAreQueriedForEachRecord) {
  Recording const recording;
  recording->set_dynamic(true);
  tracing::rebuild_interest();
  say();
  say();
  EXPECT_EQ(recording->asked(), 2);
  recording->set_dynamic(false);  // needs no rebuild
  say();
  EXPECT_EQ(recording->asked(), 3);
  EXPECT_THAT(recording->take(), SizeIs(2));
}

TEST(Subscriber, MayBeDestroyedBeforeCallsites) {
  for (int i = 0; i < 3; ++i) {
    std::weak_ptr<tracing::Subscriber> gone;
    {
      Recording const recording;
      gone = recording.shared();
      say();
      EXPECT_THAT(recording->take(), SizeIs(1));
    }
    EXPECT_TRUE(gone.expired());
    say();
    EXPECT_FALSE(TRACE_ENABLED(error));
    tracing::rebuild_interest();
    say();
  }
}

template <int kNumber>
void say_number() {
  TRACE_INFO("one of many", tracing::kv("number", kNumber));
}
template <int... kNumbers>
void say_numbers(std::integer_sequence<int, kNumbers...>) {
  (say_number<kNumbers>(), ...);
}

TEST(Callsite, IsRegisteredOnceIfManyThreadsReachItAtOnce) {
  constexpr int kThreads = 4;
  constexpr int kCallsites = 64;
  auto const subscriber = std::make_shared<RecordingSubscriber>();
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      ScopedDefault const scope(subscriber);
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      say_numbers(std::make_integer_sequence<int, kCallsites>());
      ++ready;
      while (ready < 2 * kThreads) std::this_thread::yield();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_THAT(subscriber->take(), SizeIs(kThreads * kCallsites));
  int found = 0;
  tracing::visit_callsites(
      [](void* count, tracing::Metadata const& metadata) {
        if (metadata.fields().contains("number")) ++*static_cast<int*>(count);
      },
      &found);
  EXPECT_EQ(found, kCallsites);
}

TEST(Callsite, TheLayerMaskIsPassedWithTheRecord) {
  struct Spy final : tracing::Subscriber {
    tracing::Registration register_callsite(tracing::Metadata const&) noexcept override { return answer; }
    tracing::LayerMask enabled(tracing::Metadata const&) noexcept override { return 5; }
    tracing::SpanId new_span(tracing::NewSpan const&) noexcept override { return {}; }
    void record(tracing::SpanId, tracing::FieldValues const&) noexcept override {}
    void follows_from(tracing::SpanId, tracing::SpanId) noexcept override {}
    void event(tracing::Event const& event) noexcept override { mask = event.mask; }
    void enter(tracing::SpanId, tracing::Origin const&) noexcept override {}
    void exit(tracing::SpanId, tracing::Origin const&) noexcept override {}
    void add_reference(tracing::SpanId) noexcept override {}
    void drop_reference(tracing::SpanId, tracing::Origin const&) noexcept override {}
    tracing::Registration answer;
    tracing::LayerMask mask = 0;
  };
  auto const spy = std::make_shared<Spy>();
  ScopedDefault const scope(spy);
  spy->answer = {tracing::Interest::sometimes, 0, 5};
  tracing::rebuild_interest();
  say();
  EXPECT_EQ(spy->mask, 5U);
  TRACE_SPAN(info, "rejected scope");
  EXPECT_TRUE(tracing::Span::current().is_none());
  EXPECT_TRUE(TRACE_MAKE_SPAN(info, "rejected span").is_none());
  spy->answer = {};
  tracing::rebuild_interest();
  EXPECT_FALSE(TRACE_ENABLED(error));
  spy->mask = 0;
  say();
  EXPECT_EQ(spy->mask, 0U);
}

}}  // namespace dispatcher_test
