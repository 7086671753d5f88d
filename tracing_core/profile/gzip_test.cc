#include "tracing_core/profile/gzip.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/record_to.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/record/recording.h"
#include "tracing_core/tracing.h"

namespace tracing::recording { namespace {

TEST(TraceJsonGz, IsTheCompressedTrace) {
  if (!Gzip::is_available()) GTEST_SKIP() << "built without zlib";
  tracing_test::TemporaryFolder const folder;
  std::string const path = tracing_test::record_to({.path = folder / "a.rec"}, [] {
    for (int i = 0; i < 1000; ++i) {
      TRACE_SPAN(info, "step", i);
    }
  });
  std::string message;
  auto const recording = Recording::read_file(path, message);
  ASSERT_NE(recording, nullptr) << message;
  auto const source = [&recording] {
    TraceSource made(*recording);
    made.process = "a process";
    return made;
  };
  std::string plain, compressed;
  write_chrome(source(), {}, [&plain](std::string_view text) { plain += text; });
  ASSERT_TRUE(write_trace_json_gz(source(), {}, [&compressed](std::string_view bytes) { compressed += bytes; }));
  EXPECT_LT(compressed.size() * 5, plain.size());
  folder.write("a.json.gz", compressed);
  ASSERT_EQ(std::system(("gzip -dc " + (folder / "a.json.gz") + " > " + (folder / "a.json")).c_str()), 0);
  auto const trace = nlohmann::json::parse(folder.read("a.json"));
  EXPECT_EQ(trace.at("displayTimeUnit"), "ns");
  EXPECT_EQ(trace.at("traceEvents"), nlohmann::json::parse(plain));
  EXPECT_EQ(trace.at("traceEvents").at(0).at("args").at("name"), "a process");
}

TEST(GzipFile, HoldsTheWholeOfALargeText) {
  if (!Gzip::is_available()) GTEST_SKIP() << "built without zlib";
  tracing_test::TemporaryFolder const folder;
  std::string text, compressed;
  for (int i = 0; i < 200'000; ++i) text += std::to_string(i * 7919) + ' ';
  Gzip gzip([&compressed](std::string_view bytes) { compressed += bytes; });
  EXPECT_TRUE(gzip.write(text.substr(0, 1)));
  EXPECT_TRUE(gzip.write({}));
  EXPECT_TRUE(gzip.write(std::string_view(text).substr(1)));
  EXPECT_TRUE(gzip.finish());
  folder.write("a.gz", compressed);
  ASSERT_EQ(std::system(("gzip -dc " + (folder / "a.gz") + " > " + (folder / "a")).c_str()), 0);
  EXPECT_EQ(folder.read("a"), text);
}

}}  // namespace tracing::recording
