#include "testlog/run/sanitizer.h"

#include <atomic>
#include <string_view>

#include "testlog/framework.h"
#include "testlog/run/hang.h"
#include "testlog/run/state_report.h"

// Declared in <sanitizer/common_interface_defs.h>, which not every compiler has.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace testlog { inline namespace v1 {
namespace {

constinit std::atomic<ReportParts const*> watched{nullptr};

bool is_silent() noexcept { return watched == nullptr || framework::current().is_death_test_child(); }

// This call also ends a program that reported something earlier, long after its tests.
void on_death() {
  constexpr std::string_view kCause = "a sanitizer's report";
  StateReport& report = StateReport::get();
  if (is_silent() || has_ended_tests() || !report.take_turn()) return;
  ReportParts const& parts = *watched;
  report.note_end(kCause);
  if (!parts.is_mute) report.write_crash(kCause, nullptr, nullptr);
  report.end_turn(true);
  if (parts.files != nullptr) parts.files->wait_for_writers();
}

}  // namespace

void watch_sanitizer(ReportParts const& parts) {
  StateReport::get().prepare(parts);
  watched = &parts;
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(on_death);
}

}}  // namespace testlog::v1

extern "C" [[gnu::visibility("default")]] void testlog_on_sanitizer_report(char const* sanitizer) noexcept {
  using namespace testlog;
  constexpr int kMaxReports = 10;
  constinit static std::atomic<int> reports{0};
  StateReport& report = StateReport::get();
  if (is_silent() || watched.load()->is_mute || reports >= kMaxReports || !report.take_turn()) return;
  ++reports;
  report.write_spans(sanitizer);
  report.end_turn();
}
