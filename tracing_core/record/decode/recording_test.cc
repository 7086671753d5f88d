// Recordings that were cut off, damaged, or made to harm who reads them.
#include "tracing_core/record/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/sanitizers.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/print.h"
#include "tracing_core/record/decode/recording_bytes.h"
#include "tracing_core/record/replay.h"

namespace tracing::recording { namespace {

using namespace internal;

using testing::ElementsAre;
using tracing_test::record;
using tracing_test::RecordingBytes;
using tracing_test::SiteBytes;

std::string repeated(std::string const& text, std::size_t count) {
  std::string all;
  while (count-- > 0) all += text;
  return all;
}

std::unique_ptr<Recording> read(std::string_view bytes) {
  std::string error;
  auto recording = Recording::read_bytes(bytes, error);
  EXPECT_NE(recording, nullptr) << error;
  return recording;
}

TEST(Recording, KnowsTheTypesAndNumberOfItsRecords) {
  RecordingBytes file;
  file.add(0, SiteBytes{}.record(1));
  file.add(1, repeated(record(EntryType::scope_begin, 1), 2) + record(EntryType::scope_end, 1));
  auto const recording = read(file.bytes());
  EXPECT_TRUE(recording->has(EntryType::scope_begin));
  EXPECT_TRUE(recording->has(EntryType::scope_end));
  EXPECT_FALSE(recording->has(EntryType::event));
  EXPECT_EQ(recording->entry_count(), 3u);
}

TEST(Recording, SkipsRecordsOfUnknownTypesAndSaysSo) {
  for (unsigned const type : {0u, 18u, 255u}) {
    RecordingBytes file;
    file.add(0, SiteBytes{}.record(1));
    file.add(1, record(static_cast<EntryType>(type), 0) + record(EntryType::event, 1));
    auto const recording = read(file.bytes());
    std::size_t entries = 0;
    recording->for_each([&entries](Entry const&) { ++entries; });
    EXPECT_EQ(entries, 1u) << type;
    EXPECT_THAT(recording->problems(),
                testing::ElementsAre("chunk 1, byte 0: skipped a record of the unknown type " + std::to_string(type)));
  }
}

TEST(Recording, MayBeReadAgainWhileItIsVisited) {
  std::string const name = "a name that is longer than sixteen";
  RecordingBytes file;
  std::vector<std::uint64_t> thread{4711, name.size()};
  thread.resize(2 + support::padded_to_word(name.size()) / 8);
  std::memcpy(&thread[2], name.data(), name.size());
  file.add(0, SiteBytes{}.record(1));
  file.add(1, record(EntryType::track, 0, kRestated, thread) + record(EntryType::event, 1));
  auto const recording = read(file.bytes());
  recording->for_each([&](Entry const& entry) {
    std::size_t entries = 0;
    recording->for_each([&entries](Entry const&) { ++entries; });
    EXPECT_EQ(entries, 1u);
    EXPECT_EQ(entry.track_name, name);
  });
}

std::size_t count_entries(Recording& recording) {
  std::size_t entries = 0;
  recording.for_each([&entries](Entry const&) { ++entries; });
  return entries;
}

// Its chunks are read when they are needed.
class LargeFile : public testing::Test {
 protected:
  static constexpr std::size_t kChunks = 1100;
  static constexpr std::size_t kRecords = 1000;  // in a chunk

  LargeFile() {
    RecordingBytes file;
    file.add(0, SiteBytes{}.record(1));
    std::string const events = repeated(record(EntryType::event, 1), kRecords);
    for (std::size_t i = 0; i < kChunks; ++i) file.add(1, events, i * kRecords);
    path_ = folder_.write("large.rec", file.bytes());
  }
  std::unique_ptr<Recording> open() const {
    std::string error;
    auto recording = Recording::read_file(path_, error);
    EXPECT_NE(recording, nullptr) << error;
    return recording;
  }

  tracing_test::TemporaryFolder const folder_;
  std::string path_;
};

TEST_F(LargeFile, IsReadEachTime) {
  auto const recording = open();
  EXPECT_EQ(recording->entry_count(), kChunks * kRecords);
  EXPECT_TRUE(recording->has(EntryType::event));
  EXPECT_FALSE(recording->has(EntryType::scope_begin));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(count_entries(*recording), kChunks * kRecords);
  EXPECT_EQ(recording->lost().count, 0u);
  EXPECT_THAT(recording->problems(), testing::IsEmpty());
}

TEST_F(LargeFile, LacksWhatIsOverwrittenAfterItWasOpened) {
  auto const recording = open();
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    std::uint64_t const generation = 1000;
    file.seekp(static_cast<std::streamoff>(offset_of_head(7) + offsetof(ChunkHead, generation)));
    file.write(reinterpret_cast<char const*>(&generation), sizeof(generation));
  }
  EXPECT_EQ(count_entries(*recording), (kChunks - 1) * kRecords);
  EXPECT_EQ(recording->lost().count, kRecords);
  EXPECT_THAT(recording->problems(),
              ElementsAre("chunk 7: its records were overwritten or cut off after the recording was opened"));
}

TEST_F(LargeFile, EndsWhereItIsCutOffAfterItWasOpened) {
  auto const recording = open();
  std::filesystem::resize_file(path_, offset_of_chunk(8));
  EXPECT_EQ(count_entries(*recording), 7 * kRecords);
  EXPECT_THAT(recording->problems(),
              testing::Contains("chunk 8: its records were overwritten or cut off after the recording was opened"));
}

TEST(RecordingThatIsCutOff, HasWhatIsThere) {
  RecordingBytes file;
  file.add(0, SiteBytes{}.record(1));                            // chunk 0 begins at 12288
  file.add(1, repeated(record(EntryType::event, 1), 100));       // 28672
  file.add(2, repeated(record(EntryType::event, 1), 1000));      // 45056
  file.add(3, repeated(record(EntryType::scope_begin, 1), 10));  // 61440
  struct {
    std::size_t bytes, records;
    char const* problem;
  } const cases[] = {
      {77824, 1110, ""},
      {61600, 1110, ""},
      {61599, 1109, "cut off in chunk 3, which has 159 of 160 bytes of records"},
      {61440, 1100, "cut off in chunk 3, which has 0 of 160 bytes of records"},
      {61000, 1096, "cut off in chunk 2, which has 15944 of 16000 bytes of records; missing chunks after it: 1"},
      {45056, 100, "cut off in chunk 2, which has 0 of 16000 bytes of records; missing chunks after it: 1"},
      {28680, 0, "cut off in chunk 1, which has 8 of 1600 bytes of records; missing chunks after it: 2"},
  };
  for (auto const& expected : cases) {
    auto const recording = read(std::string_view(file.bytes()).substr(0, expected.bytes));
    ASSERT_NE(recording, nullptr);
    std::size_t records = 0;
    recording->for_each([&](Entry const&) { ++records; });
    EXPECT_EQ(records, expected.records) << expected.bytes;
    std::vector<std::string> problems;
    if (*expected.problem != '\0') problems.emplace_back(expected.problem);
    EXPECT_EQ(recording->problems(), problems) << expected.bytes;
  }
}

// What `show` prints of them, at most.
std::size_t printed_bytes(std::string_view file) {
  auto const recording = read(file);
  if (recording == nullptr) return 0;
  std::size_t bytes = 0;
  auto const count = [&](Level, std::string_view line) { bytes += line.size(); };
  PrintOptions options;
  options.format.timer = nullptr;
  options.writer = to_sink(make_sink(count));
  auto const registry = RegistryBuilder().with(print_layer(options)).build();
  replay(*recording, *registry, [](Entry const&) { return true; });
  return bytes;
}

TEST(HostileRecording, PrintsAThousandTimesItsSizeAtMost) {
  if (TESTLOG_TSAN != 0) GTEST_SKIP() << "has no threads";
  constexpr auto kI64 = static_cast<std::uint8_t>(ValueKind::i64);
  constexpr auto kF64 = static_cast<std::uint8_t>(ValueKind::f64);
  constexpr auto kText = static_cast<std::uint8_t>(ValueKind::text);
  constexpr std::uint64_t kDigits = 0x3939393939393939;  // "99999999"
  auto const site = [](std::string const& spec, std::size_t placeholders, std::uint8_t values) {
    SiteBytes made;
    made.fields = {SiteBytes::kMessage};
    for (std::size_t i = 0; i < placeholders; ++i) {
      made.placeholders.push_back(
          {0, static_cast<std::uint32_t>(made.text.size()), static_cast<std::uint16_t>(spec.size()), 0});
      made.text += spec;
    }
    made.row.value_count = values;
    return made;
  };
  SiteBytes same_names = site("", 0, 1), same_messages = site("", 0, 0);
  same_names.fields.assign(255, {0, 8000});
  same_names.text.assign(8000, 'x');
  same_messages.fields.assign(255, SiteBytes::kMessage);
  same_messages.text.assign(8000, 'x');
  same_messages.row.message_size = 8000;
  struct {
    char const* what;
    SiteBytes site;
    std::string event;
  } const cases[] = {
      {"wide placeholders", site(">9999", 255, 1), record(EntryType::event, 1, kHasValues, {7}, kI64)},
      {"exact placeholders", site(".9999f", 255, 1), record(EntryType::event, 1, kHasValues, {7}, kF64)},
      {"many placeholders", site(">999", 255, 1), record(EntryType::event, 1, kHasValues, {7}, kI64)},
      {"long numbers", site("f", 255, 1), record(EntryType::event, 1, kHasValues, {0x7fe0000000000000}, kF64)},
      {"a width that is a value", site("{}", 1, 2),
       record(EntryType::event, 1, kHasValues, {7, 2'000'000'000}, kI64).replace(13, 1, 1, char(kI64))},
      {"a width that is text", site("{}", 1, 2),
       record(EntryType::event, 1, kHasValues, {7, 9, kDigits, '9'}, kI64).replace(13, 1, 1, char(kText))},
      {"fields with the same name", same_names, record(EntryType::event, 1, kHasValues, {7}, kI64)},
      {"many messages", same_messages, record(EntryType::event, 1)},
  };
  for (auto const& hostile : cases) {
    RecordingBytes file;
    file.add(0, hostile.site.record(1));
    for (std::uint64_t track = 1; track < 4; ++track)
      file.add(track, repeated(hostile.event, kChunkBytes / hostile.event.size()));
    EXPECT_LT(printed_bytes(file.bytes()), 1024 * file.bytes().size()) << hostile.what;
  }
}

TEST(HostileRecording, WidthsUpTo999ArePrinted) {
  SiteBytes site;
  site.fields = {SiteBytes::kMessage};
  site.placeholders = {{0, 0, 4, 0}};
  site.text = ">999";
  site.row.value_count = 1;
  RecordingBytes file;
  file.add(0, site.record(1));
  file.add(1, record(EntryType::event, 1, kHasValues, {7}, static_cast<std::uint8_t>(ValueKind::i64)));
  EXPECT_GT(printed_bytes(file.bytes()), 999u);
}

// If all were looked at for each span that is left, a file of 4 MiB would take seconds.
TEST(HostileRecording, IsInASpanThatItLeavesAThousandOthersAway) {
  auto const open_after = [](std::size_t others) {
    RecordingBytes file;
    file.add(0, SiteBytes{}.record(1));
    file.add(1, record(EntryType::enter, 1, 0, {5}) + repeated(record(EntryType::scope_begin, 1), others) +
                    record(EntryType::exit, 1, 0, {5}));
    auto const recording = read(file.bytes());
    recording->for_each([](Entry const&) {});
    return recording->tracks()[0].open.size();
  };
  EXPECT_EQ(open_after(999), 999u);
  EXPECT_EQ(open_after(1000), 1001u);
}

TEST(HostileRecording, HasNoMoreCallsitesThanItsSizeAllows) {
  RecordingBytes file;
  file.add(0, SiteBytes{}.record(1) + SiteBytes{}.record(400) + SiteBytes{}.record(1 << 20));
  EXPECT_THAT(read(file.bytes())->problems(),
              ElementsAre("chunk 0, byte 128: the description of a callsite makes no sense"));
}

// What another process would have to write on the disk for `bytes`: the rest of the file is a hole.
std::unique_ptr<Recording> read_with_hole(std::string const& bytes, off_t size) {
  tracing_test::TemporaryFolder const folder;
  std::string const path = folder.write("sparse.rec", bytes);
  EXPECT_EQ(truncate(path.c_str(), size), 0);
  std::string error;
  auto recording = Recording::read_file(path, error);
  EXPECT_NE(recording, nullptr) << error;
  return recording;
}

std::size_t count_records(Recording& recording) {
  std::size_t records = 0;
  recording.for_each([&records](Entry const&) { ++records; });
  return records;
}

// Without this, each takes minutes or gigabytes.
TEST(HostileRecording, TakesNeitherTimeNorMemoryForAHole) {
  RecordingBytes file;
  file.add(0, SiteBytes{}.record(1) + SiteBytes{}.record(1'000'000'000));
  file.add(1, record(EntryType::event, 1));
  for (off_t const size : {off_t{1} << 36, off_t{1} << 40, off_t{1} << 43}) {
    auto const recording = read_with_hole(file.bytes(), size);
    EXPECT_EQ(count_records(*recording), 1u);
    EXPECT_THAT(recording->problems(), ElementsAre("chunk 0, byte 64: the description of a callsite makes no sense"));
  }
}

TEST(HostileRecording, ReadsWhatFollowsAHole) {
  RecordingBytes file;
  for (std::uint64_t i = 0; i < 300; ++i) file.add(1, record(EntryType::event, 1), i);  // several groups
  std::string const all = file.bytes();
  RecordingBytes sites;
  sites.add(0, SiteBytes{}.record(1));
  tracing_test::TemporaryFolder const folder;
  std::string const path = folder / "sparse.rec";
  for (std::uint32_t const chunk : {1u, 31u, 32u, 63u, 64u, 200u, 299u}) {
    std::filesystem::remove(path);
    folder.write("sparse.rec", sites.bytes());
    {
      std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
      for (auto const& [offset, size] : {std::pair(offset_of_head(chunk), sizeof(ChunkHead)),
                                         std::pair(offset_of_chunk(chunk), std::size_t{kChunkBytes})}) {
        stream.seekp(static_cast<std::streamoff>(offset));
        stream.write(all.data() + offset, static_cast<std::streamsize>(size));
      }
    }
    std::string error;
    auto const recording = Recording::read_file(path, error);
    ASSERT_NE(recording, nullptr) << error;
    EXPECT_EQ(count_records(*recording), 1u) << chunk;
    EXPECT_TRUE(recording->problems().empty()) << chunk;
  }
}

TEST(HostileRecording, TakesNoMemoryForChunksThatAreHoles) {
  RecordingBytes file;
  file.add(1, std::string(kChunkBytes, 'x'));
  auto const recording = read_with_hole(file.bytes().substr(0, offset_of_chunk(0)), off_t{1} << 20);
  EXPECT_EQ(recording->size_bytes(), 0u);
  EXPECT_THAT(recording->problems(), ElementsAre("chunk 0: its bytes are a hole of the file"));
}

TEST(HostileRecording, HasAFewThousandTracksThatAreNoThreads) {
  RecordingBytes file;
  file.add(0, SiteBytes{}.record(1));
  std::uint64_t number = 0;
  for (std::uint64_t chunk = 0; chunk < 40; ++chunk) {
    std::string records;
    for (; records.size() + 32 <= kChunkBytes; ++number)
      records += record(EntryType::event, 1, kForeign, {number + 100, 1});
    file.add(1, records, number - records.size() / 32);
  }
  auto const recording = read(file.bytes());
  for (int times = 0; times < 2; ++times) {
    std::set<std::uint64_t> tracks;
    recording->for_each([&tracks](Entry const& entry) { tracks.insert(entry.track); });
    EXPECT_EQ(tracks.size(), (1u << 14) + 1) << "of " << number;
  }
  EXPECT_THAT(recording->problems(),
              ElementsAre("it has more than 16384 tracks that are no threads; the others are shown as one"));
}

}}  // namespace tracing::recording
