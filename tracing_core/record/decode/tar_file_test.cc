#include "tracing_core/record/decode/tar_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tracing_core/record/decode/recording_bytes.h"
#include "tracing_core/record/decode/tar_header.h"
#include "tracing_core/record/recordings.h"

namespace tracing::recording { namespace {

using namespace internal;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class TextSource final : public RecordingSource {
 public:
  explicit TextSource(std::string_view text) noexcept : text_(text) {}
  std::size_t size() const noexcept override { return text_.size(); }
  std::size_t read(std::size_t offset, void* to, std::size_t bytes) const noexcept override {
    return offset > text_.size() ? 0 : text_.copy(static_cast<char*>(to), bytes, offset);
  }

 private:
  std::string_view text_;
};

template <std::size_t kSize>
void put(char (&field)[kSize], std::string_view text) {
  std::memset(field, 0, kSize);
  text.copy(field, kSize);
}

// A header whose size is a text, so that it may be wrong.
std::string header(std::string_view name, std::string_view size, char type = '0', std::string_view prefix = {}) {
  TarHeader made{};
  put(made.name, name);
  put(made.size, size);
  put(made.prefix, prefix);
  put(made.magic, std::string_view("ustar\00000", 8));
  made.type = type;
  char text[8];
  std::snprintf(text, sizeof(text), "%06o", made.sum() & 0777777);
  put(made.checksum, text);
  return {reinterpret_cast<char const*>(&made), sizeof(made)};
}

std::string octal(std::size_t number) {
  char text[12];
  std::snprintf(text, sizeof(text), "%011zo", number);
  return text;
}

std::string padded(std::string content) {
  content.resize(padded_to_tar_block(content.size()));
  return content;
}

std::string file(std::string_view name, std::string const& content, char type = '0') {
  return header(name, octal(content.size()), type) + padded(content);
}

std::string const kEnd(2 * kTarBlock, '\0');

// Returns `name=content` of each file, then the problem.
std::vector<std::string> read(std::string const& tar) {
  TextSource const source(tar);
  TarFile const table(source);
  std::vector<std::string> found;
  for (auto const& [name, member] : table.members())
    found.push_back(name + "=" + tar.substr(member.offset, member.size));
  if (!table.problem().empty()) found.push_back(table.problem());
  return found;
}

TEST(TarFile, HasTheFilesOfATar) {
  EXPECT_THAT(read(file("b", "2") + file("a", "1") + kEnd), ElementsAre("a=1", "b=2"));
  EXPECT_THAT(read(file("a", "old") + file("a", "new") + kEnd), ElementsAre("a=new"));
  EXPECT_THAT(read(file("./a", "1") + file("/b", "2") + file(".//c", "3") + kEnd), ElementsAre("a=1", "b=2", "c=3"));
  EXPECT_THAT(read(file("empty", "") + file("old", "7", '\0') + kEnd), ElementsAre("empty=", "old=7"));
  EXPECT_THAT(read(file("folder/", "", '5') + file("link", "", '2') + file("pipe", "", '6') + kEnd), IsEmpty());
  EXPECT_THAT(read(kEnd), IsEmpty());
}

TEST(TarFile, ReadsLongNamesAndSizes) {
  std::string const name(300, 'n');
  EXPECT_THAT(read(header("a", octal(1), '0', "folder") + padded("1") + kEnd), ElementsAre("folder/a=1"));
  EXPECT_THAT(read(file("x", "310 path=" + name + "\n", 'x') + file("a", "1") + file("b", "2") + kEnd),
              ElementsAre("b=2", name + "=1"));
  EXPECT_THAT(read(file("x", "9 size=3\n", 'x') + header("a", octal(0)) + padded("123") + kEnd), ElementsAre("a=123"));
  EXPECT_THAT(read(file("x", name + '\0', 'L') + file("a", "1") + kEnd), ElementsAre(name + "=1"));
  EXPECT_THAT(read(file("x", "18 comment=nothing\n", 'g') + file("x", name, 'K') + file("a", "1") + kEnd),
              ElementsAre("a=1"));
  std::string const binary("\x80\0\0\0\0\0\0\0\0\0\0\3", 12);
  EXPECT_THAT(read(header("a", binary) + padded("123") + kEnd), ElementsAre("a=123"));
}

TEST(TarFile, SaysWhereATarIsDamaged) {
  std::string const a = file("a", "1");
  std::string const huge("\x80\1\0\0\0\0\0\0\0\0\0\0", 12),
      negative("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12),
      most("\x80\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", 12);
  std::string wrong_sum = a;
  wrong_sum[0] = 'b';
  struct Case {
    char const* what;
    std::string tar;
    std::string problem;
  };
  for (Case const& one : std::vector<Case>{
           {"no end", a, "the TAR is cut off at byte 1024"},
           {"half a header", a + a.substr(0, 100), "the TAR is cut off at byte 1024"},
           {"a checksum", a + wrong_sum + kEnd, "the TAR is damaged at byte 1024"},
           {"text", a + std::string(512, 'x'), "the TAR is damaged at byte 1024"},
           {"a size that is no number", a + header("b", "12x"), "the TAR is damaged at byte 1024"},
           {"a size of 2^88", a + header("b", huge), "the TAR is damaged at byte 1024"},
           {"a negative size", a + header("b", negative), "the TAR is damaged at byte 1024"},
           {"a pax record without end", a + file("x", "99 path=b", 'x'), "the TAR is damaged at byte 1024"},
           {"a pax record of no size", a + file("x", "0 path=b\n", 'x'), "the TAR is damaged at byte 1024"},
           {"a pax record without value", a + file("x", "7 path\n", 'x'), "the TAR is damaged at byte 1024"},
           {"a pax size", a + file("x", "11 size=-12\n", 'x'), "the TAR is damaged at byte 1024"},
           {"a name of 2 MiB", a + file("x", std::string(2 << 20, 'n'), 'L'), "the TAR is damaged at byte 1024"},
           {"a name that is cut off", a + header("x", octal(700), 'L') + "name", "the TAR is cut off at byte 1540"},
           {"a folder with much content", a + header("x", most, '5'), "the TAR is cut off at byte 1536"},
           {"holes", a + file("b", "2", 'S') + kEnd,
            "the TAR has files with holes, made by `tar -S`, which are left out"},
           {"holes by pax", a + file("x", "22 GNU.sparse.major=1\n", 'x') + file("b", "2") + kEnd,
            "the TAR has files with holes, made by `tar -S`, which are left out"}})
    EXPECT_THAT(read(one.tar), ElementsAre("a=1", one.problem)) << one.what;
  EXPECT_THAT(read(a + header("b", octal(9)) + "12"), ElementsAre("a=1", "b=12", "the TAR is cut off at byte 1538"));
  EXPECT_THAT(read(a + header("b", most) + "12"), ElementsAre("a=1", "b=12", "the TAR is cut off at byte 1538"));
}

TEST(TarFile, ReadsAnyBytes) {
  std::mt19937 random(7);
  std::string const tar =
      file("x", "18 path=some/name\n", 'x') + file("a", "1") + file("x", "name", 'L') + file("b", "2") + kEnd;
  for (int times = 0; times < 20'000; ++times) {
    std::string damaged = tar.substr(0, times % 4 == 0 ? random() % tar.size() : tar.size());
    for (std::uint32_t i = random() % 4; i > 0 && !damaged.empty(); --i) {
      std::size_t const at = random() % damaged.size() / kTarBlock * kTarBlock;
      damaged[std::min(damaged.size() - 1, at + random() % kTarBlock)] = static_cast<char>(random());
      if (damaged.size() - at < kTarBlock) continue;
      TarHeader changed;  // with a checksum that is right
      std::memcpy(&changed, damaged.data() + at, sizeof(changed));
      std::snprintf(changed.checksum, sizeof(changed.checksum), "%06o", changed.sum());
      std::memcpy(damaged.data() + at, &changed, sizeof(changed));
    }
    for (std::string const& found : read(damaged)) EXPECT_LE(found.size(), damaged.size() + 200);
  }
}

class RecordingsInATar : public testing::Test {
 protected:
  static std::string recording() {
    tracing_test::RecordingBytes bytes;
    bytes.add(0, tracing_test::SiteBytes{}.record(1));
    bytes.add(1, tracing_test::record(recording::EntryType::event, 1));
    return bytes.bytes();
  }
  static std::vector<std::string> names_in(recording::Recordings const& recordings) {
    std::vector<std::string> names;
    for (auto const& opened : recordings.files()) names.push_back(opened.path);
    return names;
  }

  tracing_test::TemporaryFolder const folder_;
};

TEST_F(RecordingsInATar, AreReadAsThoseInAFolder) {
  std::string const tar = folder_.write("run.tar", file("manifest.json", "{}") + file("b.rec", recording()) +
                                                       file("folder/a.rec", recording()) + file(".rec", "") + kEnd);
  auto const recordings = recording::Recordings::open({tar});
  EXPECT_THAT(recordings.errors(), IsEmpty());
  EXPECT_THAT(names_in(recordings), ElementsAre(tar + "/b.rec", tar + "/folder/a.rec"));
  EXPECT_THAT(names_in(recording::Recordings::open({tar + "/b.rec"})), ElementsAre(tar + "/b.rec"));
}

TEST_F(RecordingsInATar, AreReadUpToADamage) {
  std::string const whole = file("b.rec", recording());
  std::string const tar = folder_.write("run.tar", whole + file("c.rec", recording()).substr(0, 5000));
  auto const recordings = recording::Recordings::open({tar});
  EXPECT_THAT(recordings.errors(),
              ElementsAre(tar + ": the TAR is cut off at byte " + std::to_string(whole.size() + 5000)));
  EXPECT_THAT(names_in(recordings), ElementsAre(tar + "/b.rec", tar + "/c.rec"));
  EXPECT_THAT(recordings.files()[1].recording->problems(), ElementsAre(HasSubstr("cut off in chunk 1")));
}

TEST_F(RecordingsInATar, MustBeThere) {
  std::string const tar = folder_.write("run.tar", file("b.txt", "text") + kEnd), text = folder_.write("text", "text");
  auto const recordings = recording::Recordings::open({tar, tar + "/a.rec", tar + "/b.txt", text + "/a.rec"});
  EXPECT_THAT(recordings.errors(), ElementsAre(tar + ": has no recordings", tar + "/a.rec: is not in the TAR",
                                               HasSubstr("b.txt: is no recording: it has fewer than 4096 bytes"),
                                               HasSubstr("Not a directory")));
}

// A file may be replaced by another one while a program reads recordings.
TEST_F(RecordingsInATar, AreThoseOfTheFileThatIsThereNow) {
  std::string const tar = folder_.write("run.tar", file("a.rec", recording()) + kEnd);
  EXPECT_THAT(names_in(recording::Recordings::open({tar})), ElementsAre(tar + "/a.rec"));
  folder_.write("run.tar", file("longer", "") + file("b.rec", recording()) + kEnd);
  EXPECT_THAT(names_in(recording::Recordings::open({tar})), ElementsAre(tar + "/b.rec"));
}

}}  // namespace tracing::recording
