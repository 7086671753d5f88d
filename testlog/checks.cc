#include "testlog/checks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace testlog::inline v1 {
namespace {

constexpr int kMaxFailures = 10;  // per test; further ones are counted

std::string lower_name(tracing::Level level) { return std::string(tracing::name(tracing::as_filter(level))); }

void fail_for(tracing::RecordView const& record, tracing::Level limit) {
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
  ADD_FAILURE_AT(file.c_str(), static_cast<int>(metadata.line()))
      << "The test recorded an event of level " << lower_name(metadata.level()) << "; its .fail_on is "
      << lower_name(limit) << ":\n  " << metadata.target() << ": " << text.view();
}

}  // namespace

std::string why_incomplete(Session& session) {
  tracing::RecordRing const* const ring = session.capture().ring();
  if (ring == nullptr) return "nothing is captured: TRACE_CAPTURE is off";
  std::uint64_t const lost = ring->dropped_of(ring->tag());
  if (lost == 0) return {};
  return "the ring was full and lost " + std::to_string(lost) + " records of this test";
}

void check_fail_on(Session& session, tracing::Level level) {
  std::string why = why_incomplete(session);
  auto const* const filter = session.capture().filter();
  if (filter != nullptr && level > filter->max_level_hint()) why = "TRACE_CAPTURE keeps no events of this level";
  if (!why.empty()) ADD_FAILURE() << "Cannot check .fail_on = " << lower_name(level) << ": " << why << ".";
  int failures = 0;
  for_each_record_of_test(session, [&](tracing::RecordView const& record) {
    if (record.kind != tracing::RecordKind::event || record.metadata().level() > level) return;
    if (++failures <= kMaxFailures) fail_for(record, level);
  });
  if (failures > kMaxFailures) ADD_FAILURE() << "... and " << failures - kMaxFailures << " more such events.";
}

}  // namespace testlog::inline v1
