#include "tracing_core/profile/perfetto_layer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "tests/support/temporary_folder.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/tracing.h"

namespace {

using testing::HasSubstr;
using testing::Not;

// Names are in the trace as plain text. Other tests check the format.
class PerfettoLayerFile : public testing::Test {
 protected:
  void SetUp() override {
    auto [layer, guard] = tracing::perfetto_layer({.path = path_, .limit_bytes = std::size_t{256} << 10});
    guard_ = std::move(guard);
    scope_.emplace(tracing::RegistryBuilder().with(std::move(layer)).build());
  }
  std::string content() const { return folder_.read("run.pftrace"); }

  tracing_test::TemporaryFolder const folder_;
  std::string const path_ = folder_ / "run.pftrace";
  std::optional<tracing::PerfettoGuard> guard_;
  std::optional<tracing::ScopedDefault> scope_;
};

TEST_F(PerfettoLayerFile, IsWrittenWhenTheGuardEnds) {
  { TRACE_SPAN(info, "outer"); }
  EXPECT_FALSE(std::filesystem::exists(path_));
  guard_.reset();
  EXPECT_THAT(content(), HasSubstr("outer"));
}

TEST_F(PerfettoLayerFile, CanBeWrittenEarlier) {
  { TRACE_SPAN(info, "first"); }
  EXPECT_EQ(guard_->write(), "");
  EXPECT_THAT(content(), HasSubstr("first"));
  { TRACE_SPAN(info, "second"); }
  EXPECT_THAT(content(), Not(HasSubstr("second")));
  guard_.reset();
  EXPECT_THAT(content(), testing::AllOf(HasSubstr("first"), HasSubstr("second")));
}

TEST_F(PerfettoLayerFile, HasTheLastRecordsThatFit) {
  for (int i = 0; i < 100'000; ++i) TRACE_INFO("event", i);
  { TRACE_SPAN(info, "last"); }
  EXPECT_GT(guard_->overwritten(), 10'000u);
  guard_.reset();
  EXPECT_THAT(content(), HasSubstr("last"));
}

TEST_F(PerfettoLayerFile, SaysWhyItCannotBeWritten) {
  std::filesystem::create_directory(path_);
  EXPECT_EQ(guard_->write(), "could not write " + path_ + ": Is a directory");
  testing::internal::CaptureStderr();
  guard_.reset();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "testlog: could not write " + path_ + ": Is a directory\n");
}

TEST_F(PerfettoLayerFile, TakesThePlaceOfASymbolicLink) {
  std::filesystem::create_symlink(folder_.write("target", "precious"), path_);
  { TRACE_SPAN(info, "first"); }
  EXPECT_EQ(guard_->write(), "");
  EXPECT_FALSE(std::filesystem::is_symlink(path_));
  EXPECT_THAT(content(), HasSubstr("first"));
  EXPECT_EQ(folder_.read("target"), "precious");
}

TEST_F(PerfettoLayerFile, CanBeAPipe) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = content(); });
  { TRACE_SPAN(info, "piped"); }
  EXPECT_EQ(guard_->write(), "");
  reader.join();
  EXPECT_TRUE(std::filesystem::is_fifo(path_));
  EXPECT_THAT(read, HasSubstr("piped"));
  std::filesystem::remove(path_);
}

TEST(PerfettoLayer, SaysThatADeviceIsFull) {
  auto const [layer, guard] = tracing::perfetto_layer({.path = "/dev/full"});
  EXPECT_EQ(guard.write(), "could not write /dev/full: No space left on device");
}

TEST_F(PerfettoLayerFile, IsNotThatOfAForkedChild) {
  pid_t const child = fork();
  if (child == 0) {
    guard_.reset();
    _exit(std::filesystem::exists(path_) ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(PerfettoGuard, WritesWhereTheLayerWasMade) {
  tracing_test::TemporaryFolder const folder;
  std::filesystem::path const before = std::filesystem::current_path();
  std::filesystem::current_path(folder / "");
  auto [layer, guard] = tracing::perfetto_layer({.path = "a.pftrace"});
  std::filesystem::current_path(before);
  EXPECT_EQ(guard.write(), "");
  EXPECT_TRUE(std::filesystem::exists(folder / "a.pftrace"));
}

TEST(PerfettoGuard, IsEmptyIfItWasMovedFrom) {
  tracing_test::TemporaryFolder const folder;
  auto [layer, first] = tracing::perfetto_layer({.path = folder / "a.pftrace"});
  tracing::PerfettoGuard second = std::move(first);
  first = tracing::PerfettoGuard();
  EXPECT_FALSE(std::filesystem::exists(folder / "a.pftrace"));
  second = tracing::PerfettoGuard();
  EXPECT_TRUE(std::filesystem::exists(folder / "a.pftrace"));
}

}  // namespace
