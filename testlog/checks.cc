#include "testlog/checks.h"

#include <gtest/gtest.h>

#include <string>

namespace testlog::inline v1 {
namespace {

constexpr int kMostFailures = 10;  // of one test; more are counted

std::string lower_name(tracing::Level level) { return std::string(tracing::name(tracing::as_filter(level))); }

void fail_for(tracing::RecordView const& record, tracing::Level tolerated) {
  tracing::InlineTextBuffer<256> text;
  for (std::size_t i = 0; i < record.values.size(); ++i) {
    tracing::Value const value = record.values.value(i);
    if (value.is_empty()) continue;
    if (!text.empty()) text.push_back(' ');
    bool const message = record.values.name(i) == "message";
    if (!message) text.append(record.values.name(i)), text.push_back('=');
    if (message) {
      tracing::append_formatted(text, value, {});
    } else {
      tracing::append_debug(text, value);
    }
  }
  tracing::Metadata const& metadata = record.metadata();
  std::string const file(metadata.file());
  GTEST_MESSAGE_AT_(file.c_str(), static_cast<int>(metadata.line()), "", testing::TestPartResult::kNonFatalFailure)
      << "The test recorded an event of level " << lower_name(metadata.level()) << ", and its .fail_on is "
      << lower_name(tolerated) << ":\n  " << metadata.target() << ": " << text.view();
}

}  // namespace

std::string why_incomplete(Session const& session) {
  if (session.ring() == nullptr) return "nothing is captured: TRACE_CAPTURE is off";
  std::uint64_t const lost = session.ring()->dropped_of(session.ring()->tag());
  if (lost == 0) return {};
  return "the ring was full and lost " + std::to_string(lost) + " records of this test";
}

void check_fail_on(Session& session, tracing::Level level) {
  if (std::string const why = why_incomplete(session); !why.empty()) {
    ADD_FAILURE() << "Cannot tell whether the test recorded an event that its .fail_on = " << lower_name(level)
                  << " forbids: " << why << ".";
  }
  if (session.ring() == nullptr) return;
  if (auto const* const captured = session.capture_filter(); captured != nullptr && level > captured->max_level_hint()) {
    ADD_FAILURE() << "Cannot tell whether the test recorded an event that its .fail_on = " << lower_name(level)
                  << " forbids: TRACE_CAPTURE keeps no event of this level.";
  }
  int failures = 0;
  session.ring()->snapshot(session.first_record_of_test()).for_each([&](tracing::RecordView const& record) {
    if (record.kind != tracing::RecordKind::event || record.metadata().level() > level) return;
    Owner const owner = session.attribution().owner_of(record);
    if (owner.late || owner.test != session.attribution().running()) return;
    if (++failures <= kMostFailures) fail_for(record, level);
  });
  if (failures > kMostFailures) ADD_FAILURE() << "... and " << failures - kMostFailures << " more such events.";
}

}  // namespace testlog::inline v1
