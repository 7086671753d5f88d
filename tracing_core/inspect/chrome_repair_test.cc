#include "tracing_core/inspect/chrome_repair.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tests/support/temporary_folder.h"

namespace tracing { namespace {

using Json = nlohmann::json;

struct Repaired {
  ChromeRepair found;
  std::string text;
};

Repaired repair(std::string_view text) {
  tracing_test::TemporaryFolder const folder;
  int const file = open(folder.write("trace.json", text).c_str(), O_RDONLY | O_CLOEXEC);
  Repaired repaired;
  EXPECT_FALSE(repair_chrome(file, repaired.found, [&repaired](std::string_view piece) { repaired.text += piece; }));
  close(file);
  EXPECT_TRUE(!repaired.found.is_list || Json::accept(repaired.text)) << repaired.text;
  return repaired;
}

constexpr std::string_view kFirst =
    R"({"args":{"a":[1,-2.5e+3,true,null,"{\"\\\u00ff]"]},"name":"x","ph":"B","ts":1.250})";
constexpr std::string_view kSecond = R"({"name":"x","ph":"E","ts":2.000})";

TEST(ChromeRepair, KeepsACompleteTrace) {
  std::string const complete = "[\n" + std::string(kFirst) + ",\n" + std::string(kSecond) + "\n]\n";
  Repaired const repaired = repair(complete);
  EXPECT_EQ(repaired.text, complete);
  EXPECT_TRUE(repaired.found.was_closed);
  EXPECT_EQ(repaired.found.left_out, 0U);
  EXPECT_EQ(repaired.found.records, 2U);
}

TEST(ChromeRepair, JoinsListsAndMakesAnEmptyOne) {
  std::string const one = "[\n" + std::string(kFirst) + "\n]\n";
  EXPECT_EQ(repair(one + one).text, "[\n" + std::string(kFirst) + ",\n" + std::string(kFirst) + "\n]\n");
  for (char const* const text : {"", "[]", "[\n\n]", "[\n"}) EXPECT_EQ(repair(text).text, "[\n]\n");
}

TEST(ChromeRepair, ClosesAList) {
  std::string const text = "[\n" + std::string(kFirst) + ",\n    " + std::string(kSecond);
  Repaired const repaired = repair(text);
  EXPECT_EQ(repaired.text, "[\n" + std::string(kFirst) + ",\n" + std::string(kSecond) + "\n]\n");
  EXPECT_EQ(repaired.found.left_out, 0U);
  EXPECT_FALSE(repaired.found.was_closed);
}

TEST(ChromeRepair, KeepsAllCompleteRecordsWhereverTheTextBreaksOff) {
  std::string const complete =
      "[\n" + std::string(kFirst) + ",\n" + std::string(kSecond) + ",\n" + std::string(kFirst) + "\n]\n";
  for (std::size_t size = 1; size < complete.size(); ++size) {
    Repaired const repaired = repair(complete.substr(0, size));
    std::size_t const expected = (size >= 2 + kFirst.size()) + (size >= 4 + kFirst.size() + kSecond.size()) +
                                 (size >= 6 + 2 * kFirst.size() + kSecond.size());
    EXPECT_EQ(repaired.found.records, expected) << size;
    EXPECT_EQ(Json::parse(repaired.text).size(), expected);
  }
}

TEST(ChromeRepair, FindsTheNextRecordAfterABrokenOne) {
  for (std::size_t size = 1; size < kFirst.size(); ++size) {
    Repaired const repaired =
        repair("[\n" + std::string(kFirst.substr(0, size)) + ",\n" + std::string(kSecond) + "\n]\n");
    EXPECT_EQ(repaired.text, "[\n" + std::string(kSecond) + "\n]\n") << kFirst.substr(0, size);
    EXPECT_EQ(repaired.found.left_out, 1U);
  }
}

TEST(ChromeRepair, LeavesOutOtherText) {
  Repaired const repaired = repair("[\nnoise\n" + std::string(kFirst) + "\n" + std::string(100, '\0') + "\n{\"a\n" +
                                   std::string(kSecond) + "] ");
  EXPECT_EQ(repaired.text, "[\n" + std::string(kFirst) + ",\n" + std::string(kSecond) + "\n]\n");
  EXPECT_TRUE(repaired.found.was_closed);
  EXPECT_EQ(repaired.found.left_out, 3U);
  EXPECT_EQ(repaired.found.bytes_left_out, 5U + 100U + 3U);
}

TEST(ChromeRepair, WritesNothingIfThereIsNoList) {
  for (char const* const text : {"{\"traceEvents\":[]}", "main;load 12\n"}) {
    Repaired const repaired = repair(text);
    EXPECT_FALSE(repaired.found.is_list);
    EXPECT_EQ(repaired.text, "");
  }
}

TEST(ChromeRepair, WritesLongTracesInBlocks) {
  std::string text = "[\n" + std::string(kFirst);
  while (text.size() < 2'000'000) text.append(",\n").append(kSecond);
  text.append(",\n{\"long\":\"").append(1 << 20, 'x').append("\"}");
  Repaired const repaired = repair(text);
  EXPECT_EQ(repaired.text, text + "\n]\n");
}

TEST(ChromeRepair, ReportsWhyReadingStopped) {
  ChromeRepair found;
  int const folder = open("/", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(repair_chrome(folder, found, [](std::string_view) {}).value(), EISDIR);
  close(folder);
}

}}  // namespace tracing
