// ClickHouse: the database, with the tables and views of clickhouse.sql.
#pragma once

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "testlog/cli/otlp/otel_test_support.h"
#include "tests/support/temporary_folder.h"

namespace testlog::cli::otlp {

/// Has its tables in a folder of its own. Each call starts a process, which takes 0.3 s.
class ClickHouse {
 public:
  ClickHouse() { (void)ask(testdata::content_of(TESTLOG_SOURCE_DIR "/testlog/cli/otlp/clickhouse.sql")); }

  /// Runs statements. Returns the rows of all of them.
  std::vector<nlohmann::json> ask(std::string const& sql) const {
    std::istringstream printed(run_script("query_clickhouse.js", {folder_ / "data", folder_.write("ask.sql", sql)}));
    std::vector<nlohmann::json> rows;
    for (std::string row; std::getline(printed, row);) rows.push_back(nlohmann::json::parse(row));
    return rows;
  }
  /// Exports the recordings in a folder and loads the lines, as docs/farm.md does it.
  void load(std::string const& recordings) const {
    testdata::Outcome const outcome = testdata::run({TESTLOG_COMMAND, "export", recordings, "--otlp",
                                                     folder_ / "spans.jsonl", "--otlp-logs", folder_ / "events.jsonl"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    (void)ask("INSERT INTO otlp_requests SELECT * FROM file('" + folder_ / "{spans,events}.jsonl" + "', JSONEachRow)");
  }
  /// The path of a file in its folder; load() leaves spans.jsonl and events.jsonl there.
  std::string file(std::string const& name) const { return folder_ / name; }

 private:
  tracing_test::TemporaryFolder folder_;
};

}  // namespace testlog::cli::otlp
