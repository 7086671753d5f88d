#include "tracing_core/record/decode/gzip_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tracing_core/record/decode/compress_used.h"
#include "tracing_core/record/decode/recording_bytes.h"
#include "tracing_core/record/decode/used_bytes.h"
#include "tracing_core/record/recordings.h"

#ifdef TRACING_HAS_ZLIB
#include <zlib.h>
#endif

namespace tracing::recording { namespace {

using namespace internal;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tracing_test::record;
using tracing_test::RecordingBytes;
using tracing_test::SiteBytes;

std::string events(std::uint64_t chunks, std::size_t each = 100) {
  RecordingBytes file;
  file.add(0, SiteBytes{}.record(1));
  std::string records;
  for (std::size_t i = 0; i < each; ++i) records += record(EntryType::event, 1);
  for (std::uint64_t i = 0; i < chunks; ++i) file.add(1, records, i * each);
  return file.bytes();
}

std::size_t count_events(Recording& recording) {
  std::size_t count = 0;
  recording.for_each([&count](recording::Entry const& entry) { count += entry.type == EntryType::event; });
  return count;
}

std::string problem_of(std::string const& bytes) {
  std::string error;
  auto const recording = Recording::read_bytes(bytes, error);
  if (recording == nullptr) return error;
  return recording->problems().empty() ? "" : recording->problems().front();
}

#ifdef TRACING_HAS_ZLIB

std::string gzip(std::string_view bytes) {
  z_stream z{};
  EXPECT_EQ(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&z, bytes.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

TEST(CompressedRecording, IsReadAsTheRecording) {
  tracing_test::TemporaryFolder const folder;
  std::string const plain = events(70);
  folder.write("a.rec.gz", gzip(plain));
  folder.write("b.rec", plain);
  auto recordings = recording::Recordings::open({folder / ""});
  EXPECT_THAT(recordings.errors(), IsEmpty());
  ASSERT_EQ(recordings.files().size(), 2u);
  for (auto const& file : recordings.files()) {
    EXPECT_EQ(count_events(*file.recording), 7000u) << file.path;
    EXPECT_EQ(file.recording->size_bytes(), recordings.files()[1].recording->size_bytes());
    EXPECT_THAT(file.recording->problems(), IsEmpty());
  }
}

TEST(CompressedRecording, IsReadUpToADamage) {
  std::string const whole = gzip(events(70));
  EXPECT_EQ(problem_of(whole), "");
  EXPECT_EQ(problem_of(whole.substr(0, whole.size() - 1)), "the compressed file is cut off");
  EXPECT_EQ(problem_of(whole.substr(0, 12)), "the compressed file is cut off");
  EXPECT_EQ(problem_of(whole.substr(0, 3)), "the compressed file is cut off");
  EXPECT_EQ(problem_of(whole + "more"), "other bytes follow the compressed recording");
  EXPECT_EQ(problem_of(gzip("text")), "is no recording: it has fewer than 4096 bytes");
  EXPECT_EQ(problem_of(gzip(std::string(1 << 20, 'x'))), "is no recording: it begins with other bytes");
  EXPECT_EQ(problem_of("\x1f\x8b\x08 no gzip"), "the compressed file is damaged");
  std::string wrong_sum = whole;
  wrong_sum[whole.size() - 6] ^= 1;
  EXPECT_EQ(problem_of(wrong_sum), "the compressed file is damaged");
  std::string error;
  auto const half = Recording::read_bytes(gzip(events(200, 1000)).substr(0, 5000), error);
  ASSERT_NE(half, nullptr) << error;
  EXPECT_GT(count_events(*half), 1000u);
}

// A megabyte can become a gigabyte.
TEST(CompressedRecording, HasNoMoreBytesThanItsHeaderAllows) {
  std::string bytes = events(10);
  std::uint32_t const usable = 11;
  std::memcpy(bytes.data() + offsetof(RegionHeader, usable), &usable, sizeof(usable));
  EXPECT_EQ(problem_of(gzip(bytes)), "");
  bytes.resize(std::size_t{100} << 20, 'x');
  std::string error;
  auto const recording = Recording::read_bytes(gzip(bytes), error);
  ASSERT_NE(recording, nullptr) << error;
  EXPECT_EQ(recording->problems().front(), "the compressed file has more bytes than its header allows");
  EXPECT_EQ(count_events(*recording), 1000u);
}

TEST(CompressedRecording, HasAtMost256TimesItsSizeInRecords) {
  std::string bytes = events(1);
  std::size_t const begin = bytes.size();
  bytes.resize(std::size_t{300} << 20, 'x');
  EXPECT_EQ(problem_of(gzip(bytes)), "the compressed file has too many records for its size");
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(begin), bytes.end(), '\0');
  EXPECT_EQ(problem_of(gzip(bytes)), "");  // zeros take no memory
}

TEST(CompressedRecording, MayHaveAnyBytes) {
  std::mt19937 random(7);
  std::string const whole = gzip(events(3));
  for (int times = 0; times < 500; ++times) {
    std::string damaged = whole;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    std::string error;
    if (auto const recording = Recording::read_bytes(damaged, error)) count_events(*recording);
  }
}

TEST(CompressedRecording, IsNoTar) {
  std::string tar(512, '\0');
  tar.replace(0, 1, "a").replace(148, 6, "000541");  // the name and the checksum
  EXPECT_EQ(problem_of(gzip(tar)), "is a compressed TAR; it can be read once gunzip has decompressed it");
}

std::string gunzip(std::string const& bytes) {
  z_stream z{};
  EXPECT_EQ(inflateInit2(&z, 15 + 16), Z_OK);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  int result = Z_OK;
  while (result == Z_OK) {
    char piece[10'000];
    z.next_out = reinterpret_cast<Bytef*>(piece);
    z.avail_out = sizeof(piece);
    result = inflate(&z, Z_NO_FLUSH);
    out.append(piece, sizeof(piece) - z.avail_out);
  }
  EXPECT_EQ(result, Z_STREAM_END) << "zlib does not accept the data or the checksum";
  EXPECT_EQ(z.avail_in, 0u) << "bytes follow the end";
  inflateEnd(&z);
  return out;
}

// Passes a file to copy_used() or compress_used() and returns the output.
template <class F>
std::string output_of(F function, std::string const& path) {
  std::string error, out;
  EXPECT_TRUE(function(*open_source(path, error), [&out](std::string_view bytes) { out += bytes; })) << error;
  return out;
}

TEST(CompressUsed, DecompressesToWhatIsCopiedWhateverTheNumberOfZeros) {
  tracing_test::TemporaryFolder const folder;
  std::mt19937 random(7);
  std::vector<std::size_t> sizes{0, 1, 511, 512, 513, kChunkBytes - 1};
  for (std::size_t const zeros : {0, 1023, 1024, 1025, 1034, 1035, 1282, 1283}) sizes.push_back(kChunkBytes - zeros);
  for (int i = 0; i < 200; ++i) sizes.push_back(random() % kChunkBytes);
  for (std::size_t const size : sizes) {
    RecordingBytes file;
    for (std::size_t const used : {size, sizes[random() % sizes.size()], size}) {
      std::string bytes(used, 'x');  // copying does not look at records
      unsigned const values = random() % 2 == 0 ? 256 : 3;
      for (char& byte : bytes) byte = static_cast<char>(random() % values);
      if (!bytes.empty()) bytes.back() = 'x';
      file.add(1, bytes);
    }
    std::string const path = folder.write("a.rec", file.bytes());
    ASSERT_EQ(gunzip(output_of(compress_used, path)), output_of(copy_used, path)) << size << " bytes in a chunk";
  }
}

TEST(CompressUsed, CompressesSeveralGroupsOfChunks) {
  tracing_test::TemporaryFolder const folder;
  std::string const path = folder.write("a.rec", events(130, 150)), compressed = output_of(compress_used, path);
  EXPECT_EQ(gunzip(compressed), output_of(copy_used, path));
  EXPECT_LT(compressed.size(), 40'000u);
}

TEST(CompressUsed, ZerosTakeLittle) {
  tracing_test::TemporaryFolder const folder;
  std::string const path = folder.write("a.rec", events(3, 3));
  EXPECT_GT(output_of(copy_used, path).size(), 70'000u);
  EXPECT_LT(output_of(compress_used, path).size(), 1500u);
}

TEST(CompressUsed, RefusesOtherFiles) {
  tracing_test::TemporaryFolder const folder;
  std::string error;
  auto const source = open_source(folder.write("text.rec", std::string(5000, 'x')), error);
  EXPECT_FALSE(compress_used(*source, [](std::string_view) {}));
}

#else

TEST(CompressedRecording, NeedsZlib) {
  EXPECT_THAT(problem_of("\x1f\x8b\x08 anything"), HasSubstr("built without zlib"));
}

#endif

TEST(UsedBytes, EndAfterTheLastUsedChunk) {
  tracing_test::TemporaryFolder const folder;
  std::string plain = events(66);
  std::size_t const end = plain.size();
  std::memset(plain.data() + offset_of_chunk(3) + 100 * sizeof(RecordHead), 'x', 50);  // left by another thread
  std::string const path = folder.write("a.rec", plain);
  std::filesystem::resize_file(path, std::uintmax_t{1} << 36);
  std::string error, copy;
  ASSERT_TRUE(copy_used(*open_source(path, error), [&copy](std::string_view bytes) { copy += bytes; })) << error;
  EXPECT_EQ(copy.size(), end);
  EXPECT_EQ(copy, events(66));
  folder.write("text.rec", std::string(5000, 'x'));
  EXPECT_FALSE(copy_used(*open_source(folder / "text.rec", error), [](std::string_view) {}));
}

}}  // namespace tracing::recording
