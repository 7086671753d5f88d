// Perf spans with unusual names in the formats for machines: names are complete, and different names stay different.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/prometheus_text.h"
#include "tracing_core/perf/perf_test_support.h"

namespace tracing::perf_test { namespace {

using tracing_test::PrometheusText;
using Labels = PrometheusText::Labels;

// Different durations identify the spans.
void record(std::string const& name, std::uint64_t ns) {
  auto& span = *new Fixed<0>(name, {});  // callsites are never destroyed
  span.close(span.open({}), ns, ns);
}

PrometheusText prometheus_of(Collected const& collected) {
  TextBuffer text;
  append_perf_prometheus(text, collected.summary());
  return PrometheusText(text.view());
}

std::vector<nlohmann::json> json_of(Collected const& collected) {
  TextBuffer text;
  append_perf_json(text, collected.summary(), Instant{1'767'916'569'977'977'000});
  std::istringstream lines{std::string(text.view())};
  std::vector<nlohmann::json> objects;
  for (std::string line; std::getline(lines, line);) objects.push_back(nlohmann::json::parse(line)["fields"]);
  return objects;
}

// A name and the labels that Prometheus reads for it.
struct Odd {
  std::string name;
  Labels labels;
};

std::vector<Odd> odd_names() {
  using namespace std::string_literals;
  std::vector<std::string> const texts{
      "",
      "a\0b\0"s,
      "line\nend\r\n",
      R"("quoted"} 1)",
      R"(\ \\ \n \" \xff \x)",
      "name\",quantile=\"0.5",
      "# HELP x y\n# TYPE x gauge\nx 1\n",
      "\u0085\u2028\xEF\xBB\xBF\xF4\x8F\xBF\xBF\xEF\xBF\xBD",
      "\x01\x1b[31m\x7f\t",
      std::string(1 << 20, 'x'),
      std::string(1 << 20, '\n'),
  };
  std::vector<Odd> odd;
  for (std::string const& text : texts) odd.push_back({text, {{"name", text}}});
  return odd;
}

TEST(PerfNames, AreValidPrometheusLabels) {
  Collected collected({.report = false});
  std::vector<Odd> const odd = odd_names();
  for (std::size_t i = 0; i < odd.size(); ++i) record(odd[i].name, 1'000'000'000 * (i + 1));
  PrometheusText const text = prometheus_of(collected);
  ASSERT_EQ(text.problem(), "");
  EXPECT_EQ(text.samples().size(), odd.size() * (3 + 2 + 4));
  for (std::size_t i = 0; i < odd.size(); ++i) {
    Labels labels = odd[i].labels;
    auto const seconds = static_cast<double>(i + 1);
    for (char const* const metric :
         {"span_seconds_sum", "span_self_seconds_total", "span_min_seconds", "span_max_seconds"}) {
      EXPECT_EQ(text.find(std::string("tracing_perf_") + metric, labels), seconds) << metric << " of name " << i;
    }
    EXPECT_EQ(text.find("tracing_perf_span_seconds_count", labels), 1);
    EXPECT_TRUE(text.find("tracing_perf_span_share_ratio", labels));
    for (char const* const quantile : {"0.5", "0.95", "0.99"}) {
      labels["quantile"] = quantile;
      EXPECT_EQ(text.find("tracing_perf_span_seconds", labels), seconds);
    }
  }
}

TEST(PerfNames, AreValidJsonText) {
  Collected collected({.report = false});
  std::vector<Odd> const odd = odd_names();
  for (std::size_t i = 0; i < odd.size(); ++i) record(odd[i].name, 1'000'000'000 * (i + 1));
  std::map<double, std::string> names;  // by their durations
  for (nlohmann::json const& object : json_of(collected)) names[object["total_us"]] = object["name"];
  ASSERT_EQ(names.size(), odd.size());
  for (std::size_t i = 0; i < odd.size(); ++i) {
    std::string const& name = names[1e6 * static_cast<double>(i + 1)];
    EXPECT_TRUE(name == odd[i].name) << "name " << i;
  }
}

TEST(PerfNames, GiveOneJsonObjectPerLine) {
  std::string json;
  Collected collected({.json = to_text(json)});
  std::vector<Odd> const odd = odd_names();
  for (std::size_t i = 0; i < odd.size(); ++i) record(odd[i].name, 1'000'000 * (i + 1));
  std::istringstream lines(json);
  for (std::size_t i = 0; i < odd.size(); ++i) {
    std::string line;
    ASSERT_TRUE(std::getline(lines, line)) << i;
    auto const fields = nlohmann::json::parse(line)["fields"];
    EXPECT_EQ(fields["duration_us"], 1000 * (i + 1));
    EXPECT_TRUE(fields["name"] == odd[i].name) << "name " << i;
  }
  EXPECT_EQ(lines.peek(), std::istringstream::traits_type::eof());
}

}}  // namespace tracing::perf_test
