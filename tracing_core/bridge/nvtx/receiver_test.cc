// NVTX calls, as libraries make them, as spans and events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/recording_subscriber.h"
#include "tests/support/resident_memory.h"
#include "tests/support/sanitizers.h"
#include "tracing_core/bridge/nvtx.h"
#include "tracing_core/bridge/nvtx/received_names.h"
#include "tracing_core/bridge/nvtx/received_ranges.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/tracing.h"

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Lt;

// NVTX looks for a receiver once, at its first call.
std::string const why_not = [] {
  unsetenv("NVTX_INJECTION64_PATH");
  return tracing::bridge::receive_nvtx();
}();

nvtxEventAttributes_t attributes_with(char const* text) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = text;
  return attributes;
}

class NvtxReceiver : public testing::Test {
 protected:
  // Returns the line of the mark, without `event INFO `.
  std::string mark(nvtxEventAttributes_t const& attributes) {
    nvtxDomainMarkEx(domain_, &attributes);
    return recording_->take_one().substr(std::strlen("event INFO "));
  }

  nvtxDomainHandle_t const domain_ = nvtxDomainCreateA("lib");
  tracing_test::Recording recording_;
};

TEST_F(NvtxReceiver, IsInstalled) { EXPECT_EQ(why_not, ""); }

TEST_F(NvtxReceiver, MakesAnEnteredSpanOfAPushedRange) {
  EXPECT_EQ(nvtxRangePushA("outer"), 0);
  nvtxEventAttributes_t attributes = attributes_with("inner");
  attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  attributes.payload.ullValue = 48;
  EXPECT_EQ(nvtxRangePushEx(&attributes), 1);
  EXPECT_EQ(nvtxRangePop(), 1);
  EXPECT_EQ(nvtxRangePop(), 0);
  EXPECT_THAT(recording_->take(), ElementsAre("new 1 outer", "enter 1", "new 2 inner payload=48", "enter 2", "exit 2",
                                              "close 2", "exit 1", "close 1"));
  EXPECT_THAT(recording_->registered(), testing::Each("nvtx"));
}

TEST_F(NvtxReceiver, TakesTheDomainForTheTarget) { EXPECT_EQ(mark(attributes_with("text")), "nvtx::lib message=text"); }

TEST_F(NvtxReceiver, NestsRangesOfEachDomainForItself) {
  nvtxEventAttributes_t const attributes = attributes_with("in lib");
  EXPECT_EQ(nvtxRangePushA("in none"), 0);
  EXPECT_EQ(nvtxDomainRangePushEx(domain_, &attributes), 0);
  EXPECT_EQ(nvtxRangePop(), 0);
  EXPECT_EQ(nvtxDomainRangePop(domain_), 0);
  EXPECT_THAT(recording_->take(), ElementsAre("new 1 in none", "enter 1", "new 2 in lib", "enter 2", "exit 1",
                                              "close 1", "exit 2", "close 2"));
}

TEST_F(NvtxReceiver, MakesASpanThatNoThreadEntersOfAStartedRange) {
  nvtxRangeId_t const id = nvtxRangeStartA("async");
  std::thread([id] { nvtxRangeEnd(id); }).join();
  nvtxRangeEnd(id);  // again
  EXPECT_THAT(recording_->take(), ElementsAre("new 1 async", "close 1"));
}

TEST_F(NvtxReceiver, ShowsCategoriesByName) {
  nvtxEventAttributes_t attributes = attributes_with("text");
  attributes.category = 7;
  EXPECT_EQ(mark(attributes), "nvtx::lib message=text category=7");
  nvtxDomainNameCategoryA(domain_, 7, "io");
  EXPECT_EQ(mark(attributes), "nvtx::lib message=text category=\"io\"");
  nvtxDomainNameCategoryW(domain_, 7, L"disk");
  EXPECT_EQ(mark(attributes), "nvtx::lib message=text category=\"disk\"");
}

TEST_F(NvtxReceiver, ShowsPayloadsOfEachType) {
  nvtxEventAttributes_t attributes = attributes_with("t");
  attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  attributes.payload.llValue = -5;
  EXPECT_EQ(mark(attributes), "nvtx::lib message=t payload=-5");
  attributes.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  attributes.payload.dValue = 0.1;
  EXPECT_EQ(mark(attributes), "nvtx::lib message=t payload=0.1");
  attributes.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
  attributes.payload.fValue = 0.1f;
  EXPECT_EQ(mark(attributes), "nvtx::lib message=t payload=0.1");
  attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
  attributes.payload.uiValue = 4'000'000'000;
  EXPECT_EQ(mark(attributes), "nvtx::lib message=t payload=4000000000");
  attributes.payloadType = NVTX_PAYLOAD_TYPE_INT32;
  attributes.payload.iValue = -1;
  EXPECT_EQ(mark(attributes), "nvtx::lib message=t payload=-1");
}

TEST_F(NvtxReceiver, ResolvesRegisteredStrings) {
  nvtxEventAttributes_t attributes = attributes_with(nullptr);
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA(domain_, "kernel");
  EXPECT_EQ(mark(attributes), "nvtx::lib message=kernel");
  attributes.message.registered = nvtxDomainRegisterStringW(domain_, L"wide");
  EXPECT_EQ(mark(attributes), "nvtx::lib message=wide");
  nvtxMarkEx(&attributes);  // registered in another domain
  EXPECT_EQ(recording_->take_one(), "event INFO nvtx message=wide");
  attributes.message.registered = nvtxDomainRegisterStringA(domain_, nullptr);
  EXPECT_EQ(mark(attributes), "nvtx::lib");
}

TEST_F(NvtxReceiver, TurnsWideTextIntoUtf8) {
  nvtxMarkW(L"\u00fc \u20ac \U0001f600");
  EXPECT_EQ(recording_->take_one(), "event INFO nvtx message=\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80");
  nvtxEventAttributes_t attributes = attributes_with(nullptr);
  attributes.messageType = NVTX_MESSAGE_TYPE_UNICODE;
  wchar_t const invalid[] = {wchar_t(0xD800), wchar_t(0x7FFFFFFF), 0};
  attributes.message.unicode = invalid;
  EXPECT_EQ(mark(attributes), "nvtx::lib message=\xef\xbf\xbd\xef\xbf\xbd");
}

TEST_F(NvtxReceiver, AcceptsNullForAnyText) {
  nvtxRangePushA(nullptr);
  nvtxRangePushW(nullptr);
  nvtxRangePushEx(nullptr);
  for (int i = 0; i < 3; ++i) nvtxRangePop();
  nvtxRangeEnd(nvtxRangeStartEx(nullptr));
  nvtxMarkA(nullptr);
  nvtxMarkEx(nullptr);
  nvtxNameCategoryA(1, nullptr);
  nvtxDomainRegisterStringW(domain_, nullptr);
  EXPECT_EQ(nvtxDomainCreateA(nullptr), nullptr);
  EXPECT_THAT(recording_->take(), ElementsAre("new 1 range", "enter 1", "new 2 range", "enter 2", "new 3 range",
                                              "enter 3", "exit 3", "close 3", "exit 2", "close 2", "exit 1", "close 1",
                                              "new 4 range", "close 4", "event INFO nvtx", "event INFO nvtx"));
}

TEST_F(NvtxReceiver, ReadsAStructureNoFurtherThanItsSize) {
  nvtxEventAttributes_t attributes = attributes_with("text");
  attributes.category = 900;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  attributes.payload.llValue = 1;
  attributes.size = 0;
  EXPECT_EQ(mark(attributes), "nvtx::lib");
  attributes.size = 8;
  EXPECT_EQ(mark(attributes), "nvtx::lib category=900");
  attributes.size = offsetof(nvtxEventAttributes_t, messageType);
  EXPECT_EQ(mark(attributes), "nvtx::lib category=900 payload=1");
  attributes.size = 0xffff;
  attributes.version = 99;
  EXPECT_EQ(mark(attributes), "nvtx::lib message=text category=900 payload=1");
}

TEST_F(NvtxReceiver, IgnoresUnknownTypes) {
  nvtxEventAttributes_t attributes = attributes_with("text");
  attributes.payloadType = 0xbad;
  attributes.colorType = 0xbad;
  EXPECT_EQ(mark(attributes), "nvtx::lib message=text");
  attributes.messageType = 0xbad;
  EXPECT_EQ(mark(attributes), "nvtx::lib");
}

TEST_F(NvtxReceiver, IgnoresPopsAndEndsWithoutARange) {
  EXPECT_LT(nvtxRangePop(), 0);
  EXPECT_LT(nvtxDomainRangePop(domain_), 0);
  nvtxRangePushA("here");
  std::thread([] { EXPECT_LT(nvtxRangePop(), 0); }).join();
  nvtxRangeEnd(0);
  nvtxRangeEnd(~nvtxRangeId_t{0});
  nvtxRangeEnd(123'456'789);
  EXPECT_EQ(nvtxRangePop(), 0);
  EXPECT_THAT(recording_->take(), ElementsAre("new 1 here", "enter 1", "exit 1", "close 1"));
}

TEST(NvtxReceiverInRegistry, ClosesTheRangesOfAThreadThatEnds) {
  auto const registry = tracing::RegistryBuilder().build();
  std::thread([&registry] {
    tracing::ScopedDefault const scope(registry);
    nvtxRangePushA("outer");
    nvtxRangePushA("inner");
  }).join();
  EXPECT_FALSE(registry->has_open_spans());
}

TEST(NvtxReceiverInRegistry, KeepsItsCallsites) {
  auto const registry = tracing::RegistryBuilder().build();
  tracing::ScopedDefault const scope(registry);
  nvtxDomainHandle_t const domain = nvtxDomainCreateA("kept");
  nvtxEventAttributes_t const attributes = attributes_with("kept");
  for (int i = 0; i < 3; ++i) {
    nvtxDomainRangePushEx(domain, &attributes);
    nvtxDomainMarkEx(domain, &attributes);
    nvtxDomainRangeEnd(domain, nvtxDomainRangeStartEx(domain, &attributes));
    nvtxDomainRangePop(domain);
  }
  int found = 0;
  tracing::visit_callsites(
      [](void* context, tracing::Metadata const& metadata) {
        if (metadata.target() == "nvtx::kept") ++*static_cast<int*>(context);
      },
      &found);
  EXPECT_EQ(found, 2);  // spans and marks
}

TEST_F(NvtxReceiver, DoesNotReceiveOurOwnRanges) {
  EXPECT_EQ(nvtxDomainCreateA(tracing::bridge::kNvtxDomain), nullptr);
  EXPECT_EQ(tracing::bridge::nvtx_layer(), nullptr);
  tracing::bridge::NvtxRange const range("Pool.Grows");
  EXPECT_THAT(recording_->take(), IsEmpty());
}

TEST_F(NvtxReceiver, DropsRangesOfASubscriber) {
  recording_->on_event = [] {
    nvtxRangePushA("in the subscriber");
    nvtxMarkA("in the subscriber");
    nvtxRangeEnd(nvtxRangeStartA("in the subscriber"));
    nvtxRangePop();
  };
  TRACE_INFO("once");
  recording_->on_event = nullptr;
  EXPECT_EQ(recording_->take().size(), 1u);
}

TEST_F(NvtxReceiver, ReceivesNothingThatNoFilterWants) {
  tracing_test::Recording const warnings(tracing::LevelFilter::warn);
  nvtxRangePushA("unwanted");
  nvtxMarkA("unwanted");
  EXPECT_EQ(nvtxRangeStartA("unwanted"), 0u);
  nvtxRangePop();
  EXPECT_THAT(warnings->take(), IsEmpty());
}

TEST_F(NvtxReceiver, StopsCountingRangesThatAreNeverPopped) {
  std::thread([this] {
    tracing::ScopedDefault const scope(recording_.shared());
    for (int i = 0; i < 3000; ++i) nvtxRangePushA("deep");
    EXPECT_EQ(recording_->open_spans(), tracing::bridge::nvtx::kMaxPushed);
    for (int i = 0; i < 3000; ++i) nvtxRangePop();
    EXPECT_EQ(recording_->open_spans(), 0u);
  }).join();
}

TEST_F(NvtxReceiver, StopsKeepingRangesThatAreNeverEnded) {
  std::vector<nvtxRangeId_t> ids;
  for (int i = 0; i < 10'000; ++i) ids.push_back(nvtxRangeStartA("endless"));
  EXPECT_EQ(recording_->open_spans(), tracing::bridge::nvtx::kMaxStarted);
  for (nvtxRangeId_t const id : ids) nvtxRangeEnd(id);
  EXPECT_EQ(recording_->open_spans(), 0u);
}

// A million names, registered or not, of ranges, domains and categories.
TEST(NvtxReceiverMemory, DoesNotGrowWithTheNumberOfNames) {
  auto const registry = tracing::RegistryBuilder().build();
  tracing::ScopedDefault const scope(registry);
  constexpr int kNames = TESTLOG_TSAN || TESTLOG_ASAN ? 20'000 : 1'000'000;
  auto const use_names = [](int from, int to) {
    for (int i = from; i < to; ++i) {
      std::string const name = "step " + std::to_string(i);
      nvtxRangePushA(name.c_str());
      nvtxRangePop();
      nvtxEventAttributes_t attributes = attributes_with(nullptr);
      attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
      attributes.message.registered = nvtxDomainRegisterStringA(nullptr, name.c_str());
      nvtxRangeEnd(nvtxRangeStartEx(&attributes));
      nvtxNameCategoryA(static_cast<unsigned>(i), name.c_str());
      if (i % 100 == 0) nvtxDomainDestroy(nvtxDomainCreateA(name.c_str()));
    }
  };
  int const until_full = static_cast<int>(tracing::bridge::nvtx::kMaxRegistered) + 2000;
  if (!TESTLOG_TSAN && !TESTLOG_ASAN) use_names(0, until_full);
  std::size_t const before = tracing_test::resident_kib();
  use_names(until_full, until_full + kNames);
  if (TESTLOG_TSAN || TESTLOG_ASAN) return;  // whose own memory grows
  EXPECT_THAT(tracing_test::resident_kib(), Lt(before + 1024));
}

TEST_F(NvtxReceiver, ShowsNamesBeyondTheFirstAsAField) {
  for (std::size_t i = 0; i < tracing::bridge::nvtx::kMaxNames; ++i) {
    nvtxRangePushA(("name " + std::to_string(i)).c_str());
    nvtxRangePop();
  }
  recording_->take();
  nvtxRangePushA("one more");
  nvtxRangePop();
  EXPECT_THAT(recording_->take(), testing::Contains(testing::EndsWith(" range name=\"one more\"")));
  std::string const endless(100'000, 'x');
  nvtxMarkA(endless.c_str());
  EXPECT_THAT(recording_->take_one().size(), Lt(5000u));
}

TEST_F(NvtxReceiver, ReceivesOnSeveralThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, i] {
      tracing::ScopedDefault const scope(recording_.shared());
      for (int k = 0; k < 200; ++k) {
        nvtxRangePushA(("thread " + std::to_string(i)).c_str());
        nvtxRangeId_t const id = nvtxRangeStartA("shared name");
        nvtxDomainNameCategoryA(domain_, static_cast<unsigned>(k % 8), "category");
        nvtxDomainCreateA("made by all");
        nvtxRangeEnd(id);
        nvtxRangePop();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(recording_->open_spans(), 0u);
}

}  // namespace
