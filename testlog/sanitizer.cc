#include "testlog/sanitizer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string_view>

#include "testlog/hang.h"
#include "testlog/state_report.h"

// Of <sanitizer/common_interface_defs.h>, which not every compiler has.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace testlog::inline v1 {
namespace {

constinit std::atomic<Session*> watched{nullptr};

bool is_silent() noexcept { return watched == nullptr || testing::internal::InDeathTestChild(); }

// A program that reported something earlier also ends so, long after its tests.
void on_death() {
  Session* const session = watched;
  constexpr std::string_view kCause = "a sanitizer's report";
  StateReport& report = StateReport::get();
  if (is_silent() || has_ended_tests() || !report.take_turn()) return;
  Attribution const& attribution = session->attribution();
  if (session->run_records() != nullptr)
    session->run_records()->fatal_signal(attribution.name_of(attribution.running()), kCause);
  if (!session->is_mute()) report.write_crash(*session, kCause, nullptr, nullptr);
  report.end_turn(true);
  if (session->files() != nullptr) session->files()->wait_for_writers();
}

}  // namespace

void watch_sanitizer(Session& session) {
  watched = &session;
  StateReport::get().prepare();
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(on_death);
}

}  // namespace testlog::inline v1

extern "C" [[gnu::visibility("default")]] void testlog_on_sanitizer_report(char const* sanitizer) noexcept {
  using namespace testlog;
  constexpr int kMaxReports = 10;
  constinit static std::atomic<int> reports{0};
  StateReport& report = StateReport::get();
  if (is_silent() || watched.load()->is_mute() || reports >= kMaxReports || !report.take_turn()) return;
  ++reports;
  report.write_spans(*watched, sanitizer);
  report.end_turn();
}
