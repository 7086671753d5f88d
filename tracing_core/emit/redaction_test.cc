// Tests which values redact() hides, and in which outputs.
#include "tracing_core/model/redaction.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/printed.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/export/chrome.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/model/describe.h"
#include "tracing_core/tracing.h"

namespace redaction_test {

struct User {
  std::string name = "ada";
  std::string password = "hunter2";
  std::vector<int> digits{1, 2};
};
TRACE_FIELDS(User, name, password, digits)

struct Group {
  User first;
  std::vector<User> others{User{}, User{}};
  std::map<std::string, std::map<std::string, std::string>> headers{{"get", {{"accept", "all"}, {"token", "hunter2"}}}};
};
TRACE_FIELDS(Group, first, others, headers)

std::string decrypt(std::string const& text) { return "decrypted " + text; }

class Redact : public testing::Test {
 protected:
  ~Redact() override { tracing::redact(""); }

  template <class F>
  static std::string line(F emit, tracing::FormatKind kind = tracing::FormatKind::full) {
    tracing::PrintOptions options;
    options.format.kind = kind;
    options.format.target = false;
    options.format.level = false;
    options.format.timer = nullptr;
    return tracing_test::printed(std::move(options), emit);
  }

  std::string const password = "hunter2";
  User const user{};
};

TEST_F(Redact, HidesNothingByDefault) {
  EXPECT_EQ(line([&] { TRACE_INFO("for {}", user.name, password); }), "for ada password=\"hunter2\"\n");
}
TEST_F(Redact, HidesFieldsOfEvents) {
  tracing::redact("password");
  EXPECT_EQ(line([&] { TRACE_INFO("login", password, user.name); }),
            "login password=***REDACTED*** user.name=\"ada\"\n");
  EXPECT_EQ(line([&] { TRACE_INFO("login", tracing::kv("password", 7), tracing::kv("n", 7)); }),
            "login password=***REDACTED*** n=7\n");
}
TEST_F(Redact, HidesMembersWhoseNamesEndWithAnUnderscore) {
  struct Session {
    std::string password_ = "hunter2";
    std::string token = "of";
    TRACE_FIELDS(Session, password_)
    void open() const { TRACE_INFO("for {}", password_, token, tracing::kv("secret_", 7)); }
  } const session;
  EXPECT_EQ(line([&] { session.open(); }), "for hunter2 token=\"of\" secret_=7\n");
  tracing::redact("password,token_,secret");
  EXPECT_EQ(line([&] { session.open(); }), "for ***REDACTED*** token=***REDACTED*** secret_=***REDACTED***\n");
  EXPECT_EQ(line([&] { TRACE_INFO("it is {}", session); }), "it is Session { password: ***REDACTED*** }\n");
}
TEST_F(Redact, HidesFieldsOfSpans) {
  tracing::redact("password,n");
  EXPECT_EQ(line([&] {
              TRACE_SPAN(info, "login", password, tracing::kv("m", 1));
              TRACE_SPAN(info, "numbers", tracing::kv("n", 2), tracing::kv("m", 3));
              TRACE_INFO("in");
            }),
            "login{password=***REDACTED*** m=1}:numbers{n=***REDACTED*** m=3}: in\n");
}
TEST_F(Redact, HidesValuesRecordedLater) {
  tracing::redact("status");
  EXPECT_EQ(line([&] {
              auto const span = TRACE_MAKE_SPAN(info, "request", tracing::kv("status", tracing::empty));
              span.record(tracing::kv("status", 200));
              auto const entered = span.enter();
              TRACE_INFO("in");
            }),
            "request{status=***REDACTED***}: in\n");
}
TEST_F(Redact, PrintsNoTokenForAnAbsentValue) {
  tracing::redact("status");
  std::optional<int> const status;
  EXPECT_EQ(line([&] { TRACE_INFO("in", status); }), "in\n");
}
TEST_F(Redact, HidesArgumentsOfAMessage) {
  tracing::redact("password");
  User const* const p = &user;
  EXPECT_EQ(line([&] { TRACE_INFO("{} for {}", password, user.name); }), "***REDACTED*** for ada\n");
  EXPECT_EQ(line([&] { TRACE_INFO("{1:>9} for {0}", user.name, password); }), "***REDACTED*** for ada\n");
  EXPECT_EQ(line([&] { TRACE_INFO("{password} twice", password); }), "***REDACTED*** twice password=***REDACTED***\n");
  EXPECT_EQ(line([&] { TRACE_INFO("{} {} {}", user.password, p->password, this->password); }),
            "***REDACTED*** ***REDACTED*** ***REDACTED***\n");
  EXPECT_EQ(line([&] { TRACE_INFO("{}", decrypt(password)); }), "decrypted hunter2\n");
}
TEST_F(Redact, ComparesNamesExactly) {
  tracing::redact(" password ,, api.key,kernel name");
  EXPECT_EQ(line([&] {
              TRACE_INFO("in", tracing::kv("api.key", 1), tracing::kv("my.api.key", 2), tracing::kv("kernel name", 3));
            }),
            "in api.key=***REDACTED*** my.api.key=***REDACTED*** kernel name=***REDACTED***\n");
  EXPECT_EQ(line([&] {
              TRACE_INFO("in", tracing::kv("Password", 1), tracing::kv("key", 2), tracing::kv("api.keys", 3),
                         tracing::kv("api.key.size", 4), tracing::kv("old_password", 5));
            }),
            "in Password=1 key=2 api.keys=3 api.key.size=4 old_password=5\n");
}
TEST_F(Redact, HidesMembersAndMapEntriesAtAnyDepth) {
  tracing::redact("password,token,digits");
  EXPECT_EQ(line([&] { TRACE_INFO("{}", user, tracing::kv("u", user)); }),
            "User { name: \"ada\", password: ***REDACTED***, digits: ***REDACTED*** } "
            "u=User { name: \"ada\", password: ***REDACTED***, digits: ***REDACTED*** }\n");
  Group const group;
  std::string const text = line([&] { TRACE_INFO("in", group, tracing::kv("deep", tracing::pretty(group))); });
  EXPECT_EQ(text.find("hunter2"), text.npos) << text;
  EXPECT_NE(text.find("headers: {\"get\": {\"accept\": \"all\", \"token\": ***REDACTED***}} }"), text.npos) << text;
  EXPECT_NE(text.find("\n            \"accept\": \"all\",\n            \"token\": ***REDACTED***,\n        },\n"),
            text.npos)
      << text;
}
TEST_F(Redact, HidesTheSecondOfAPairWhoseFirstIsAName) {
  tracing::redact("token,authorization");
  using Header = std::pair<std::string, std::string>;
  Header const header("token", "hunter2");
  std::vector<std::pair<std::string_view, std::string>> const headers{
      {"accept", "all"}, {"authorization", "hunter2"}, {"host", "a"}};
  EXPECT_EQ(line([&] { TRACE_INFO("{}", header, headers); }),
            "(\"token\", ***REDACTED***) headers=[(\"accept\", \"all\"), (\"authorization\", ***REDACTED***), "
            "(\"host\", \"a\")]\n");
  std::tuple<char const*, std::vector<Header>> const nested("in", {header, {"n", "token"}});
  EXPECT_EQ(line([&] { TRACE_INFO("in", nested); }),
            "in nested=(\"in\", [(\"token\", ***REDACTED***), (\"n\", \"token\")])\n");
  std::pair<std::string, std::vector<int>> const structure("token", {1, 2});
  EXPECT_EQ(line([&] { TRACE_INFO("in", structure, tracing::kv("n", 1)); }),
            "in structure=(\"token\", ***REDACTED***) n=1\n");
  EXPECT_EQ(line([&] { TRACE_INFO("{}", tracing::pretty(header)); }), "(\n    \"token\",\n    ***REDACTED***,\n)\n");
  std::tuple<std::string, int, int> const three("token", 1, 2);
  EXPECT_EQ(line([&] { TRACE_INFO("in", three); }), "in three=(\"token\", 1, 2)\n");
  EXPECT_EQ(line([&] { TRACE_INFO("in", headers); }, tracing::FormatKind::json).find("hunter2"), std::string::npos);
}
TEST_F(Redact, HidesEntireStructures) {
  tracing::redact("others,first");
  EXPECT_EQ(line([&] { TRACE_INFO("in", tracing::kv("g", Group{})); }),
            "in g=Group { first: ***REDACTED***, others: ***REDACTED***, "
            "headers: {\"get\": {\"accept\": \"all\", \"token\": \"hunter2\"}} }\n");
}
TEST_F(Redact, HidesInEveryOutput) {
  tracing::redact("password,token");
  auto const emit = [&] {
    TRACE_SPAN(info, "span", password, user);
    TRACE_INFO("{} in {}", password, Group{}, tracing::kv("password", std::array{1, 2}), tracing::kv("u", user));
  };
  std::vector<std::string> outputs;
  for (auto const kind : {tracing::FormatKind::full, tracing::FormatKind::compact, tracing::FormatKind::pretty,
                          tracing::FormatKind::json}) {
    outputs.push_back(line(emit, kind));
  }
  std::string& trace = outputs.emplace_back();
  {
    auto [layer, guard] = tracing::chrome_layer(
        {.sink = tracing::make_sink([&](tracing::Level, std::string_view block) { trace += block; })});
    tracing::with_default(tracing::RegistryBuilder().with(std::move(layer)).build(), emit);
  }
  for (std::string const& output : outputs) {
    EXPECT_EQ(output.find("hunter2"), output.npos) << output;
    EXPECT_NE(output.find("***REDACTED***"), output.npos) << output;
  }
}
TEST_F(Redact, PrintsTheGivenToken) {
  tracing::redact("password", "<hidden \"so\">");
  EXPECT_EQ(line([&] { TRACE_INFO("in", password); }), "in password=<hidden \"so\">\n");
  std::string const json = line([&] { TRACE_INFO("in", password); }, tracing::FormatKind::json);
  EXPECT_NE(json.find("\"password\":\"<hidden \\\"so\\\">\""), json.npos) << json;
}
TEST_F(Redact, HidesFieldsOfARuntimeCallsite) {
  tracing::redact("password");
  tracing::RuntimeCallsite const site({.name = "event", .target = "t", .fields = {"message", "password"}});
  tracing::Value const values[] = {tracing::Value::of_verbatim("in"), tracing::Value::of_text("hunter2")};
  EXPECT_EQ(line([&] { tracing::emit_event(site.callsite(), values); }), "in password=***REDACTED***\n");
}
TEST_F(Redact, HidesFromFilters) {
  tracing::redact("password");
  std::string text;
  tracing::PrintOptions options;
  options.writer = tracing::to_sink(tracing::make_sink([&](tracing::Level, std::string_view line) { text += line; }));
  auto layer = tracing::print_layer(std::move(options));
  auto filter = std::make_unique<tracing::EnvFilter>("[s{password=\"hunter2\"}]=info");
  tracing::with_default(tracing::RegistryBuilder().with(std::move(layer), std::move(filter)).build(), [&] {
    TRACE_SPAN(info, "s", password);
    TRACE_INFO("in");
  });
  EXPECT_EQ(text, "");
}
TEST_F(Redact, CanChangeWhileOtherThreadsEmit) {
  std::atomic<bool> done{false};
  std::thread changes([&] {
    for (int i = 0; i < 100; ++i) tracing::redact(i % 2 == 0 ? "password" : "token", std::to_string(i));
    done = true;
  });
  while (!done) EXPECT_NE(line([&] { TRACE_INFO("in", user, password); }), "");
  changes.join();
}

}  // namespace redaction_test
