// What `testlog repair` makes of the traces of processes that were killed while they wrote records of many pages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "testlog/cli/command_test_support.h"
#include "testlog/testdata/run.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/export/chrome.h"
#include "tracing_core/tracing.h"

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testlog::testdata::Outcome;
using testlog::testdata::run_command;
using tracing_test::TemporaryFolder;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kTurns = 3;
#else
constexpr int kTurns = 20;
#endif

constexpr std::size_t kLeastOfValue = 5 * 1024;
constexpr std::size_t kMostOfValue = 1024 * 1024;

struct Way {
  char const* name;
  tracing::ChromeOptions (*options)();
  friend std::ostream& operator<<(std::ostream& out, Way const& way) { return out << way.name; }
};

class KilledTraces : public testing::TestWithParam<Way> {
 protected:
  // A process of its own records until it is killed, which is some time after the file has so many bytes.
  void record_until_killed(std::string const& path, std::uintmax_t bytes, std::chrono::microseconds more) const;

  TemporaryFolder const folder_;
};

// Random text between the least and the greatest size, of what JSON escapes and what looks like the end and the beginning of
// records.
void record_long_texts(unsigned seed) {
  std::mt19937 random(seed);
  std::string all;
  while (all.size() < kMostOfValue) all.append("\"},\n{\"ph\":\"B\"}]\xE2\x82\xAC\\").append(random() % 3000, 'x');
  std::uniform_real_distribution<> octaves(0, std::log2(double(kMostOfValue) / kLeastOfValue));
  for (int i = 0;; ++i) {
    std::string_view const text(all.data(), static_cast<std::size_t>(kLeastOfValue * std::exp2(octaves(random))));
    TRACE_SPAN(info, "span", i, text);
    TRACE_INFO("event", i, text);
    TRACE_INFO("a short one", i);
  }
}

void KilledTraces::record_until_killed(std::string const& path, std::uintmax_t bytes, std::chrono::microseconds more) const {
  pid_t const child = fork();
  if (child == 0) {
    alarm(60);
    tracing::ChromeOptions options = GetParam().options();
    options.path = path;
    auto made = tracing::chrome_layer(std::move(options));
    auto const registry = tracing::RegistryBuilder().with(std::move(made.first)).build();
    auto const work = [&registry](unsigned seed) { tracing::with_default(registry, [seed] { record_long_texts(seed); }); };
    std::thread(work, 1).detach();
    work(2);
  }
  auto const deadline = std::chrono::steady_clock::now() + 10s;
  std::error_code error;
  for (auto size = fs::file_size(path, error); error || size < bytes; size = fs::file_size(path, error)) {
    if (std::chrono::steady_clock::now() > deadline) break;
    std::this_thread::sleep_for(50us);
  }
  std::this_thread::sleep_for(more);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

// What a trace is that broke off: texts in JSON have no line ends, so each line is a record, but for the first.
struct Found {
  std::vector<std::string> records;
  std::string broken;  // the last one, where it is not whole
  std::string wrong;   // what is anything else
};

Found read_broken_off(std::string_view text) {
  Found found;
  if (!text.starts_with("[\n")) found.wrong = "it begins with " + std::string(text.substr(0, 20));
  text.remove_prefix(std::min<std::size_t>(text.size(), 2));
  while (!text.empty()) {
    std::size_t const end = text.find('\n');
    bool const is_last = end == text.npos;
    std::string_view const line = text.substr(0, end);
    text.remove_prefix(is_last ? text.size() : end + 1);
    // Behind a record may be blanks, and the comma that was written with what follows.
    std::string_view const record = line.substr(0, line.find_last_not_of(" ,") + 1);
    if (nlohmann::json::accept(record)) {
      found.records.emplace_back(record);
    } else if (!line.empty()) {
      (is_last ? found.broken : found.wrong) = line;
    }
  }
  return found;
}

// The command's part: strict JSON of all whole records, byte for byte, and word of the one that it left out.
void expect_repaired(TemporaryFolder const& folder, std::string const& name, Found const& found) {
  std::string whole = "[\n";
  for (std::string const& record : found.records) whole.append(whole.size() > 2 ? ",\n" : "").append(record);
  whole += found.records.empty() ? "]\n" : "\n]\n";
  std::string said =
      "testlog repair: " + std::to_string(found.records.size()) + " record" + (found.records.size() == 1 ? "" : "s");
  if (!found.broken.empty()) {
    said += "; left out 1 piece of " + std::to_string(found.broken.size()) + " byte" + (found.broken.size() == 1 ? "" : "s");
  }
  Outcome const outcome = run_command("repair", {folder / name, "-o", folder / "whole.json"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, said + "; it was not closed\n");
  std::string const repaired = folder.read("whole.json");
  EXPECT_TRUE(nlohmann::json::accept(repaired));
  EXPECT_TRUE(repaired == whole) << repaired.size() << " bytes instead of " << whole.size();
}

TEST_P(KilledTraces, AreWholeButForTheLastRecordAndRepairedWithoutIt) {
  std::mt19937 random(20261122);
  std::size_t most = 0;
  int broken = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    record_until_killed(folder_ / "trace.json", random() % (2 << 20), std::chrono::microseconds(random() % 2000));
    std::string text = folder_.read("trace.json");
    Found found = read_broken_off(text);
    ASSERT_EQ(found.wrong.substr(0, 200), "") << "in turn " << turn;
    if (text.size() >= 2) expect_repaired(folder_, "trace.json", found);
    most = std::max(most, found.records.size());
    broken += !found.broken.empty();
    // A system that lets a killed process end what it writes breaks nothing off: so it is done here.
    text.resize(2 + random() % (std::max<std::size_t>(text.size(), 3) - 2));
    folder_.write("broken_off.json", text);
    found = read_broken_off(text);
    ASSERT_EQ(found.wrong.substr(0, 200), "");
    expect_repaired(folder_, "broken_off.json", found);
    ASSERT_FALSE(HasFailure()) << "in turn " << turn;
    fs::remove(folder_ / "trace.json");
  }
  EXPECT_GT(most, kTurns > 10 ? 5U : 0U);
  RecordProperty("broken", broken);
}

INSTANTIATE_TEST_SUITE_P(
    All, KilledTraces,
    testing::Values(Way{"by_a_thread", [] { return tracing::ChromeOptions{}; }},
                    Way{"written_through", [] { return tracing::ChromeOptions{.write_through = true}; }},
                    Way{"as_tracing_chrome",
                        [] { return tracing::ChromeOptions{.include_args = true, .as_tracing_chrome = true}; }}),
    [](auto const& way) { return std::string(way.param.name); });

}  // namespace
