// Chrome traces of recordings.
#include "tracing_core/export/chrome_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/temporary_folder.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/record/reader.h"
#include "tracing_core/record/record.h"
#include "tracing_core/tracing.h"

namespace tracing::internal {
namespace {

class ChromeTrace : public testing::Test {
 protected:
  void SetUp() override {
    auto [layer, error] = record_layer({.path = folder_ / "a.rec"});
    with_default(RegistryBuilder().with(std::move(layer)).build(), [] {
      for (int i = 0; i < 1000; ++i) {
        TRACE_SPAN(info, "step", i);
      }
    });
    std::string message;
    recording_ = Recording::read_file(folder_ / "a.rec", message);
    ASSERT_NE(recording_, nullptr) << message;
  }
  TraceSource source() const {
    TraceSource made(*recording_);
    made.process = "a process";
    return made;
  }

  tracing_test::TemporaryFolder const folder_;
  std::unique_ptr<Recording> recording_;
};

TEST_F(ChromeTrace, HasOnlyWhatIsWanted) {
  TraceSource one = source();
  int seen = 0;
  one.is_wanted = [&seen](RecordEntry const&) { return ++seen <= 4; };  // two spans
  std::string plain;
  write_chrome(std::move(one), {}, [&plain](std::string_view text) { plain += text; });
  std::string phases;
  for (auto const& event : nlohmann::json::parse(plain)) phases += event["ph"];
  EXPECT_EQ(phases, "MMBEBE");
}

}  // namespace
}  // namespace tracing::internal
