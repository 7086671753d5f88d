#include "tracing_core/record/recordings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/record/record.h"
#include "tracing_core/tracing.h"

namespace tracing { namespace {

using recording::Entry;
using recording::EntryType;
using recording::Recordings;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RecordingsTest : public testing::Test {
 protected:
  std::shared_ptr<Registry> recorder(std::string const& name) {
    auto [layer, error] = record_layer({.path = folder_ / name});
    EXPECT_FALSE(error) << error.message();
    return RegistryBuilder().with(std::move(layer)).build();
  }
  static void say(std::shared_ptr<Registry> const& registry, int number) {
    with_default(registry, [number] { TRACE_INFO("said", number); });
  }
  // The file's name and the number of each event.
  static std::vector<std::string> events_of(Recordings& recordings) {
    std::vector<std::string> events;
    recordings.for_each([&](Recordings::File const& file, Entry const& entry) {
      if (entry.type != EntryType::event) return;
      events.push_back(std::filesystem::path(file.path).filename().string() + " " +
                       std::to_string(entry.values[0].as_i64()));
    });
    return events;
  }

  tracing_test::TemporaryFolder folder_;
};

TEST_F(RecordingsTest, AreReadInTheOrderOfTime) {
  auto const a = recorder("a.rec"), b = recorder("b.rec");
  say(a, 1);
  say(b, 2);
  say(a, 3);
  say(b, 4);
  auto recordings = Recordings::open({folder_ / "b.rec", folder_ / "a.rec"});
  EXPECT_THAT(recordings.errors(), IsEmpty());
  EXPECT_THAT(events_of(recordings), ElementsAre("a.rec 1", "b.rec 2", "a.rec 3", "b.rec 4"));
}

TEST_F(RecordingsTest, AreFoundBelowAFolder) {
  std::filesystem::create_directories(folder_ / "runs/1");
  say(recorder("runs/1/a.rec"), 1);
  say(recorder("runs/b.rec"), 2);
  std::ofstream(folder_ / "runs/notes.txt") << "not a recording";
  auto recordings = Recordings::open({folder_ / "runs"});
  EXPECT_THAT(recordings.errors(), IsEmpty());
  EXPECT_THAT(events_of(recordings), ElementsAre("a.rec 1", "b.rec 2"));
}

TEST_F(RecordingsTest, LeaveOutWhatCannotBeReadAndSayWhy) {
  say(recorder("a.rec"), 1);
  std::ofstream(folder_ / "b.rec") << "not a recording";
  std::filesystem::create_directories(folder_ / "empty");
  auto recordings = Recordings::open({folder_ / "b.rec", folder_ / "a.rec", folder_ / "gone.rec", folder_ / "empty"});
  EXPECT_THAT(recordings.errors(), ElementsAre(HasSubstr("b.rec: is no recording: it has fewer than 4096 bytes"),
                                               HasSubstr("gone.rec: could not be opened: No such file"),
                                               HasSubstr("empty: has no recordings")));
  EXPECT_THAT(events_of(recordings), ElementsAre("a.rec 1"));
}

}}  // namespace tracing
