// Each rule of xprof that XplaneProfile checks.
#include "tests/traces/xplane_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testlog_test::XplaneProfile;
using testlog_xplane::XEvent;
using testlog_xplane::XPlane;
using testlog_xplane::XSpace;
using testlog_xplane::XStat;

// Returns a valid profile: line 1 of the host with an event, and stat 1 with this name.
XSpace valid(std::string const& stat = "bytes") {
  XSpace space;
  space.add_hostnames("host");
  XPlane& host = *space.add_planes();
  host.set_name("/host:CPU");
  (*host.mutable_event_metadata())[1].set_id(1);
  (*host.mutable_event_metadata())[1].set_name("event");
  (*host.mutable_stat_metadata())[1].set_id(1);
  (*host.mutable_stat_metadata())[1].set_name(stat);
  auto& line = *host.add_lines();
  line.set_id(1);
  line.set_name("main");
  XEvent& event = *line.add_events();
  event.set_metadata_id(1);
  event.set_offset_ps(1000);
  event.set_duration_ps(500);
  XPlane& environment = *space.add_planes();
  environment.set_name("Task Environment");
  for (std::int64_t const id : {1, 2}) {
    (*environment.mutable_stat_metadata())[id].set_id(id);
    (*environment.mutable_stat_metadata())[id].set_name(id == 1 ? "profile_start_time" : "profile_stop_time");
    XStat& time = *environment.add_stats();
    time.set_metadata_id(id);
    time.set_uint64_value(1);
  }
  return space;
}
XPlane& host(XSpace& space) { return *space.mutable_planes(0); }
XEvent& event(XSpace& space) { return *host(space).mutable_lines(0)->mutable_events(0); }
XEvent& add_event(XSpace& space, std::int64_t offset, std::int64_t duration) {
  XEvent& added = *host(space).mutable_lines(0)->add_events();
  added.set_metadata_id(1);
  added.set_offset_ps(offset);
  added.set_duration_ps(duration);
  return added;
}
XStat& add_stat(XSpace& space) {
  XStat& stat = *event(space).add_stats();
  stat.set_metadata_id(1);
  return stat;
}
auto problems_of(XSpace const& space) { return XplaneProfile::read(space.SerializeAsString()).problems; }

TEST(XplaneRules, HoldForAProfile) {
  XSpace space = valid();
  add_stat(space).set_int64_value(64);
  XplaneProfile const profile = XplaneProfile::read(space.SerializeAsString());
  EXPECT_THAT(profile.problems, IsEmpty());
  ASSERT_EQ(profile.line("main").events.size(), 1u);
  EXPECT_EQ(profile.line("main").events[0].args.at("bytes"), "64");
}

TEST(XplaneRules, PlanesHaveNamesThatXprofReads) {
  XSpace space = valid();
  space.add_planes()->set_name("/host:other");
  space.add_planes()->set_name("/host:CPU");
  EXPECT_THAT(problems_of(space), ElementsAre("/host:other has a name that is ignored",
                                              "/host:CPU is there twice, but only the first is read"));
}

TEST(XplaneRules, DevicesHaveTheNumberOfTheirName) {
  XSpace space = valid();
  space.add_planes()->set_name("/device:GPU:1");
  XPlane& large = *space.add_planes();
  large.set_name("/device:GPU:500");
  large.set_id(500);
  EXPECT_THAT(problems_of(space), ElementsAre("/device:GPU:1 has another number than its name",
                                              "/device:GPU:500 has a number above 499, which xprof draws as device 0"));
}

TEST(XplaneRules, PlanesAndTimesOfTheProfileAreThere) {
  XSpace space = valid();
  space.mutable_planes()->RemoveLast();
  EXPECT_THAT(problems_of(space),
              ElementsAre("Task Environment is missing", "Task Environment has no profile_start_time",
                          "Task Environment has no profile_stop_time"));
}

TEST(XplaneRules, ThereIsOneHost) {
  XSpace space = valid();
  space.clear_hostnames();
  EXPECT_THAT(problems_of(space), ElementsAre("the space has not one name of a host"));
}

TEST(XplaneRules, LinesHaveNamesAndNumbersOfTheirOwn) {
  XSpace space = valid();
  host(space).add_lines()->set_id(1);
  host(space).add_lines()->set_display_id(std::int64_t{1} << 32);
  host(space).mutable_lines(2)->set_name("large");
  EXPECT_THAT(problems_of(space), ElementsAre(" has the number of another line", "line 1 has no name",
                                              "large has a number of more than 32 bits"));
}

TEST(XplaneRules, MetadataIsThereAndHasItsNumber) {
  XSpace space = valid();
  event(space).set_metadata_id(2);
  add_stat(space).set_int64_value(1);
  event(space).mutable_stats(0)->set_metadata_id(3);
  (*host(space).mutable_event_metadata())[1].set_id(7);
  (*host(space).mutable_stat_metadata())[1].set_id(7);
  EXPECT_THAT(problems_of(space), ElementsAre("/host:CPU has metadata of events with another number",
                                              "/host:CPU has metadata of stats with another number",
                                              "/host:CPU has an event of metadata that it does not have",
                                              "/host:CPU has a stat of metadata that it does not have"));
}

TEST(XplaneRules, TimesAreRelativeInOrderAndNested) {
  XSpace space = valid();
  event(space).set_offset_ps(-1);
  add_event(space, 1000, 500);
  add_event(space, 1200, 400);
  add_event(space, 1100, 1);
  EXPECT_THAT(problems_of(space),
              ElementsAre("main, event has a negative time", "main, event ends after the event around it",
                          "main, event is earlier than the event before it"));
}

TEST(XplaneRules, TimesOfLinesDoNotOverflow) {
  XSpace space = valid();
  host(space).mutable_lines(0)->set_timestamp_ns(std::int64_t{1'700'000'000'000'000'000});
  EXPECT_THAT(problems_of(space), ElementsAre("main, event has a time that overflows"));
}

TEST(XplaneRules, StatsHaveValues) {
  XSpace space = valid();
  add_stat(space);
  EXPECT_THAT(problems_of(space), ElementsAre("bytes has no value"));
}

TEST(XplaneRules, StepsAndCorrelationsAreSigned) {
  for (std::string const name : {"step_num", "_r", "correlation_id", "group_id"}) {
    XSpace space = valid(name);
    add_stat(space).set_uint64_value(1);
    EXPECT_THAT(problems_of(space), ElementsAre(name + " is no int64"));
  }
}

TEST(XplaneRules, DetailsOfKernelsHaveTheWordsThatXprofReads) {
  XSpace space = valid("kernel_details");
  XStat& details = add_stat(space);
  details.set_str_value("regs:32 static_shared:0 dynamic_shared:16384 grid:2,1,1 block:32,1,1 occ_pct:12.5");
  EXPECT_THAT(problems_of(space), IsEmpty());
  details.set_str_value("regs:-1 shared:4 grid:2,1 block:32,,1 occ_pct: odd");
  std::string const problem = "kernel_details has a word that is not read: ";
  EXPECT_THAT(problems_of(space), ElementsAre(problem + "regs:-1", problem + "shared:4", problem + "grid:2,1",
                                              problem + "block:32,,1", problem + "occ_pct:", problem + "odd"));
  details.set_int64_value(32);
  EXPECT_THAT(problems_of(space), ElementsAre("kernel_details is no text"));
}

TEST(XplaneRules, ArrowsHaveABeginning) {
  XSpace space = valid("flow");
  add_stat(space).set_int64_value(5);
  add_stat(space).set_uint64_value(7 << 2);
  add_stat(space).set_uint64_value(7 << 2 | 1);
  EXPECT_THAT(problems_of(space),
              ElementsAre("flow is no uint64", "flow has no number or direction", "arrow 7 begins nowhere"));
  add_stat(space).set_uint64_value(7 << 2 | 2);
  EXPECT_THAT(problems_of(space), ElementsAre("flow is no uint64", "flow has no number or direction"));
}

TEST(XplaneRules, FieldsAreKnownAndTextIsUtf8) {
  XSpace const space = valid();
  EXPECT_THAT(XplaneProfile::read(space.SerializeAsString() + std::string("\x78\x01", 2)).problems,
              ElementsAre("the space has a field that our schema does not name"));
  EXPECT_THAT(XplaneProfile::read(space.SerializeAsString() + std::string("\x22\x01\xFF", 3)).problems,
              ElementsAre("the bytes are no valid message"));
}

}  // namespace
