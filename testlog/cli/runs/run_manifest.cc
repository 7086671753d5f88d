#include "testlog/cli/runs/run_manifest.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

#include "tracing_core/format/json_value.h"
#include "tracing_core/format/timer.h"
#include "tracing_core/model/text_buffer.h"

namespace testlog::cli {
namespace {

using tracing::TextBuffer;
using tracing::recording::Recording;
using tracing::recording::text_of_field;

void append_key(TextBuffer& out, std::string_view key) {
  if (char const last = out.view().back(); last != '{' && last != '\n') out.push_back(',');
  tracing::formatting::append_json_text(out, key);
  out.push_back(':');
}

// Leaves out an empty value.
void append_text(TextBuffer& out, std::string_view key, std::string_view value) {
  if (value.empty()) return;
  append_key(out, key);
  tracing::formatting::append_json_text(out, value);
}

void append_number(TextBuffer& out, std::string_view key, std::uint64_t value) {
  append_key(out, key);
  out.append_uint(value);
}

}  // namespace

// Counts how often each test was recorded. Programs may have tests with one name.
class RunManifest::Attempts {
 public:
  explicit Attempts(std::vector<Entry> const& tests) {
    for (Entry const& entry : tests) ++of(entry).all;
  }
  struct Count {
    std::uint64_t all = 0;
    std::uint64_t written = 0;
  };
  Count& of(Entry const& entry) { return counts_[{entry.process.command, entry.test.name}]; }

 private:
  std::map<std::pair<std::string_view, std::string_view>, Count> counts_;
};

RunManifest::Process RunManifest::process_of(Recording& recording) {
  Process process;
  if (!recording.has(tracing::recording::EntryType::mark)) return process;
  recording.for_each([&process](tracing::recording::Entry const& entry) {
    if (entry.type != tracing::recording::EntryType::mark) return;
    Origin& origin = process.origin;
    if (entry.metadata->name() == "process") {
      process.command = text_of_field(entry, "command");
      process.attempt = text_of_field(entry, "attempt");
      origin.run = text_of_field(entry, "run");
      origin.host = text_of_field(entry, "host");
    } else if (entry.metadata->name() == "ci") {
      origin.service = text_of_field(entry, "service");
      origin.revision = text_of_field(entry, "revision");
      origin.url = text_of_field(entry, "url");
      origin.job = text_of_field(entry, "job");
    }
  });
  return process;
}

void RunManifest::add(Recording& recording, RecordedTests const& tests, std::string const& file) {
  Process const process = process_of(recording);
  if (std::exchange(is_empty_, false)) origin_ = process.origin;
  for (auto const& [tag, test] : tests) tests_.push_back({test, file, process});
}

std::size_t RunManifest::failed_count() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(tests_.begin(), tests_.end(), [](Entry const& entry) { return entry.test.has_failed(); }));
}

void RunManifest::append_origin(TextBuffer& out, Origin const& origin) {
  append_text(out, "run", origin.run);
  append_text(out, "host", origin.host);
  append_text(out, "revision", origin.revision);
  if (origin.service.empty()) return;
  append_key(out, "ci");
  out.push_back('{');
  append_text(out, "service", origin.service);
  append_text(out, "url", origin.url);
  append_text(out, "job", origin.job);
  out.push_back('}');
}

void RunManifest::append_test(TextBuffer& out, Entry const& entry, Attempts& attempts) const {
  Attempts::Count& count = attempts.of(entry);
  out.push_back('{');
  append_key(out, "name");
  tracing::formatting::append_json_text(out, entry.test.name);
  append_text(out, "result", entry.test.result.empty() ? "unfinished" : entry.test.result);
  std::uint64_t const said = std::strtoull(entry.process.attempt.c_str(), nullptr, 10);
  std::uint64_t const attempt = std::max(said, ++count.written);
  append_number(out, "attempt", attempt);
  append_number(out, "attempts", std::max(count.all, attempt));
  append_text(out, "file", entry.file);
  append_number(out, "duration_ms", entry.test.duration_ms);
  tracing::InlineTextBuffer<64> began;
  if (tracing::utc_timer()->append(began, entry.test.begin)) append_text(out, "began", began.view());
  if (entry.process.origin != origin_) append_origin(out, entry.process.origin);
  out.push_back('}');
}

std::string RunManifest::json() const {
  Attempts attempts(tests_);
  TextBuffer out;
  out.append("{\n\"version\":1");
  append_origin(out, origin_);
  out.append(",\"tests\":[");
  for (Entry const& entry : tests_) {
    out.append(&entry == &tests_.front() ? "\n" : ",\n");
    append_test(out, entry, attempts);
  }
  out.append("\n]}\n");
  return std::string(out.view());
}

}  // namespace testlog::cli
