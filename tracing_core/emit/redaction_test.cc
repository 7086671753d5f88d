// What redact() hides, and where.
#include "tracing_core/model/redaction.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
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
  std::map<std::string, std::string> headers{{"Accept", "all"}, {"Token", "hunter2"}};
};
TRACE_FIELDS(Group, first, others, headers)

struct Key {
  std::string password;
  int id;
  auto operator<=>(Key const&) const = default;
};
TRACE_FIELDS(Key, password, id)

// Maps whose keys have a name in them, not at their end.
struct CompositeKeys {
  std::map<std::pair<std::string, int>, std::string> pairs{{{"password", 1}, "hunter2"}, {{"other", 2}, "shown"}};
  std::map<std::vector<std::string>, std::string> lists{{{"a", "password", "b"}, "hunter2"}, {{"b", "password"}, "hunter2"}};
  std::map<Key, std::vector<std::string>> structs{{{"x", 1}, {"hunter2", "hunter2"}}};
  std::map<std::map<std::string, int>, std::string> maps{{{{"password", 1}, {"z", 2}}, "hunter2"}};
  std::map<std::string, std::map<std::vector<std::string>, std::string>> deep{{"a", {{{"password", "b"}, "hunter2"}}}};
};
TRACE_FIELDS(CompositeKeys, pairs, lists, structs, maps, deep)

// Prints the name that it was given and hides nothing itself.
std::string decrypt(std::string const& password) { return "decrypted " + password; }

class Redact : public testing::Test {
 protected:
  ~Redact() override { tracing::redact(""); }

  template <class F>
  static std::string line(F emit) {
    tracing::PrintOptions options;
    options.format.kind = kind;
    options.format.target = false;
    options.format.level = false;
    options.format.timer = nullptr;
    return tracing_test::printed(std::move(options), emit);
  }
  static inline tracing::FormatKind kind = tracing::FormatKind::full;

  std::string const password = "hunter2";
  User const user{};
};

TEST_F(Redact, HidesNothingByItself) {
  EXPECT_EQ(line([&] { TRACE_INFO("for {}", user.name, password); }), "for ada password=\"hunter2\"\n");
}
TEST_F(Redact, HidesFieldsOfEvents) {
  tracing::redact("password");
  EXPECT_EQ(line([&] { TRACE_INFO("login", password, user.name); }), "login password=***REDACTED*** user.name=\"ada\"\n");
  EXPECT_EQ(line([&] { TRACE_VALUES(info, password); }), "password=***REDACTED***\n");
  EXPECT_EQ(line([&] { TRACE_INFO("login", tracing::kv("password", 7), tracing::kv("n", 7)); }),
            "login password=***REDACTED*** n=7\n");
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
TEST_F(Redact, HidesWhatIsRecordedLater) {
  tracing::redact("status");
  EXPECT_EQ(line([&] {
              auto const span = TRACE_MAKE_SPAN(info, "request", tracing::kv("status", tracing::empty));
              span.record(tracing::kv("status", 200));
              auto const entered = span.enter();
              TRACE_INFO("in");
            }),
            "request{status=***REDACTED***}: in\n");
}
TEST_F(Redact, LeavesWhatIsAbsentAbsent) {
  tracing::redact("status");
  std::optional<int> const status;
  EXPECT_EQ(line([&] { TRACE_INFO("in", status); }), "in\n");
}
TEST_F(Redact, HidesWhatAMessageIsFilledWith) {
  tracing::redact("password");
  EXPECT_EQ(line([&] { TRACE_INFO("{} for {}", password, user.name); }), "***REDACTED*** for ada\n");
  EXPECT_EQ(line([&] { TRACE_INFO("{:>9} for {}", password, user.name); }), "***REDACTED*** for ada\n");
  EXPECT_EQ(line([&] { TRACE_INFO("{password} twice", password); }), "***REDACTED*** twice password=***REDACTED***\n");
  EXPECT_EQ(line([&] { TRACE_INFO("{1} for {0}", user.name, password); }), "***REDACTED*** for ada\n");
}
TEST_F(Redact, HidesAMessagesValueThatComesOfTheName) {
  tracing::redact("password");
  User const* const p = &user;
  EXPECT_EQ(line([&] { TRACE_INFO("{}", user.password); }), "***REDACTED***\n");
  EXPECT_EQ(line([&] { TRACE_INFO("{}", p->password); }), "***REDACTED***\n");
  EXPECT_EQ(line([&] { TRACE_INFO("{}", decrypt(password)); }), "***REDACTED***\n");
  EXPECT_EQ(line([&] { TRACE_INFO("{}", tracing::display(password)); }), "***REDACTED***\n");
  EXPECT_EQ(line([&] { TRACE_INFO("{}", "x" + password.substr(1)); }), "***REDACTED***\n");
  int const left = 5, password_age = 3;
  EXPECT_EQ(line([&] { TRACE_INFO("{} {}", left-password_age, decrypt("x")); }), "2 decrypted x\n");
}
// The field was known as `user.password`, what the message is filled with as `user->password`: each name hid but one of them.
TEST_F(Redact, TakesAnArrowForADot) {
  User const* const ada = &user;
  User const* const* const pada = &ada;
  for (char const* const name : {"ada.password", "ada->password", "ada -> Password", "ada . password", "(*ada).password",
                                 "this->ada->password", "(*this).ada.password"}) {
    tracing::redact(name);
    EXPECT_EQ(line([&] { TRACE_INFO("in", ada->password, ada->name); }),
              "in ada.password=***REDACTED*** ada.name=\"ada\"\n") << name;
    EXPECT_EQ(line([&] { TRACE_INFO("{} {}", ada->password, ada->name); }), "***REDACTED*** ada\n") << name;
    EXPECT_EQ(line([&] { TRACE_INFO("{} {}", ada -> password, ada -> name); }), "***REDACTED*** ada\n") << name;
    EXPECT_EQ(line([&] { TRACE_INFO("{} {}", (*ada).password, (*ada).name); }), "***REDACTED*** ada\n") << name;
    EXPECT_EQ(line([&] { TRACE_INFO("{} {}", (*pada)->password, (**pada).name); }), "hunter2 ada\n") << name;
    EXPECT_EQ(line([&] { TRACE_INFO("{}", user.password); }), "hunter2\n") << name;
  }
  tracing::redact("this->password");
  EXPECT_EQ(line([&] { TRACE_INFO("{}", this->password, password); }), "***REDACTED*** password=***REDACTED***\n");
  tracing::redact("this->");  // hides nothing
  EXPECT_EQ(line([&] { TRACE_INFO("{}", password); }), "hunter2\n");
}
TEST_F(Redact, HidesMembersOfWhatIsRecorded) {
  tracing::redact("password,token,digits");
  EXPECT_EQ(line([&] { TRACE_INFO("in", user); }),
            "in user=User { name: \"ada\", password: ***REDACTED***, digits: ***REDACTED*** }\n");
  EXPECT_EQ(line([&] { TRACE_INFO("{}", user); }),
            "User { name: \"ada\", password: ***REDACTED***, digits: ***REDACTED*** }\n");
  Group const group;
  std::string const text = line([&] { TRACE_INFO("in", group, tracing::kv("deep", tracing::pretty(group))); });
  EXPECT_EQ(text.find("hunter2"), text.npos) << text;
  EXPECT_NE(text.find("headers: {\"Accept\": \"all\", \"Token\": ***REDACTED***} }"), text.npos) << text;
  EXPECT_NE(text.find("\n    headers: {\n        \"Accept\": \"all\",\n        \"Token\": ***REDACTED***,\n    },\n}"),
            text.npos)
      << text;
}
TEST_F(Redact, HidesAWholeStructure) {
  tracing::redact("others,first");
  EXPECT_EQ(line([&] { TRACE_INFO("in", tracing::kv("g", Group{})); }),
            "in g=Group { first: ***REDACTED***, others: ***REDACTED***, headers: {\"Accept\": \"all\", \"Token\": "
            "\"hunter2\"} }\n");
}
// The last item in the key was taken for the whole key.
TEST_F(Redact, LooksForTheNameInTheWholeKey) {
  tracing::redact("password");
  CompositeKeys const keys;
  EXPECT_EQ(line([&] { TRACE_INFO("{}", keys.pairs); }),
            "{(\"other\", 2): \"shown\", (\"password\", 1): ***REDACTED***}\n");
  EXPECT_EQ(line([&] { TRACE_INFO("{}", keys.structs); }),
            "{Key { password: ***REDACTED***, id: 1 }: ***REDACTED***}\n");
  auto const emit = [&] {
    TRACE_SPAN(info, "span", keys);
    TRACE_INFO("{}", keys, tracing::kv("deep", tracing::pretty(keys)), tracing::kv("lists", keys.lists));
  };
  for (auto const one : {tracing::FormatKind::full, tracing::FormatKind::compact, tracing::FormatKind::pretty,
                         tracing::FormatKind::json}) {
    kind = one;
    std::string const text = line(emit);
    kind = tracing::FormatKind::full;
    EXPECT_EQ(text.find("hunter2"), text.npos) << text;
    EXPECT_NE(text.find("shown"), text.npos) << text;
  }
  std::string trace;
  {
    auto [layer, guard] =
        tracing::chrome_layer({.sink = tracing::make_sink([&](tracing::Level, std::string_view block) { trace += block; })});
    tracing::with_default(tracing::RegistryBuilder().with(std::move(layer)).build(), emit);
  }
  EXPECT_EQ(trace.find("hunter2"), trace.npos) << trace;
  EXPECT_NE(trace.find("shown"), trace.npos) << trace;
}
TEST_F(Redact, HidesInEveryFormat) {
  tracing::redact("password");
  for (auto const one : {tracing::FormatKind::full, tracing::FormatKind::compact, tracing::FormatKind::pretty,
                         tracing::FormatKind::json}) {
    kind = one;
    std::string const text = line([&] {
      TRACE_SPAN(info, "span", password, user);
      TRACE_INFO("{} in {}", password, user, tracing::kv("password", std::array{1, 2}), tracing::kv("u", user));
    });
    kind = tracing::FormatKind::full;
    EXPECT_EQ(text.find("hunter2"), text.npos) << text;
    EXPECT_NE(text.find("***REDACTED***"), text.npos) << text;
  }
}
TEST_F(Redact, TakesNamesAsTheyAreWritten) {
  tracing::redact(" Password ,, api.key,kernel name");
  EXPECT_EQ(line([&] {
              TRACE_INFO("in", tracing::kv("PASSWORD", 1), tracing::kv("api.key", 2), tracing::kv("api", 3),
                         tracing::kv("the kernel name", 4), tracing::kv("api.keys", 5), tracing::kv("a.api.key.b", 6));
            }),
            "in PASSWORD=***REDACTED*** api.key=***REDACTED*** api=3 the kernel name=***REDACTED*** api.keys=5 "
            "a.api.key.b=***REDACTED***\n");
}
TEST_F(Redact, TakesAnotherToken) {
  tracing::redact("password", "<hidden \"so\">");
  EXPECT_EQ(line([&] { TRACE_INFO("in", password); }), "in password=<hidden \"so\">\n");
  kind = tracing::FormatKind::json;
  std::string const json = line([&] { TRACE_INFO("in", password); });
  kind = tracing::FormatKind::full;
  EXPECT_NE(json.find("\"password\":\"<hidden \\\"so\\\">\""), json.npos) << json;
}
TEST_F(Redact, TakesTheNameOfARuntimeCallsite) {
  tracing::redact("password");
  tracing::RuntimeCallsite const site({.name = "event", .target = "t", .fields = {"message", "password"}});
  tracing::Value const values[] = {tracing::Value::of_verbatim("in"), tracing::Value::of_text("hunter2")};
  EXPECT_EQ(line([&] { tracing::emit_event(site.callsite(), values); }), "in password=***REDACTED***\n");
}
TEST_F(Redact, AFilterSeesWhatIsShown) {
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
TEST_F(Redact, MayChangeWhileOthersEmit) {
  std::atomic<bool> done{false};
  std::thread changes([&] {
    for (int i = 0; i < 100; ++i) tracing::redact(i % 2 == 0 ? "password" : "token", std::to_string(i));
    done = true;
  });
  while (!done) EXPECT_NE(line([&] { TRACE_INFO("in", user, password); }), "");
  changes.join();
}

}  // namespace redaction_test
