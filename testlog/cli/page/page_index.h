// PageIndex: what the page of `testlog report` knows of every test without opening its block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace testlog::cli::page {

/// A recorded attempt of a test, or a passing run that it is compared with.
struct PageAttempt {
  std::string file{};
  std::string result{};       ///< failed, passed, skipped, or `did not end`
  std::string block{};        ///< the id of its block; empty: only the index has it
  std::int64_t began_ms = 0;  ///< since 1970
  std::size_t lines = 0, left_out = 0;
  std::string stopped{};               ///< why lines are missing at the end
  std::vector<std::uint32_t> sites{};  ///< indices of PageIndex::sites
};

/// A difference from runs that passed.
struct PageDifference {
  std::string text;  ///< a line of testlog why
  std::string file{};
  std::uint32_t line = 0;  ///< of the statement that recorded it
  std::string thread{};
  std::int64_t before_failure_ns = 0;
};

struct PageTest {
  std::string name;
  std::string result;  ///< failed, crashed, hung, flaky, passed or skipped
  bool is_slow = false;
  std::uint64_t duration_ms = 0;
  std::string how, place, spans, error;  ///< of its failure
  std::vector<PageDifference> why;
  std::vector<std::array<std::string, 3>> diff;  ///< mark, failing run, passing run, see Comparison
  std::string diff_note;
  std::string command;  ///< runs it again
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<PageAttempt> attempts;  ///< the newest first
  std::vector<PageAttempt> passing;   ///< the newest first
};

struct PageCause {
  std::string text;
  std::vector<std::size_t> tests;  ///< indices
};

struct PageIndex {
  std::string title;
  std::vector<PageTest> tests;
  std::vector<PageCause> causes;
  std::vector<std::string> notes;
  std::vector<std::string> sites;  ///< the statements of blocks, as JSON

  std::string json() const;
};

}  // namespace testlog::cli::page
