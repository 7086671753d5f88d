// `testlog pack`: the TAR, its manifest, and the commands that read it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "testlog/cli/command_test_support.h"
#include "tests/support/record_to.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/record/ring/chunk_writer.h"
#include "tracing_core/record/ring/mark_site.h"
#include "tracing_core/record/ring/record_layer.h"
#include "tracing_core/tracing.h"

namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testlog::testdata::Outcome;
using testlog::testdata::run_command;
using tracing::Value;
using tracing::internal::MarkSite;

struct RecordedTest {
  std::string name;
  std::string result;  // empty: it did not end
};

// What a test program says about itself. Empty: its recording has no such mark.
struct Process {
  std::string run{}, attempt{}, revision{};
};

class Pack : public testing::Test {
 protected:
  void SetUp() override {
    if (pack({}).err.find("built without zlib") != std::string::npos) GTEST_SKIP() << "built without zlib";
  }
  // Records tests as a test program does. Each says "in SUITE.NAME".
  std::string record(std::string const& name, std::vector<RecordedTest> const& tests,
                     Process const& process = {}) const {
    static MarkSite const begin("test_begin", {"test"}), end("test_end", {"test", "result", "duration_ms"}),
        started("process", {"command", "host", "run", "attempt"}), ci("ci", {"service", "revision", "url", "job"});
    std::error_code error;
    auto region = tracing::internal::Region::make_file(folder_ / name, 1 << 20, error);
    EXPECT_FALSE(error) << error.message();
    auto store = std::make_shared<tracing::internal::RecordStore>(std::move(region));
    tracing::internal::ChunkWriter marks;
    auto const describe = [](tracing::internal::ChunkWriter& writer) { writer.describe_thread("testlog"); };
    auto const mark = [&](MarkSite const& site, std::vector<std::string> const& texts) {
      std::vector<Value> values;
      for (std::string const& text : texts) values.push_back(text.empty() ? Value() : Value::of_text(text));
      marks.write({.type = tracing::internal::RecordType::mark,
                   .metadata = &site.metadata(),
                   .values = values.data(),
                   .flags = static_cast<std::uint8_t>(tracing::Parent::Kind::root)},
                  describe);
    };
    marks.start(store->parts(), tracing::internal::kMarksTrack, getpid(), describe);
    mark(started, {"./lib_test", "builder", process.run, process.attempt});
    if (!process.revision.empty()) mark(ci, {"github", process.revision, "https://ci/7", "linux"});
    std::uint32_t tag = 0;
    tracing::with_default(
        tracing::RegistryBuilder().with(std::make_unique<tracing::internal::RecordLayer>(store)).build(), [&] {
          for (auto const& [test, result] : tests) {
            store->set_tag(++tag);
            mark(begin, {test});
            TRACE_INFO("in {}", test);
            if (!result.empty()) mark(end, {test, result, "12"});
          }
        });
    return folder_ / name;
  }
  std::string path(std::string const& name) const { return folder_ / name; }
  // Returns what `tar` says about run.tar.
  std::string tar(std::string const& options, std::string const& more = "") const {
    return testlog::testdata::run({"/bin/sh", "-c", "tar " + options + " \"$0\" " + more, path("run.tar")}).out;
  }
  Json manifest() const { return Json::parse(tar("-xOf", "manifest.json")); }
  Outcome pack(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"-o", path("run.tar")});
    return run_command("pack", arguments);
  }

  tracing_test::TemporaryFolder const folder_;
};

TEST_F(Pack, MakesATarOfAManifestAndRecordings) {
  std::string const a = record("a.rec", {{"Cache.Evicts", "passed"}}), b = record("b.rec", {{"Pool.Waits", "failed"}});
  Outcome const outcome = pack({a, b});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "testlog pack: 2 recordings of 2 tests, 1 failed; " +
                             std::to_string(std::filesystem::file_size(path("run.tar"))) + " bytes\n");
  EXPECT_EQ(tar("-tf"), "manifest.json\na.rec.gz\nb.rec.gz\n");
  EXPECT_LT(std::filesystem::file_size(path("run.tar")), 10'000u);
}

TEST_F(Pack, ListsTheTestsInTheManifest) {
  record("a.rec", {{"Cache.Evicts", "passed"}, {"Cache.\"quoted\"\xff", ""}}, {"41-7", "", "c0ffee"});
  ASSERT_EQ(pack({folder_ / ""}).exit_code, 0);
  Json made = manifest();
  for (Json& test : made["tests"]) {
    EXPECT_THAT(test["began"].get<std::string>(), testing::ContainsRegex("^20[0-9-]*T[0-9:.]*Z$"));
    test.erase("began");
  }
  EXPECT_EQ(made, Json::parse(R"({"version": 1, "run": "41-7", "host": "builder", "revision": "c0ffee",
    "ci": {"service": "github", "url": "https://ci/7", "job": "linux"},
    "tests": [
      {"name": "Cache.Evicts", "result": "passed", "attempt": 1, "attempts": 1, "file": "a.rec.gz", "duration_ms": 12},
      {"name": "Cache.\"quoted\"\ufffd", "result": "unfinished", "attempt": 1, "attempts": 1, "file": "a.rec.gz",
       "duration_ms": 0}]})"))
      << made.dump(1);
}

TEST_F(Pack, CountsAttempts) {
  record("a.attempt-1.rec", {{"Pool.Waits", "failed"}}, {"41-7", "1"});
  record("a.rec", {{"Pool.Waits", "passed"}, {"Cache.Evicts", "passed"}}, {"41-7", "2"});
  record("other.rec", {{"Cache.Fills", "failed"}}, {"99-8", "3"});
  ASSERT_EQ(pack({folder_ / ""}).exit_code, 0);
  std::vector<std::string> found;
  Json const made = manifest();
  for (Json const& test : made["tests"])
    found.push_back(test["name"].get<std::string>() + " " + test["result"].get<std::string>() + " " +
                    test["attempt"].dump() + "/" + test["attempts"].dump() + " " + test.value("run", "") +
                    test["file"].get<std::string>());
  EXPECT_THAT(found, ElementsAre("Pool.Waits failed 1/2 a.attempt-1.rec.gz", "Pool.Waits passed 2/2 a.rec.gz",
                                 "Cache.Evicts passed 2/2 a.rec.gz", "Cache.Fills failed 3/3 99-8other.rec.gz"));
}

TEST_F(Pack, IsReadByAllCommandsAsAFolder) {
  record("a.rec", {{"Cache.Evicts", "passed"}}), record("b.rec", {{"Pool.Waits", "failed"}});
  ASSERT_EQ(pack({folder_ / ""}).exit_code, 0);
  for (std::vector<std::string> const& words : std::vector<std::vector<std::string>>{{"show"},
                                                                                     {"show", "--failed"},
                                                                                     {"show", "--json"},
                                                                                     {"tree"},
                                                                                     {"slow"},
                                                                                     {"stats", "--by", "test"},
                                                                                     {"export", "--json", "-"},
                                                                                     {"export", "--folded", "-"},
                                                                                     {"export", "--perfetto", "-"},
                                                                                     {"export", "--chrome", "-"}}) {
    auto const ask = [&](std::string const& place) {
      std::vector<std::string> arguments(words.begin() + 1, words.end());
      arguments.insert(arguments.begin(), place);
      return run_command(words[0], arguments);
    };
    Outcome const of_folder = ask(folder_ / ""), of_tar = ask(path("run.tar"));
    EXPECT_EQ(of_tar.out, of_folder.out) << testing::PrintToString(words);
    EXPECT_EQ(of_tar.exit_code, of_folder.exit_code) << testing::PrintToString(words);
  }
  std::string const one = path("run.tar") + "/b.rec.gz";
  EXPECT_THAT(run_command("show", {one}).out, AllOf(HasSubstr("in Pool.Waits"), Not(HasSubstr("Cache"))));
  EXPECT_THAT(run_command("show", {path("run.tar") + "/c.rec.gz"}).err, HasSubstr("/c.rec.gz: is not in the TAR\n"));
  EXPECT_THAT(run_command("export", {path("b.rec"), "--json", path("run.tar")}).err,
              HasSubstr("the output would overwrite the recording " + path("run.tar")));
}

TEST_F(Pack, MakesOneOfSeveral) {
  std::filesystem::create_directory(folder_ / "2");
  record("a.rec", {{"Cache.Evicts", "passed"}}), record("2/a.rec", {{"Cache.Evicts", "failed"}});
  ASSERT_EQ(run_command("pack", {path("a.rec"), "-o", path("1.tar")}).exit_code, 0);
  ASSERT_EQ(run_command("pack", {path("2"), "-o", path("2.tar")}).exit_code, 0);
  ASSERT_EQ(pack({path("1.tar"), path("2.tar")}).exit_code, 0);
  EXPECT_EQ(tar("-tf"), "manifest.json\na.rec.gz\na.2.rec.gz\n");
  std::string const first = folder_.read("run.tar");
  ASSERT_EQ(run_command("pack", {path("run.tar"), "-o", path("again.tar")}).exit_code, 0);
  EXPECT_EQ(folder_.read("again.tar"), first);
}

TEST_F(Pack, SelectsRecordings) {
  record("a.rec", {{"Cache.Evicts", "passed"}}), record("b.rec", {{"Pool.Waits", "failed"}, {"Pool.Ends", "passed"}});
  ASSERT_EQ(pack({folder_ / "", "--failed"}).exit_code, 0);
  EXPECT_EQ(tar("-tf"), "manifest.json\nb.rec.gz\n");
  ASSERT_EQ(pack({folder_ / "", "--test", "Cache.*"}).exit_code, 0);
  EXPECT_EQ(tar("-tf"), "manifest.json\na.rec.gz\n");
  Outcome const outcome = pack({folder_ / "", "--test", "Nothing"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "testlog pack: no test is selected\n");
  EXPECT_EQ(tar("-tf"), "manifest.json\na.rec.gz\n");  // stays
}

TEST_F(Pack, KeepsLongNames) {
  std::string const name(200, 'n');
  record(name + ".rec", {{"Cache.Evicts", "passed"}});
  ASSERT_EQ(pack({folder_ / ""}).exit_code, 0);
  EXPECT_EQ(tar("-tf"), "manifest.json\n" + name + ".rec.gz\n");
  EXPECT_THAT(run_command("show", {path("run.tar")}).out, HasSubstr("in Cache.Evicts"));
}

TEST_F(Pack, LeavesOutWhatItCannotRead) {
  record("a.rec", {{"Cache.Evicts", "passed"}});
  folder_.write("b.rec", std::string(5000, '\0'));
  Outcome const outcome = pack({folder_ / ""});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("b.rec: has no beginning"));
  EXPECT_EQ(tar("-tf"), "manifest.json\na.rec.gz\n");
  EXPECT_EQ(pack({path("b.rec")}).exit_code, 1);
  EXPECT_EQ(pack({path("gone.rec")}).exit_code, 1);
}

TEST_F(Pack, OverwritesNoRecording) {
  std::string const a = record("a.rec", {{"Cache.Evicts", "passed"}}), b = record("b.rec", {});
  for (std::string const& output : {a, b}) {
    Outcome const outcome = run_command("pack", {a, "-o", output});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, StartsWith("testlog: pack: the output would overwrite the recording " + output));
  }
  EXPECT_THAT(run_command("pack", {a, "-o", path("no/run.tar")}).err, HasSubstr("cannot write " + path("no/run.tar")));
  EXPECT_EQ(run_command("pack", {a, "-o", "/dev/full"}).exit_code, 1);
  EXPECT_THAT(run_command("pack", {a, "-o", "-"}).out, StartsWith("manifest.json"));
}

TEST_F(Pack, IsNotReplacedByWhatIsMadeOfIt) {
  record("a.rec", {{"Cache.Evicts", "passed"}, {"Pool.Waits", "failed"}});
  ASSERT_EQ(pack({path("a.rec")}).exit_code, 0);
  std::string const before = testlog::testdata::content_of(path("run.tar"));
  for (std::string const command : {"pack", "report", "counts"}) {
    for (std::string const& input : {path("run.tar"), path("run.tar/a.rec.gz")}) {
      Outcome const outcome = run_command(command, {input, "-o", path("run.tar")});
      EXPECT_EQ(outcome.exit_code, 2) << command;
      EXPECT_THAT(outcome.err, HasSubstr(command + ": the output would overwrite the recording " + path("run.tar")));
    }
  }
  EXPECT_EQ(run_command("counts", {"-o", path("a.rec"), path("run.tar")}).exit_code, 2);
  EXPECT_EQ(testlog::testdata::content_of(path("run.tar")), before);
  EXPECT_EQ(pack({path("a.rec")}).exit_code, 0) << "a TAR that is not read may be replaced";
}

TEST_F(Pack, IsOneRunInSummariesAndOnPages) {
  for (std::string const name : {"a.1.rec", "b.1.rec"})
    record(name, {{"Cache.Evicts", "passed"}, {"Pool.Waits", "failed"}});
  ASSERT_EQ(pack({folder_ / ""}).exit_code, 0);
  EXPECT_THAT(run_command("summary", {"--run", path("run.tar")}).out, HasSubstr("testlog: 1 of 2 tests failed"));
  EXPECT_THAT(run_command("report", {path("run.tar"), "-o", path("report.html")}).err,
              HasSubstr("report.html: 1 of 2 tests failed"));
}

TEST_F(Pack, FailsEveryCommandIfItIsCutOff) {
  record("a.rec", {{"Cache.Evicts", "passed"}});
  record("b.rec", std::vector<RecordedTest>(2000, {"Pool.Waits", "failed"}));
  ASSERT_EQ(pack({folder_ / ""}).exit_code, 0);
  std::filesystem::resize_file(path("run.tar"), 4608);  // within the header of b.rec.gz
  std::vector<std::vector<std::string>> const commands{{"show"},
                                                       {"stats"},
                                                       {"tree"},
                                                       {"slow"},
                                                       {"counts"},
                                                       {"export", "--json=-"},
                                                       {"export", "--junit=-"},
                                                       {"report", "-o", path("report.html")},
                                                       {"pack", "-o", path("other.tar")},
                                                       {"summary", "--run"},
                                                       {"ci", "--as=gitlab", "--run"}};
  for (auto const& words : commands) {
    std::vector<std::string> arguments(words.begin() + 1, words.end());
    arguments.push_back(path("run.tar"));
    Outcome const outcome = run_command(words.front(), arguments);
    EXPECT_EQ(outcome.exit_code, 1) << words.front() << "\n" << outcome.out;
    EXPECT_THAT(outcome.err, HasSubstr("testlog " + words.front() + ": " + path("run.tar") + ": the TAR is cut off"));
  }
}

TEST_F(Pack, IsReadUpToADamage) {
  record("a.rec", {{"Cache.Evicts", "passed"}});
  record("b.rec", std::vector<RecordedTest>(2000, {"Pool.Waits", "failed"}));
  ASSERT_EQ(pack({folder_ / ""}).exit_code, 0);
  std::filesystem::resize_file(path("run.tar"), std::filesystem::file_size(path("run.tar")) - 2500);
  Outcome const outcome = run_command("show", {path("run.tar"), "--time=none"});
  EXPECT_THAT(outcome.out, HasSubstr("in Cache.Evicts"));
  EXPECT_THAT(outcome.err, HasSubstr("testlog show: " + path("run.tar") + ": the TAR is cut off at byte "));
  EXPECT_THAT(outcome.err, HasSubstr("run.tar/b.rec.gz: the compressed file is cut off\n"));
}

}  // namespace
