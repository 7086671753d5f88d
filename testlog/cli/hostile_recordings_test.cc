// The commands on recordings that somebody made to do harm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "testlog/cli/command_test_support.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/model/metadata.h"
#include "tracing_core/model/value.h"
#include "tracing_core/record/decode/recording_bytes.h"
#include "tracing_core/support/utf8.h"

namespace {

using testing::HasSubstr;
using testing::Not;
using testlog::testdata::Outcome;
using testlog::testdata::run_command;
using tracing::recording::EntryType;
using tracing_test::record;
using tracing_test::RecordingBytes;
using tracing_test::SiteBytes;
using tracing_test::text_value;

// Sets a title and a colour, has C1 commands and text that runs to the left, each in several ways; then begins a new
// line.
constexpr std::string_view kEvil =
    "x\x1b]0;owned\x07\x1b[31m\xc2\x9b"
    "2J\x9b"
    "2J\x7f\u202e\u2066\u200f\u061c\ntestlog show: all is well";

SiteBytes site_of(tracing::Kind kind, std::string_view name, std::vector<std::string_view> const& fields = {}) {
  SiteBytes site;
  site.row.kind = static_cast<std::uint8_t>(kind);
  site.row.max_level = 5;
  site.row.line = 1;
  site.row.name_size = static_cast<std::uint32_t>(name.size());
  site.row.target_size = 1;
  site.row.value_count = static_cast<std::uint8_t>(fields.size());
  site.text = std::string(name) + "t";
  for (std::string_view const field : fields) {
    auto const index = static_cast<std::uint32_t>(site.fields.size());
    site.fields.push_back(
        {static_cast<std::uint32_t>(site.text.size()), static_cast<std::uint32_t>(field.size()) | index << 24});
    site.text += field;
  }
  return site;
}

// Returns a record with two texts.
std::string record_of(EntryType type, std::uint32_t site, std::string_view first, std::string_view second) {
  std::vector<std::uint64_t> words = text_value(first), more = text_value(second);
  words.insert(words.end(), more.begin(), more.end());
  constexpr auto kText = static_cast<std::uint8_t>(tracing::ValueKind::text);
  return record(type, site, tracing::internal::kHasValues, words, kText).replace(13, 1, 1, static_cast<char>(kText));
}

std::string repeated(std::string const& text, std::size_t count) {
  std::string all;
  while (count-- > 0) all += text;
  return all;
}

class HostileRecordings : public testing::Test {
 protected:
  // Everything has the name kEvil: the test, its thread, a span, an event, a field, a target, a file, values, the
  // recording.
  std::string write_evil_names() const {
    SiteBytes span = site_of(tracing::Kind::span, kEvil, {kEvil, "value"}),
              event = site_of(tracing::Kind::event, kEvil, {kEvil, "value"});
    span.file = event.file = kEvil;
    event.row.target_size = static_cast<std::uint32_t>(kEvil.size());
    event.text.insert(kEvil.size(), kEvil.substr(1));
    for (auto& field : event.fields) field.offset += static_cast<std::uint32_t>(kEvil.size()) - 1;
    std::vector<std::uint64_t> thread = text_value(kEvil);
    thread[0] = kEvil.size();
    thread.insert(thread.begin(), 77);
    std::string const in_test = record(EntryType::tag, 1, tracing::internal::kRestated);
    RecordingBytes file;
    file.add(0, span.record(1) + event.record(2) +
                    site_of(tracing::Kind::event, "test_begin", {"test", "file"}).record(3) +
                    site_of(tracing::Kind::event, "failure", {"message", "file"}).record(4));
    file.add(tracing::internal::kMarksTrack,
             in_test + record_of(EntryType::mark, 3, kEvil, kEvil) + record_of(EntryType::mark, 4, kEvil, kEvil));
    file.add(1, record(EntryType::track, 0, tracing::internal::kRestated, thread) + in_test +
                    record_of(EntryType::scope_begin, 1, kEvil, kEvil) + record_of(EntryType::event, 2, kEvil, kEvil) +
                    record(static_cast<EntryType>(99), 0));
    return folder_.write(std::string(kEvil) + ".rec", file.bytes());
  }

  tracing_test::TemporaryFolder const folder_;
};

// Returns the characters of a text that can change a terminal or hide the text.
std::string controls_in(std::string_view text) {
  std::string found;
  while (!text.empty()) {
    auto const c = tracing::support::decode_utf8(text);
    bool const is_control = !c.valid || (c.value < 0x20 && c.value != '\n') || (c.value >= 0x7f && c.value < 0xa0) ||
                            c.value == 0x61c || c.value == 0x200e || c.value == 0x200f ||
                            (c.value >= 0x2028 && c.value <= 0x202e) || (c.value >= 0x2066 && c.value <= 0x2069);
    if (is_control) found += std::to_string(c.value) + " ";
    text.remove_prefix(c.size);
  }
  return found;
}

TEST_F(HostileRecordings, ChangeNoTerminal) {
  std::string const file = write_evil_names();
  std::string const garbage = folder_.write(std::string(kEvil) + "2.rec", std::string(5000, '\0'));
  for (std::string const& path : {file, folder_ / "", garbage, folder_ / kEvil}) {
    for (std::vector<std::string> const& words :
         std::vector<std::vector<std::string>>{{"show"},
                                               {"show", "--test", "y"},
                                               {"show", "--failed"},
                                               {"show", "--format", "pretty"},
                                               {"show", "--format", "compact"},
                                               {"show", "--json"},
                                               {"show", "--filter", "tt=info"},
                                               {"show", "--time", "relative"},
                                               {"tree"},
                                               {"slow"},
                                               {"stats"},
                                               {"stats", "--by", "test"},
                                               {"stats", "--by", "thread"},
                                               {"stats", "--by", "target"},
                                               {"stats", "--json"},
                                               {"export", "--perfetto", "/dev/null"},
                                               {"export", "--chrome", "/dev/null"},
                                               {"export", "--json", "/dev/null", "--filter", "u"},
                                               {"export", "--folded", "/dev/null"},
                                               {"export", "--otlp", "/dev/null", "--otlp-events", "span"},
                                               {"export", "--otlp-logs", "/dev/null"},
                                               {"export", "--xplane", folder_ / "profile"},
                                               {"export", "--chrome", folder_ / (std::string(kEvil) + "/x")},
                                               {"flame", "-o", "/dev/null"},
                                               {"why", "--failing", file, "--passing"},
                                               {"why", "--json", "--passing", file, file, "--failing"},
                                               {"pack", "-o", "/dev/null"},
                                               {"report", "--all", "-o", "/dev/null"},
                                               {"repair", "-o", "/dev/null"}}) {
      std::vector<std::string> arguments(words.begin() + 1, words.end());
      arguments.insert(words[0] == "export" ? arguments.begin() : arguments.end(), path);
      Outcome const outcome = run_command(words[0], arguments);
      EXPECT_EQ(controls_in(outcome.out), "") << words[0] << " " << testing::PrintToString(words) << "\n"
                                              << outcome.out;
      EXPECT_EQ(controls_in(outcome.err), "") << words[0] << " " << testing::PrintToString(words) << "\n"
                                              << outcome.err;
      EXPECT_THAT(outcome.err, Not(HasSubstr("\ntestlog show: all is well"))) << testing::PrintToString(words);
      EXPECT_EQ(outcome.signal, 0) << testing::PrintToString(words);
    }
  }
}

TEST_F(HostileRecordings, HaveOneLineForEachFoldedStack) {
  std::string const stacks = run_command("export", {write_evil_names(), "--folded", "-"}).out;
  EXPECT_THAT(stacks, Not(HasSubstr("\ntestlog show")));
}

// Spans with long names are around many records: each line would have all the names, a hundred gigabytes altogether.
TEST_F(HostileRecordings, PrintAThousandTimesWhatTheyAre) {
  RecordingBytes file;
  file.add(0, site_of(tracing::Kind::span, std::string(12'000, 'n')).record(1));
  file.add(0, site_of(tracing::Kind::event, "event").record(2));
  std::string const spans = repeated(record(EntryType::scope_begin, 1), 1000),
                    events = repeated(record(EntryType::event, 2), 1000);
  file.add(1, spans), file.add(1, spans, 1000), file.add(1, spans, 2000), file.add(1, events, 3000),
      file.add(1, events, 4000);
  std::string const path = folder_.write("long.rec", file.bytes()), other = folder_.write("other.rec", file.bytes());
  std::string const why =
      "stopped here: its lines have more than 64 MiB, and 1024 times the size of its records; a filter or another "
      "selection makes fewer lines";
  auto const size_of = [&](std::vector<std::string> const& arguments, std::string const& command = "show") {
    Outcome const outcome = testlog::testdata::run([&] {
      std::vector<std::string> words{"/bin/sh", "-c", "\"$@\" | wc -c", "sh", TESTLOG_COMMAND, command};
      words.insert(words.end(), arguments.begin(), arguments.end());
      return words;
    }());
    EXPECT_THAT(outcome.err, HasSubstr(path + ": " + why + "\n")) << command;
    return std::stoull(outcome.out);
  };
  EXPECT_LT(size_of({path}), 300'000'000u);
  EXPECT_LT(size_of({path, "--json", "-"}, "export"), 300'000'000u);
  EXPECT_LT(size_of({path, "--folded", "-"}, "export"), 300'000'000u);
  Outcome const outcome = run_command("export", {path, "--json", folder_ / "all.json"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "all.json"));
  EXPECT_THAT(run_command("show", {path, "--grep", "nothing"}).err, HasSubstr(why));
  EXPECT_EQ(run_command("tree", {path, "--depth", "3"}).exit_code, 0);
}

}  // namespace
