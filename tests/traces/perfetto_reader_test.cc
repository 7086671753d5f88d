// Each rule of Perfetto's viewer that PerfettoTrace checks.
#include "tests/traces/perfetto_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testlog_perfetto::Trace;
using testlog_perfetto::TrackEvent;
using testlog_test::PerfettoTrace;

// Returns a valid trace: a sequence with a row 1 and a slice in it.
Trace valid() {
  Trace trace;
  auto* const first = trace.add_packet();
  first->set_trusted_packet_sequence_id(1);
  first->set_sequence_flags(1);
  auto* const row = trace.add_packet();
  row->set_trusted_packet_sequence_id(1);
  row->mutable_track_descriptor()->set_uuid(1);
  return trace;
}
TrackEvent& add(Trace& trace, std::uint64_t time, TrackEvent::Type type) {
  auto* const packet = trace.add_packet();
  packet->set_trusted_packet_sequence_id(1);
  packet->set_timestamp(time);
  packet->mutable_track_event()->set_type(type);
  packet->mutable_track_event()->set_track_uuid(1);
  if (type == TrackEvent::TYPE_SLICE_BEGIN) packet->mutable_track_event()->set_name("slice");
  return *packet->mutable_track_event();
}

TEST(PerfettoRules, HoldForATrace) {
  Trace trace = valid();
  add(trace, 5, TrackEvent::TYPE_SLICE_BEGIN);
  add(trace, 7, TrackEvent::TYPE_SLICE_END);
  PerfettoTrace const read = PerfettoTrace::read(trace.SerializeAsString());
  EXPECT_THAT(read.problems, IsEmpty());
  ASSERT_EQ(read.rows.at(1).slices.size(), 1u);
  EXPECT_EQ(read.rows.at(1).slices[0].end, 7u);
}

TEST(PerfettoRules, SlicesBeginBeforeTheyEnd) {
  Trace trace = valid();
  add(trace, 5, TrackEvent::TYPE_SLICE_END);
  EXPECT_THAT(PerfettoTrace::read(trace).problems, ElementsAre("packet 3 ends a slice that did not begin"));
}

TEST(PerfettoRules, TimeDoesNotGoBackwards) {
  Trace trace = valid();
  add(trace, 5, TrackEvent::TYPE_SLICE_BEGIN);
  add(trace, 4, TrackEvent::TYPE_SLICE_END);
  EXPECT_THAT(PerfettoTrace::read(trace).problems,
              ElementsAre("packet 4 is earlier than the packet before it in its row"));
}

TEST(PerfettoRules, RowsAreDescribedFirst) {
  Trace trace = valid();
  add(trace, 5, TrackEvent::TYPE_SLICE_BEGIN).set_track_uuid(2);
  trace.mutable_packet(1)->mutable_track_descriptor()->set_parent_uuid(3);
  EXPECT_THAT(PerfettoTrace::read(trace).problems,
              ElementsAre("packet 2 is below a row that is not known", "packet 3 belongs to a row that is not known"));
}

TEST(PerfettoRules, NamesAreDefinedFirst) {
  Trace trace = valid();
  TrackEvent& event = add(trace, 5, TrackEvent::TYPE_SLICE_BEGIN);
  event.clear_name();
  event.set_name_iid(1);
  event.add_category_iids(2);
  event.set_source_location_iid(3);
  event.add_debug_annotations()->set_name_iid(4);
  EXPECT_THAT(
      PerfettoTrace::read(trace).problems,
      ElementsAre("packet 3 refers to a name that is not defined", "packet 3 refers to a category that is not defined",
                  "packet 3 refers to a place that is not defined", "packet 3 refers to a field that is not defined"));
}

TEST(PerfettoRules, SequencesHaveABeginning) {
  Trace trace = valid();
  trace.mutable_packet(0)->clear_sequence_flags();
  add(trace, 5, TrackEvent::TYPE_INSTANT).set_name("mark");
  EXPECT_THAT(PerfettoTrace::read(trace).problems,
              ElementsAre("packet 3 refers to names of a sequence whose beginning is missing"));
}

TEST(PerfettoRules, FieldsAreKnownAndTextIsUtf8) {
  Trace trace = valid();
  std::string bytes = trace.SerializeAsString();
  EXPECT_THAT(PerfettoTrace::read(bytes + std::string("\x0A\x04\x50\x01\x78\x01", 6)).problems,
              ElementsAre("packet 3 has a field that our schema does not name"));
  EXPECT_THAT(PerfettoTrace::read(bytes + std::string("\x0A\x07\x50\x01\xE2\x03\x02\x12\xFF", 9)).problems,
              testing::SizeIs(1));
}

}  // namespace
