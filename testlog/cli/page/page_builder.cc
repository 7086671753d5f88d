#include "testlog/cli/page/page_builder.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testlog/cli/page/block_columns.h"
#include "testlog/cli/page/comparison.h"
#include "testlog/cli/page/page_assets.h"
#include "testlog/cli/page/page_index.h"
#include "testlog/cli/page/records_reader.h"
#include "testlog/cli/recordings.h"

namespace testlog::cli::page {
namespace {

using summary::is_failure;
using summary::TestOutcome;

constexpr std::size_t kSlowTests = 10;
constexpr std::int64_t kSlowNs = 100'000'000;  // a faster test is not called slow
constexpr std::size_t kMaxCompared = 200;      // tests that failed
constexpr std::size_t kMaxPassingRuns = 1;     // of a test, with their records
constexpr std::int64_t kMillisecond = 1'000'000;

// The records of one run of a test.
struct Stored {
  std::string file;
  std::string name{};  // of the test; empty: outside of tests
  std::optional<std::uint32_t> tag{};
  std::string packed{};
  PageAttempt* attempt = nullptr;
  PageTest* test = nullptr;
};

class Builder {
 public:
  Builder(RunTests const& tests, PageLimits const& limits) : tests_(tests), limits_(limits) {
    counts_.is_complete = tests.is_complete;
  }

  PageCounts build(PageWriter::Out out) {
    index_.title = "testlog report: " + summary::counts_of(tests_.run);
    index_.tests.reserve(tests_.sources.size());
    choose();
    for (std::size_t i = 0; i < tests_.sources.size(); ++i) add_test(i);
    for (summary::Cause const& cause : tests_.run.causes) index_.causes.push_back({text_of(cause), cause.tests});
    store_all();
    cut_longest();
    PageWriter writer(std::move(out));
    for (Stored const& stored : stored_) writer.add(stored.attempt->block, stored.packed);
    if (tests_.run.unread > 0)
      index_.notes.push_back(std::to_string(tests_.run.unread) + " recordings of tests that failed were not read.");
    writer.add("index", packed(index_.json()));
    writer.finish();
    return counts_;
  }

 private:
  TestOutcome const& outcome(std::size_t test) const { return tests_.run.tests[test]; }

  // Chooses the tests that are whole: those that failed or are flaky, and the slowest.
  void choose() {
    is_whole_.assign(tests_.sources.size(), limits_.all);
    is_slow_.assign(tests_.sources.size(), false);
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < is_whole_.size(); ++i) {
      if (is_failure(outcome(i).result) || outcome(i).is_flaky) {
        is_whole_[i] = true;
      } else if (outcome(i).result == summary::Result::passed) {
        others.push_back(i);
      }
    }
    auto const middle = others.begin() + static_cast<std::ptrdiff_t>(std::min(kSlowTests, others.size()));
    std::partial_sort(others.begin(), middle, others.end(),
                      [this](std::size_t a, std::size_t b) { return outcome(a).duration_ns > outcome(b).duration_ns; });
    for (auto at = others.begin(); at != middle; ++at) {
      is_whole_[*at] = true;
      is_slow_[*at] = outcome(*at).duration_ns >= kSlowNs;
    }
  }

  static std::string result_of(TestOutcome const& test) {
    if (test.is_flaky) return "flaky";
    if (test.result == summary::Result::unfinished) return "hung";
    return std::string(summary::name(test.result));
  }

  void add_test(std::size_t i) {
    TestOutcome const& test = outcome(i);
    PageTest& one = index_.tests.emplace_back();
    one.name = summary::name_of(test);
    one.result = result_of(test);
    one.is_slow = is_slow_[i];
    one.duration_ms = static_cast<std::uint64_t>(std::max<std::int64_t>(0, test.duration_ns / kMillisecond));
    one.how = test.message.empty() || !(is_failure(test.result) || test.is_flaky) ? test.how : test.message;
    one.place = test.file.empty() || test.how.empty() ? test.place : test.file + ":" + std::to_string(test.line);
    one.spans = test.span_path;
    one.error = test.error;
    one.command = summary::rerun_command(test);
    if (!test.directory.empty()) one.environment.emplace_back("folder", test.directory);
    if (!test.command.empty()) one.environment.emplace_back("command", test.command);
    bool const is_red = is_failure(test.result) || test.is_flaky;
    if (is_red && compared_++ < kMaxCompared) {
      Comparison comparison = compare(test.name, tests_.sources[i]);
      one.why = std::move(comparison.why);
      one.diff = std::move(comparison.diff);
      one.diff_note = std::move(comparison.note);
    }
    add_attempts(i, tests_.sources[i].attempts, one.attempts, SIZE_MAX);
    add_attempts(i, tests_.sources[i].passing, one.passing, kMaxPassingRuns);
  }

  // Returns the text of a cause. Where an assertion failed says little, so what differed, or what the assertion said,
  // comes after it.
  std::string text_of(summary::Cause const& cause) const {
    constexpr std::size_t kMaxBytes = 160;
    std::size_t const test = cause.tests.front();
    std::vector<PageDifference> const& why = index_.tests[test].why;
    std::string said = why.empty() ? outcome(test).message : why.front().text.substr(0, why.front().text.rfind(" ("));
    if (said.empty() || !outcome(test).error.empty()) return cause.text;
    return cause.text + ": " + summary::on_one_line(said, kMaxBytes);
  }

  void add_attempts(std::size_t test, std::vector<Source> const& sources, std::vector<PageAttempt>& attempts,
                    std::size_t max_whole) {
    attempts.reserve(sources.size());
    for (Source const& source : sources) {
      PageAttempt& attempt =
          attempts.emplace_back(PageAttempt{.file = source.file, .result = source.result, .began_ms = source.began_ms});
      if (!is_whole_[test] || source.file.empty() || attempts.size() > max_whole) continue;
      attempt.block = "b" + std::to_string(stored_.size());
      stored_.push_back({.file = source.file,
                         .name = outcome(test).name,
                         .tag = source.tag,
                         .attempt = &attempt,
                         .test = &index_.tests[test]});
    }
    counts_.whole += std::any_of(attempts.begin(), attempts.end(), [](auto const& one) { return !one.block.empty(); });
  }

  // Reads the recording of these blocks and makes them, with at most so many lines each.
  void store(std::vector<std::size_t> const& blocks, std::vector<std::size_t> const& max_lines) {
    auto const file = open_recording("report", stored_[blocks.front()].file);
    if (file == nullptr) {
      counts_.is_complete = false;
      for (std::size_t const i : blocks) stored_[i].attempt->block.clear();
      return;
    }
    auto const records = read_records(*file);
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      Stored& stored = stored_[blocks[k]];
      if (!stored.tag) stored.tag = find_tag(*file->recording, stored.name);
      if (!stored.tag) {  // another run has replaced the recording meanwhile
        stored.attempt->block.clear();
        continue;
      }
      Block const block = make_block(*records, *stored.tag, max_lines[k]);
      stored.packed = packed(block.bytes);
      stored.attempt->lines = block.lines;
      stored.attempt->left_out = block.left_out;
      stored.attempt->stopped = records->stopped;
      stored.attempt->sites.clear();
      for (tracing::Metadata const* const site : block.sites) stored.attempt->sites.push_back(number_of(*site));
      if (stored.attempt == stored.test->attempts.data())
        for (auto const& [name, value] : records->environment) stored.test->environment.emplace_back(name, value);
    }
  }

  std::uint32_t number_of(tracing::Metadata const& site) {
    auto const [at, is_new] = sites_.try_emplace(json_of_site(site), static_cast<std::uint32_t>(index_.sites.size()));
    if (is_new) index_.sites.push_back(at->first);
    return at->second;
  }

  using ByFile = std::map<std::string, std::vector<std::size_t>>;

  void store_all() {
    ByFile by_file;
    for (std::size_t i = 0; i < stored_.size(); ++i) by_file[stored_[i].file].push_back(i);
    Progress progress("report", by_file.size(), "recordings", false);
    for (auto const& [file, blocks] : by_file) {
      store(blocks, std::vector<std::size_t>(blocks.size(), SIZE_MAX));
      progress.step();
    }
    std::erase_if(stored_, [](Stored const& stored) { return stored.attempt->block.empty(); });
  }

  // Returns how many bytes the page has besides the records.
  std::size_t bytes_besides() const {
    constexpr std::size_t kMarkup = 1000, kForEachBlock = 60;
    return kPageScript.size() + kPageStyle.size() + packed(index_.json()).size() + kMarkup +
           kForEachBlock * stored_.size();
  }

  // Returns the size to which the longest blocks must be cut, so that all blocks are no longer than allowed.
  std::size_t longest_allowed() const {
    std::vector<std::size_t> sizes;
    for (Stored const& stored : stored_) sizes.push_back(stored.packed.size());
    std::sort(sizes.begin(), sizes.end());
    std::size_t left = limits_.max_bytes - std::min(limits_.max_bytes, bytes_besides());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::size_t const share = left / (sizes.size() - i);
      if (sizes[i] > share) return share;
      left -= sizes[i];
    }
    return SIZE_MAX;
  }

  void cut_longest() {
    constexpr int kMaxTries = 4;  // lines do not compress equally well
    for (int i = 0; i < kMaxTries; ++i) {
      std::size_t const allowed = longest_allowed();
      ByFile by_file;
      for (std::size_t k = 0; k < stored_.size(); ++k)
        if (stored_[k].packed.size() > allowed) by_file[stored_[k].file].push_back(k);
      if (by_file.empty()) break;
      for (auto const& [file, blocks] : by_file) {
        std::vector<std::size_t> max_lines;
        for (std::size_t const k : blocks) {
          double const share = static_cast<double>(allowed) / static_cast<double>(stored_[k].packed.size());
          max_lines.push_back(static_cast<std::size_t>(static_cast<double>(stored_[k].attempt->lines) * share * 0.95));
        }
        store(blocks, max_lines);
      }
    }
    for (Stored const& stored : stored_) counts_.cut += stored.attempt->left_out > 0 ? 1 : 0;
  }

  RunTests const& tests_;
  PageLimits const& limits_;
  PageCounts counts_;
  PageIndex index_;
  std::vector<bool> is_whole_, is_slow_;
  std::vector<Stored> stored_;
  std::map<std::string, std::uint32_t> sites_;  // by JSON
  std::size_t compared_ = 0;
};

}  // namespace

PageCounts build_page(RunTests const& tests, PageLimits const& limits, PageWriter::Out out) {
  return Builder(tests, limits).build(std::move(out));
}

}  // namespace testlog::cli::page
