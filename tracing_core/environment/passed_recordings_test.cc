#include "tracing_core/environment/passed_recordings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tracing_core/record/recording.h"
#include "tracing_core/record/ring/region.h"

namespace tracing::environment { namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class PassedRecordings : public testing::Test {
 protected:
  // Makes a recording and keeps it; returns when it began.
  Instant pass(int count, std::string const& name = "a.rec") const {
    std::error_code error;
    auto const region = internal::Region::make_file(folder_ / name, internal::Region::kMinBytes, error);
    Instant const start{region->header().start_ns};
    is_kept_ = keep_passed(folder_ / name, folder_ / ".", name, count);
    fs::remove(folder_ / name);
    return start;
  }
  // Returns when the recordings of a name began.
  std::vector<Instant> kept(std::string const& name = "a.rec") const {
    std::vector<Instant> starts;
    for (std::string const& path : passed_recordings(folder_ / ".", name)) {
      std::string error;
      auto const recording = recording::Recording::read_file(path, error);
      EXPECT_NE(recording, nullptr) << error;
      if (recording != nullptr) starts.push_back(recording->start());
    }
    return starts;
  }

  tracing_test::TemporaryFolder const folder_;
  mutable bool is_kept_ = false;
};

#ifdef TRACING_HAS_ZLIB
TEST_F(PassedRecordings, AreTheLastSoMany) {
  pass(2);
  Instant const second = pass(2), third = pass(2);
  EXPECT_TRUE(is_kept_);
  EXPECT_THAT(kept(), ElementsAre(third, second));
  pass(2, "a.b.rec");
  EXPECT_THAT(kept("a.b.rec"), SizeIs(1));
  Instant const last = pass(1);
  EXPECT_THAT(kept(), ElementsAre(last));
  pass(0);
  EXPECT_FALSE(is_kept_);
  EXPECT_THAT(kept(), IsEmpty());
}

TEST_F(PassedRecordings, ReplaceAllOfTheOldest) {
  pass(1);
  std::string const path = folder_ / "passed/a.1.rec.gz";
  fs::resize_file(path, 100'000);
  Instant const second = pass(1);
  EXPECT_THAT(kept(), ElementsAre(second));
  EXPECT_LT(fs::file_size(path), 1000u);
  fs::create_hard_link(path, folder_ / "other name");
  Instant const third = pass(1);
  EXPECT_THAT(kept(), ElementsAre(third));
  std::string error;
  EXPECT_EQ(recording::Recording::read_file(folder_ / "other name", error)->start(), second)
      << "another name keeps its content";
}

TEST_F(PassedRecordings, AreLeftAloneIfTheFileMayNotGrow) {
  Instant const first = pass(2);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  std::error_code error;
  auto const region = internal::Region::make_file(folder_ / "a.rec", internal::Region::kMinBytes, error);
  rlimit const limit{100, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_FALSE(keep_passed(folder_ / "a.rec", folder_ / ".", "a.rec", 2));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_THAT(kept(), ElementsAre(first));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "passed"), {}), 1) << "the incomplete file is removed";
}

TEST_F(PassedRecordings, AreForTheirUserAloneAndSmall) {
  pass(1);
  struct stat status {};
  ASSERT_EQ(stat((folder_ / "passed/a.1.rec.gz").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_LT(status.st_size, 4096);
}

TEST_F(PassedRecordings, AreLimitedTogetherTheOldestFirst) {
  pass(3, "old.rec");
  pass(3, "new.rec");
  fs::last_write_time(folder_ / "passed/old.1.rec.gz", fs::file_time_type::clock::now() - std::chrono::hours(1));
  limit_passed(folder_ / ".", 1 << 20);
  EXPECT_THAT(kept("old.rec"), SizeIs(1));
  limit_passed(folder_ / ".", fs::file_size(folder_ / "passed/new.1.rec.gz"));
  EXPECT_THAT(kept("old.rec"), IsEmpty());
  EXPECT_THAT(kept("new.rec"), SizeIs(1));
}

// Without a hook after ctest, the processes themselves bound the folder: some of them, as a look at it takes a while.
TEST_F(PassedRecordings, AreLimitedNowAndThenByWhatAddsThem) {
  std::error_code error;
  auto const region = internal::Region::make_file(folder_ / "a.rec", internal::Region::kMinBytes, error);
  constexpr int kAdded = 1000;
  for (int i = 0; i < kAdded; ++i) keep_passed(folder_ / "a.rec", folder_ / ".", std::to_string(i), 1, 1);
  EXPECT_LT(std::distance(fs::directory_iterator(folder_ / "passed"), {}), kAdded - 1);
}
#endif

TEST_F(PassedRecordings, AreNotMadeOfOtherFiles) {
  folder_.write("a.rec", "text");
  EXPECT_FALSE(keep_passed(folder_ / "a.rec", folder_ / ".", "a.rec", 3));
  EXPECT_THAT(passed_recordings(folder_ / ".", "a.rec"), IsEmpty());
  EXPECT_FALSE(keep_passed(folder_ / "nothing.rec", folder_ / "no/such/folder", "nothing.rec", 3));
  limit_passed(folder_ / "no/such/folder", 0);
}

}}  // namespace tracing::environment
