#include "tracing_core/inspect/chrome_repair.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace tracing {
namespace {

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

constexpr std::string_view kFirst = R"({"args":{"a":[1,-2.5e+3,true,null,"{\"\\\u00ff]"]},"name":"x","ph":"B","ts":1.250})";
constexpr std::string_view kSecond = R"({"name":"x","ph":"E","ts":2.000})";

TEST(ChromeRepair, LeavesAWholeTraceAsItIs) {
  std::string const whole = "[\n" + std::string(kFirst) + ",\n" + std::string(kSecond) + "\n]\n";
  Repaired const repaired = repair(whole);
  EXPECT_EQ(repaired.text, whole);
  EXPECT_TRUE(repaired.found.was_whole());
  EXPECT_EQ(repaired.found.records, 2U);
}

TEST(ChromeRepair, TakesAnEmptyList) {
  for (char const* const text : {"[]", "[\n\n]", "[\n"}) EXPECT_EQ(repair(text).text, "[\n]\n");
  EXPECT_TRUE(repair("[]").found.was_whole());
  EXPECT_FALSE(repair("[").found.was_whole());
}

TEST(ChromeRepair, ClosesWhatAKilledProcessLeft) {
  std::string const text = "[\n" + std::string(kFirst) + ",\n    " + std::string(kSecond);
  Repaired const repaired = repair(text);
  EXPECT_EQ(repaired.text, "[\n" + std::string(kFirst) + ",\n" + std::string(kSecond) + "\n]\n");
  EXPECT_EQ(repaired.found.left_out, 0U);
  EXPECT_FALSE(repaired.found.was_closed);
}

TEST(ChromeRepair, KeepsAllWholeRecordsWhereverTheTextBreaksOff) {
  std::string const whole = "[\n" + std::string(kFirst) + ",\n" + std::string(kSecond) + ",\n" + std::string(kFirst) + "\n]\n";
  for (std::size_t size = 1; size < whole.size(); ++size) {
    Repaired const repaired = repair(whole.substr(0, size));
    std::size_t const expected = (size >= 2 + kFirst.size()) + (size >= 4 + kFirst.size() + kSecond.size()) +
                                 (size >= 6 + 2 * kFirst.size() + kSecond.size());
    EXPECT_EQ(repaired.found.records, expected) << size;
    EXPECT_EQ(Json::parse(repaired.text).size(), expected);
  }
}

TEST(ChromeRepair, FindsTheNextRecordBehindABrokenOne) {
  for (std::size_t size = 1; size < kFirst.size(); ++size) {
    Repaired const repaired = repair("[\n" + std::string(kFirst.substr(0, size)) + ",\n" + std::string(kSecond) + "\n]\n");
    EXPECT_EQ(repaired.text, "[\n" + std::string(kSecond) + "\n]\n") << kFirst.substr(0, size);
    EXPECT_EQ(repaired.found.left_out, 1U);
  }
}

TEST(ChromeRepair, LeavesOutWhatIsNoRecord) {
  Repaired const repaired = repair("[\nnoise " + std::string(kFirst) + std::string(100, '\0') +
                                   "{\"a\":01}\n{\"\xff\":1}, {\"b\":tru}" + std::string(kSecond) + "] ");
  EXPECT_EQ(repaired.text, "[\n" + std::string(kFirst) + ",\n" + std::string(kSecond) + "\n]\n");
  EXPECT_TRUE(repaired.found.was_closed);
  EXPECT_GT(repaired.found.left_out, 3U);
  EXPECT_GT(repaired.found.bytes_left_out, 120U);
}

TEST(ChromeRepair, MakesOneOfSeveralLists) {
  std::string const one = "[\n" + std::string(kFirst) + "\n]\n";
  Repaired const repaired = repair(one + one);
  EXPECT_EQ(repaired.text, "[\n" + std::string(kFirst) + ",\n" + std::string(kFirst) + "\n]\n");
  EXPECT_EQ(repaired.found.put_right, 1U);
}

TEST(ChromeRepair, CountsCommasAndBracketsThatItPutsRight) {
  for (auto const& [text, put_right] : std::vector<std::pair<char const*, std::uint64_t>>{
           {"[{},]", 1}, {"[,{}]", 1}, {"[{} {}]", 1}, {"[{},,,{}]", 2}, {"[{}]]", 1}, {"[{}],", 1}, {"[[{}]]", 2},
           {"[{}]{}", 1}, {"[{},\n", 0}, {"[{}", 0}, {"[{},x,{}]", 0}, {" [ {} , {} ] ", 0}}) {
    EXPECT_EQ(repair(text).found.put_right, put_right) << text;
  }
}

// A list of objects is whole, and nothing else that these pieces can make.
TEST(ChromeRepair, KnowsWhatIsStrictJson) {
  std::vector<std::string> texts{"["};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::string const text = texts[i];
    Json const list = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    bool const is_whole = list.is_array() && std::all_of(list.begin(), list.end(), [](Json const& j) { return j.is_object(); });
    EXPECT_EQ(repair(text).found.was_whole(), is_whole) << text;
    if (texts.size() > 4000) continue;  // all of five pieces are there
    for (char const* const piece : {"[", "]", ",", "{\"a\":1}", "x"}) texts.push_back(text + piece);
  }
}

TEST(ChromeRepair, MakesAnEmptyListOfNothing) {
  Repaired const repaired = repair("");
  EXPECT_EQ(repaired.text, "[\n]\n");
  EXPECT_TRUE(repaired.found.was_empty);
  EXPECT_FALSE(repaired.found.was_whole());
  EXPECT_FALSE(repair("[]").found.was_empty);
}

TEST(ChromeRepair, WritesNothingWhereThereIsNoList) {
  for (char const* const text : {"  ", "{\"traceEvents\":[]}", "main;load 12\n"}) {
    Repaired const repaired = repair(text);
    EXPECT_FALSE(repaired.found.is_list);
    EXPECT_EQ(repaired.text, "");
  }
}

TEST(ChromeRepair, PassesLongTracesOnInBlocks) {
  std::string text = "[\n" + std::string(kFirst);
  while (text.size() < 2'000'000) text.append(",\n").append(kSecond);
  text.append(",\n{\"long\":\"").append(1 << 20, 'x').append("\"}");
  Repaired const repaired = repair(text);
  EXPECT_EQ(repaired.text, text + "\n]\n");
}

TEST(ChromeRepair, SaysWhyReadingStopped) {
  ChromeRepair found;
  int const folder = open("/", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(repair_chrome(folder, found, [](std::string_view) {}).value(), EISDIR);
  close(folder);
}

}  // namespace
}  // namespace tracing
