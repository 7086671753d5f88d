// Tests what programs that call init_from_env() print and write, and what the variables change.
#include "tracing_core/environment/init.h"

#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/sanitizers.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/record/recording.h"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class InitFromEnv : public testing::Test {
 protected:
  // Returns what the scenario writes to its standard error, with these variables and no others, in the folder.
  std::string run(std::string const& variables = "TRACE_TIME=none", std::string const& scenario = "plain") const {
    std::string const command = "cd " + (folder_ / ".") + " && env -i " + sanitizer_options() + variables +
                                " " INIT_SCENARIOS " '" + scenario + "' > out 2> err";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    EXPECT_EQ(folder_.read("out"), "");
    return folder_.read("err");
  }
  std::string read(std::string_view name) const { return folder_.read(name); }

  tracing_test::TemporaryFolder const folder_;

 private:
  static std::string sanitizer_options() {
    std::string all;
    for (char const* const name : {"ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"}) {
      if (char const* const value = std::getenv(name)) all.append(name).append("='").append(value).append("' ");
    }
    return all;
  }
};

constexpr char const* kInfo = " INFO request{id=7 password=\"secret\"}: library: done\n";

TEST_F(InitFromEnv, PrintsInfoWithoutVariables) { EXPECT_EQ(run(), kInfo); }

TEST_F(InitFromEnv, TakesDefaultsFromTheCode) {
  EXPECT_EQ(run("", "defaults"),
            "DEBUG request: library: preparing id=7 password=\"secret\"\n"
            " INFO request: library: done id=7 password=\"secret\"\n");
}

TEST_F(InitFromEnv, PrefersTheEnvironmentToItsProfileAndThatToTheCode) {
  EXPECT_EQ(run("TRACE_FILTER=info", "defaults"), " INFO request: library: done id=7 password=\"secret\"\n");
  EXPECT_THAT(run("TRACE_PROFILE=local", "defaults"), StartsWith("  DEBUG library: preparing\n"));
  EXPECT_EQ(run("TRACE_PROFILE=local TRACE_FORMAT=full TRACE_FILTER=info", "defaults"), kInfo);
}

TEST_F(InitFromEnv, PrintsAsTheVariablesSay) {
  EXPECT_THAT(run("TRACE_FORMAT=json"),
              AllOf(HasSubstr(R"("fields":{"message":"done"})"), HasSubstr(R"("thread":"main"})")));
  EXPECT_THAT(run("TRACE_TIME=uptime"), StartsWith("   0.0"));
  EXPECT_THAT(run("TRACE_COLOR=always"), HasSubstr("\x1b[32m INFO"));
  EXPECT_THAT(run("TRACE_TIME=none TRACE_SPAN_EVENTS=new"),
              StartsWith(" INFO request{id=7 password=\"secret\"}: library: new\n"));
  EXPECT_THAT(run("TRACE_REDACT=password"), Not(HasSubstr("secret")));
}

TEST_F(InitFromEnv, NamesOtherThreads) {
  EXPECT_EQ(run("TRACE_TIME=none", "has a worker"), std::string(kInfo) + "[worker] " + kInfo);
  EXPECT_EQ(run("TRACE_TIME=none TRACE_THREADS=off", "has a worker"), std::string(kInfo) + kInfo);
  EXPECT_EQ(run("TRACE_TIME=none TRACE_THREADS=on"), std::string("[main] ") + kInfo);
}

TEST_F(InitFromEnv, PrintsToTheOutput) {
  EXPECT_EQ(run("TRACE_TIME=none TRACE_OUTPUT=log"), "");
  EXPECT_EQ(read("log"), kInfo);
}

TEST_F(InitFromEnv, ReportsBadValuesAndUsesTheDefaults) {
  EXPECT_EQ(run("TRACE_TIME=none TRACE_FORMAT=ful TRACE_FITLER=trace"),
            std::string("testlog: TRACE_FORMAT=ful: unknown value; expected one of full, compact, pretty, json (did "
                        "you mean full?)\n"
                        "testlog: TRACE_FITLER: unknown variable; did you mean TRACE_FILTER?\n") +
                kInfo);
}

TEST_F(InitFromEnv, ReportsWrongDirectivesOfTheCode) {
  EXPECT_THAT(run("TRACE_TIME=none", "wrong default"),
              AllOf(StartsWith("testlog: init_from_env(), filter: invalid filter directive\n  info,library=debgu\n"),
                    HasSubstr(kInfo)));
}

TEST_F(InitFromEnv, ReportsDirectivesThatNearlyMatch) {
  EXPECT_THAT(run("TRACE_FILTER=libary=trace"), HasSubstr("did you mean \"library\"?"));
}

TEST_F(InitFromEnv, ExplainsDirectives) {
  EXPECT_THAT(run("TRACE_FILTER=help"), AllOf(HasSubstr("library"), HasSubstr("request")));
}

TEST_F(InitFromEnv, CompletesFilesWhenTheGuardIsDestroyedOrTheProgramExits) {
  for (char const* const scenario : {"plain", "exit", "forks"}) {
    std::string const name = std::string(scenario) + ".json";
    // LeakSanitizer reports that a forked child lacks the thread that writes the trace.
    EXPECT_EQ(run("ASAN_OPTIONS=detect_leaks=0 TRACE_TIME=none TRACE_FLAME=run.folded TRACE_CHROME=" + name, scenario),
              kInfo);
    EXPECT_THAT(nlohmann::json::parse(read(name), nullptr, false).dump(), HasSubstr("request")) << scenario;
  }
  EXPECT_THAT(read("run.folded"), HasSubstr("library::request"));
}

TEST_F(InitFromEnv, NamesFilesInFoldersAfterTheProgram) {
  run("TRACE_CHROME=traces/");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "traces/tracing_init_scenarios.json"));
}

TEST_F(InitFromEnv, RecordsInAFileOrAFolder) {
  run("TRACE_RECORD=a.rec TRACE_RECORD_LIMIT=1M");
  run("TRACE_RECORD=./");
  for (char const* const name : {"a.rec", "tracing_init_scenarios.rec"}) {
    std::string error;
    auto const recording = tracing::recording::Recording::read_file(folder_ / name, error);
    ASSERT_NE(recording, nullptr) << name << ' ' << error;
    int records = 0;
    recording->for_each([&](tracing::recording::Entry const&) { ++records; });
    EXPECT_GE(records, 4) << name;  // a span begins and ends, and there are two events in it
  }
}

TEST_F(InitFromEnv, ReportsFilesThatExist) {
  run("TRACE_CHROME=run.json");
  EXPECT_THAT(run("TRACE_CHROME=run.json"), HasSubstr("run.json already exists; writing "));
}

TEST_F(InitFromEnv, MeasuresPerfSpans) {
  EXPECT_THAT(run("TRACE_TIME=none TRACE_PERF=on"), HasSubstr("perf{name=\"copy\" bytes=64}"));
  EXPECT_THAT(run("TRACE_PERF=summary TRACE_PERF_JSON=perf.json TRACE_PERF_PROM=perf.prom"),
              HasSubstr("---- perf spans ----\n"));
  EXPECT_THAT(read("perf.json"), HasSubstr("copy"));
  EXPECT_THAT(read("perf.prom"), HasSubstr("copy"));
  for (std::string const threads : {"auto", "off"}) {
    run("TRACE_PERF=on TRACE_PERF_JSON=of_threads_" + threads + ".json TRACE_THREADS=" + threads);
    EXPECT_EQ(read("of_threads_" + threads + ".json").find("},\"thread\":\"main\"}\n") != std::string::npos,
              threads == "auto");
  }
  run("TRACE_PERF_JSON=%t.json TRACE_PERF_PROM=%t.prom");
  EXPECT_THAT(read("tracing_init_scenarios.json"), HasSubstr("performance_summary"));
  EXPECT_THAT(read("tracing_init_scenarios.prom"), HasSubstr("copy"));
}

TEST_F(InitFromEnv, PrintsOnlyJsonWithTheProfilePerformance) {
  std::string const err = run("TRACE_PROFILE=performance TRACE_FILTER=libary=off,info");
  std::vector<nlohmann::ordered_json> objects;
  std::istringstream lines(err);
  for (std::string line; std::getline(lines, line);) {
    objects.push_back(nlohmann::ordered_json::parse(line, nullptr, false));
    ASSERT_TRUE(objects.back().is_object()) << line;
  }
  ASSERT_EQ(objects.size(), 4U) << err;
  auto const names_of = [](nlohmann::ordered_json const& object) {
    std::string names;
    for (auto const& [name, value] : object.items()) names += name + " ";
    return names;
  };
  EXPECT_EQ(names_of(objects[0]), "timestamp level fields target span spans thread ");
  EXPECT_EQ(names_of(objects[0]["fields"]), "event name bytes duration_us duration_ms ");
  EXPECT_EQ(objects[0]["fields"]["event"], "performance_span_complete");
  EXPECT_EQ(objects[0]["fields"]["name"], "copy");
  EXPECT_EQ(objects[1]["fields"]["message"], "done");
  EXPECT_EQ(objects[2]["kind"], "report") << "of the directive that matched nothing";
  EXPECT_EQ(names_of(objects[3]), "timestamp level fields ");
  EXPECT_EQ(names_of(objects[3]["fields"]),
            "event name count total_us self_us min_us p50_us p95_us p99_us max_us share ");
}

TEST_F(InitFromEnv, LeavesAnEarlierSubscriberInPlaceAndSaysSo) {
  EXPECT_EQ(run("", "has a subscriber"),
            "testlog: init_from_env(): there is a subscriber already, such as that of a test program; nothing was "
            "changed\n");
}

TEST_F(InitFromEnv, DoesNotReadVariablesOfTests) { EXPECT_EQ(run("TRACE_TIME=none TRACE_SHOW=none"), kInfo); }

// ---- rights that the user lacks ----

namespace fs = std::filesystem;

// Runs a copy of the scenario as the user nobody. Returns what it wrote to its standard error, or nothing if it cannot
// be run.
class OfOtherRights : public InitFromEnv {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can make a set-user-ID program of another user";
    fs::permissions(folder_ / "", fs::perms(0755));
    fs::create_directory(folder_ / "private");
    fs::permissions(folder_ / "private", fs::perms(0770));  // root's folder
    fs::create_directory(folder_ / "public");
    fs::permissions(folder_ / "public", fs::perms(0777));
    fs::copy_file(INIT_SCENARIOS, program_);
    if (run_as_nobody("TRACE_OUTPUT=public/control") != 0 || !fs::exists(folder_ / "public/control"))
      GTEST_SKIP() << "nobody cannot run the program";
    fs::remove(folder_ / "public/control");
  }
  int run_as_nobody(std::string const& variables) const {
    constexpr int kNobody = 65534;
    std::string const command =
        "cd " + (folder_ / "") + " && exec env -i " + variables + " ./program plain 2> public/err";
    pid_t const child = fork();
    if (child == 0) {
      if (setgroups(0, nullptr) == 0 && setresgid(kNobody, kNobody, kNobody) == 0 &&
          setresuid(kNobody, kNobody, kNobody) == 0)
        execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(100);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
  }
  void expect_that_nothing_is_read() const {
    std::string const victim = folder_.write("private/file", "secret\n");
    std::string all =
        "TRACE_TIME=none TRACE_FILTER=trace TRACE_PERF=on TRACE_OUTPUT=private/file TRACE_FLAME=private/file ";
    for (char const* const variable : {"CHROME", "PERFETTO", "XPLANE", "RECORD", "PERF_JSON", "PERF_PROM"})
      all.append("TRACE_").append(variable).append("=private/").append(variable).append(" ");
    EXPECT_EQ(run_as_nobody(all), 0) << read("public/err");
    EXPECT_EQ(read("private/file"), "secret\n");
    for (auto const& entry : fs::directory_iterator(folder_ / "private")) EXPECT_EQ(entry.path().filename(), "file");
    EXPECT_THAT(read("public/err"),
                StartsWith("testlog: TRACE_TIME and other variables are ignored: the program has rights "));
    EXPECT_THAT(read("public/err"), AllOf(HasSubstr("library: done\n"), Not(HasSubstr("preparing"))));
  }

  std::string const program_ = folder_ / "program";
};

bool ignores_set_user_id(std::string const& path) {
  struct statvfs status {};
  return statvfs(path.c_str(), &status) != 0 || (status.f_flag & ST_NOSUID) != 0;
}

TEST_F(OfOtherRights, SetUserIdProgramsReadNoVariable) {
  if (ignores_set_user_id(program_)) GTEST_SKIP() << "the file system has no set-user-ID programs";
  fs::permissions(program_, fs::perms(04755));
  expect_that_nothing_is_read();
}

TEST_F(OfOtherRights, SetGroupIdProgramsReadNoVariable) {
  if (TESTLOG_ASAN != 0) GTEST_SKIP() << "LeakSanitizer does not work in a program that may not be traced";
  if (ignores_set_user_id(program_)) GTEST_SKIP() << "the file system has no set-group-ID programs";
  fs::permissions(program_, fs::perms(02755));
  expect_that_nothing_is_read();
}

TEST_F(OfOtherRights, ProgramsWithCapabilitiesReadNoVariable) {
  vfs_cap_data capabilities{};
  capabilities.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE;
  capabilities.data[0].permitted = 1u << CAP_DAC_OVERRIDE;
  constexpr std::size_t kSize = XATTR_CAPS_SZ_2;
  if (ignores_set_user_id(program_) || setxattr(program_.c_str(), "security.capability", &capabilities, kSize, 0) != 0)
    GTEST_SKIP() << "the file system has no capabilities";
  expect_that_nothing_is_read();
}

}  // namespace
