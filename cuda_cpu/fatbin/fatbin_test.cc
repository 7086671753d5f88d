#include "cuda_cpu/fatbin/fatbin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>

#include "cuda_cpu/fatbin/decompress.h"
#include "cuda_cpu/fatbin/fatbin_test_support.h"

namespace cuda_cpu::fatbin { namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Returns "compute_75 zstd 265" or "sm_75 2856": the target, the compression, and the size.
std::string describe(Entry const& entry) {
  auto text = entry.target();
  if (entry.kind == Kind::lto) text += " lto";
  if (entry.compression == Compression::zstd) text += " zstd";
  if (entry.compression == Compression::lz4) text += " lz4";
  return text + ' ' + std::to_string(entry.text_bytes);
}

std::vector<std::string> described(std::string const& container) {
  std::vector<std::string> all;
  for (auto const& entry : entries_of(container)) all.push_back(describe(entry));
  return all;
}

std::string text_of_first_ptx(std::string const& container) {
  for (auto const& entry : entries_of(container)) {
    if (entry.kind != Kind::ptx) continue;
    auto text = text_of(entry);
    auto const* const error = std::get_if<Error>(&text);
    return error == nullptr ? std::get<0>(text) : "error: " + error->message;
  }
  return "no PTX";
}

// Returns the bytes of a file with another value at an offset.
template <class T>
std::string with(std::string container, std::size_t offset, T value) {
  std::memcpy(container.data() + offset, &value, sizeof value);
  return container;
}

TEST(Fatbin, ListsItsEntries) {
  EXPECT_THAT(described(read_testdata("default.fatbin")), ElementsAre("sm_75 2856", "compute_75 zstd 265"));
  EXPECT_THAT(described(read_testdata("lz4.fatbin")), ElementsAre("compute_75 lz4 265"));
  EXPECT_THAT(described(read_testdata("plain.fatbin")), ElementsAre("compute_75 272"));
  EXPECT_THAT(described(read_testdata("all_major.fatbin")),
              ElementsAre("sm_75 zstd 2856", "sm_80 zstd 2984", "sm_90 zstd 3568", "sm_100 zstd 5128",
                          "sm_110 zstd 5312", "compute_120 zstd 278", "sm_120 zstd 5128"));
  EXPECT_THAT(described(read_testdata("specific.fatbin")),
              ElementsAre("compute_90a zstd 266", "compute_100f zstd 279"));
  EXPECT_THAT(described(read_testdata("lto.fatbin")), ElementsAre("compute_75 lto zstd 2036"));
}

TEST(Fatbin, ListsTheEntriesOfContainersThatFollowEachOther) {
  EXPECT_THAT(described(read_testdata("lz4.fatbin") + read_testdata("plain.fatbin")),
              ElementsAre("compute_75 lz4 265", "compute_75 272"));
  EXPECT_THAT(described(read_testdata("lz4.fatbin") + "something else that follows"),
              ElementsAre("compute_75 lz4 265"));
}

TEST(Fatbin, GivesTheSameTextHoweverItIsCompressed) {
  auto const text = text_of_first_ptx(read_testdata("plain.fatbin"));
  EXPECT_THAT(text, HasSubstr(".visible .entry store("));
  EXPECT_EQ(text.back(), '\n');
  if (!has_lz4() || !has_zstd()) GTEST_SKIP() << "this build lacks LZ4 or zstd";
  EXPECT_EQ(text_of_first_ptx(read_testdata("lz4.fatbin")), text);
  EXPECT_EQ(text_of_first_ptx(read_testdata("default.fatbin")), text);
}

TEST(Fatbin, WithoutADecompressorNamesThePackage) {
  auto const lz4 = text_of_first_ptx(read_testdata("lz4.fatbin"));
  auto const zstd = text_of_first_ptx(read_testdata("default.fatbin"));
  EXPECT_EQ(lz4.find("build it with liblz4-dev") == lz4.npos, has_lz4()) << lz4;
  EXPECT_EQ(zstd.find("build it with libzstd-dev") == zstd.npos, has_zstd()) << zstd;
}

TEST(Fatbin, OnlyPtxHasAText) {
  auto const entries = entries_of(read_testdata("default.fatbin"));
  EXPECT_EQ(error_of(text_of(entries.at(0))), "code for sm_75 that is not PTX");
}

TEST(Fatbin, ReportsWhatIsNoFatBinary) {
  EXPECT_THAT(error_of(read({})), HasSubstr("not a fat binary: expected the bytes 50 ed 55 ba"));
  EXPECT_THAT(error_of(read(bytes_of("something else, of 16 bytes or more"))), HasSubstr("not a fat binary"));
  auto const good = read_testdata("plain.fatbin");
  EXPECT_EQ(error_of(read(bytes_of(good.substr(0, 100)))), "a fat binary of 100 bytes; expected 368");
  auto const broken = [&](std::size_t offset, auto value) {
    auto const bytes = with(good, offset, value);
    return error_of(read(bytes_of(bytes)));
  };
  EXPECT_EQ(broken(4, std::uint16_t{2}), "a fat binary of version 2; expected 1");
  EXPECT_EQ(broken(6, std::uint16_t{8}), "a fat binary with a header of 8 bytes");
  EXPECT_EQ(broken(8, ~std::uint64_t{0}), "a fat binary of 368 bytes; expected 15");
}

TEST(Fatbin, ReportsADamagedEntry) {
  constexpr std::size_t kEntry = 16;
  auto const good = read_testdata("lz4.fatbin");
  auto const broken = [&](std::size_t offset, auto value) {
    auto const bytes = with(good, kEntry + offset, value);
    auto const entries = read(bytes_of(bytes));
    if (std::holds_alternative<Error>(entries)) return error_of(entries);
    return error_of(text_of(std::get<0>(entries).at(0)));
  };
  std::string const where = "a fat binary with a damaged entry at byte 16: ";
  EXPECT_EQ(broken(4, 63u), where + "its header has 63 bytes");
  EXPECT_EQ(broken(4, 1000u), where + "its header has 1000 bytes");
  EXPECT_EQ(broken(8, std::uint64_t{233}), where + "it has 233 bytes where 232 are left");
  EXPECT_EQ(broken(16, 233u), where + "233 compressed bytes where it has 232");
  EXPECT_EQ(broken(8, std::uint64_t{225}),
            "a fat binary with a damaged entry at byte 321: 7 bytes are left for its header of at least 64");
  if (!has_lz4()) return;
  EXPECT_EQ(broken(56, std::uint64_t{264}), "the PTX for compute_75 cannot be decompressed");
  EXPECT_EQ(broken(56, std::uint64_t{266}), "the PTX for compute_75 cannot be decompressed");
  EXPECT_EQ(broken(56, std::uint64_t{1} << 28), "the PTX for compute_75 cannot be decompressed");
  EXPECT_EQ(broken(56, (std::uint64_t{1} << 28) + 1),
            "the PTX for compute_75 has 268435457 bytes; expected at most 256 MiB");
  EXPECT_EQ(broken(80, ~std::uint64_t{0}), "the PTX for compute_75 cannot be decompressed");
}

TEST(Fatbin, ReportsADamagedZstdFrame) {
  if (!has_zstd()) GTEST_SKIP() << "this build lacks zstd";
  auto const good = read_testdata("specific.fatbin");
  constexpr std::size_t kFrame = 16 + 80;
  auto const bad_frame = with(good, kFrame, 0u);
  EXPECT_EQ(text_of_first_ptx(bad_frame), "error: the PTX for compute_90a cannot be decompressed");
  auto const bad_data = with(good, kFrame + 40, ~std::uint64_t{0});
  EXPECT_EQ(text_of_first_ptx(bad_data), "error: the PTX for compute_90a cannot be decompressed");
}

TEST(FatbinWrapper, HasAContainer) {
  auto const container = read_testdata("plain.fatbin");
  Wrapper const wrapper{.data = container.data()};
  EXPECT_TRUE(is_wrapper(&wrapper));
  EXPECT_TRUE(is_container(container.data()));
  auto const containers = containers_of(&wrapper);
  ASSERT_EQ(error_of(containers), "");
  ASSERT_EQ(std::get<0>(containers).size(), 1u);
  EXPECT_EQ(std::get<0>(containers)[0].data(), bytes_of(container).data());
  EXPECT_EQ(std::get<0>(containers)[0].size(), container.size());
}

TEST(FatbinWrapper, HasAContainerForEachUnitOfADeviceLink) {
  auto const linked = read_testdata("machine_code.fatbin");
  auto const first = read_testdata("plain.fatbin");
  auto const second = read_testdata("lz4.fatbin");
  void const* const units[] = {first.data(), second.data(), nullptr};
  Wrapper const wrapper{.version = 2, .data = linked.data(), .units = units};
  auto const containers = containers_of(&wrapper);
  ASSERT_EQ(error_of(containers), "");
  ASSERT_EQ(std::get<0>(containers).size(), 2u);
  EXPECT_EQ(std::get<0>(containers)[1].size(), second.size());
}

TEST(FatbinWrapper, ReportsWhatItCannotRead) {
  auto const container = read_testdata("plain.fatbin");
  EXPECT_EQ(error_of(containers_of(container.data())), "not a wrapper of a fat binary: expected the bytes b1 43 62 46");
  Wrapper const newer{.version = 3, .data = container.data()};
  EXPECT_EQ(error_of(containers_of(&newer)), "a wrapper of a fat binary of version 3; expected 1 or 2");
  Wrapper const wrong{.data = &newer};
  EXPECT_EQ(error_of(containers_of(&wrong)), "a wrapper that refers to something that is not a fat binary");
}

}}  // namespace cuda_cpu::fatbin
