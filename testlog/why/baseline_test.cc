// explain_by_baseline(): its limits.
#include "testlog/why/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "testlog/why/test_recorder_test_support.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/tracing.h"

namespace testlog::why { namespace {

class Baseline : public testing::Test {
 protected:
  // Records a run of 1000 events that fails if `is_stale`. An empty result: the test does not end.
  std::string record(std::string const& name, bool is_stale, std::string const& result) {
    TestRecorder recorder(folder_ / name);
    recorder.run("Cache.Answers", [&] {
      for (int i = 0; i < 1000; ++i) TRACE_DEBUG("step");
      TRACE_DEBUG("found", is_stale);
      if (is_stale) recorder.fail();
      return result;
    });
    return folder_ / name;
  }
  std::optional<Explanation> explain(std::string const& file, std::vector<std::string> passing,
                                     std::uint64_t& entries_left) const {
    std::string error;
    auto const recording = tracing::recording::Recording::read_file(file, error);
    return explain_by_baseline({"Cache.Answers", *recording, file, true, std::move(passing)}, entries_left);
  }

  tracing_test::TemporaryFolder const folder_;
};

TEST_F(Baseline, IsReadUpToALimit) {
  std::string const red = record("red.rec", true, "");
  std::vector<std::string> const green{record("1.rec", false, "passed"), record("2.rec", false, "passed")};
  std::uint64_t left = 6020;
  auto const explanation = explain(red, green, left);
  ASSERT_TRUE(explanation.has_value());
  ASSERT_EQ(explanation->causes.size(), 1u);
  EXPECT_EQ(explanation->causes[0].here, "true");
  EXPECT_NEAR(static_cast<double>(left), 3000, 20);
  left = 2900;  // less than three recordings have
  EXPECT_FALSE(explain(red, green, left).has_value());
  EXPECT_FALSE(explain(red, green, left).has_value()) << "nothing is left";
}

TEST_F(Baseline, NeedsRunsThatPassed) {
  std::string const red = record("red.rec", true, ""), green = record("1.rec", false, "passed");
  std::uint64_t left = kMaxCompared;
  EXPECT_FALSE(explain(red, {}, left).has_value());
  EXPECT_EQ(left, kMaxCompared);
  EXPECT_FALSE(explain(red, {green}, left).has_value());
  EXPECT_FALSE(explain(red, {green, record("failed.rec", false, "failed")}, left).has_value());
  std::ofstream(folder_ / "damaged.rec") << "no recording";
  EXPECT_FALSE(explain(red, {green, folder_ / "damaged.rec"}, left).has_value());
}

}}  // namespace testlog::why
