// ChromeStyle::async. Viewers let an end close the innermost open slice with its id and category, so that slice must be
// the right one.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/emit/past_span.h"
#include "tracing_core/export/chrome/chrome_test_support.h"
#include "tracing_core/tracing.h"

namespace tracing { namespace {

using namespace chrome_test;

// Pairs beginnings and ends as viewers do, and checks that the `end_of` of an end is the `n` of its beginning. Returns
// the number of spans.
int check_pairs(std::vector<Json> const& records) {
  std::map<std::pair<std::string, std::string>, std::vector<Json>> open;
  int count = 0;
  for (Json const& record : records) {
    std::string const phase = record["ph"];
    if (phase != "b" && phase != "e") continue;
    std::vector<Json>& row = open[{record["cat"], record["id2"]["local"]}];
    if (phase == "b") {
      row.push_back(record);
      continue;
    }
    if (row.empty()) {
      ADD_FAILURE() << "an end without beginning: " << record;
      continue;
    }
    EXPECT_EQ(row.back()["name"], record["name"]);
    EXPECT_EQ(row.back()["args"]["n"], record["args"]["end_of"]);
    row.pop_back();
    ++count;
  }
  for (auto const& [row, left] : open) EXPECT_TRUE(left.empty()) << row.second;
  return count;
}

ChromeOptions async() { return {.style = ChromeStyle::async, .include_locations = false}; }

Span task(int n, Span const& below) {
  return TRACE_MAKE_SPAN(info, "task", kv("n", n), kv("end_of", empty), tracing::parent(below));
}
Span other_task(int n, Span const& below) {
  return TRACE_MAKE_SPAN(info, "other", kv("n", n), kv("end_of", empty), tracing::parent(below));
}
void end(Span& span, int n) {
  span.record(kv("end_of", n));
  span = {};
}

TEST(ChromeAsync, OverlappingSpansOfARootHaveEndsOfTheirOwn) {
  auto const records = trace(async(), [] {
    Span root = task(0, Span::none());
    Span first = task(1, root), second = task(2, root), third = other_task(3, root);
    Span below_second = task(4, second);
    end(first, 1);
    Span later = task(5, root);
    end(third, 3);
    end(below_second, 4);
    end(second, 2);
    end(later, 5);
    end(root, 0);
  });
  EXPECT_EQ(check_pairs(records), 6);
}

TEST(ChromeAsync, SpansThatDoNotOverlapShareTheRowOfTheirRoot) {
  auto const records = trace(async(), [] {
    Span root = task(0, Span::none());
    for (int i = 1; i < 4; ++i) {
      Span one = task(10 * i, root);
      Span below = other_task(10 * i + 1, one);
      end(below, 10 * i + 1);
      end(one, 10 * i);
    }
    end(root, 0);
  });
  EXPECT_EQ(check_pairs(records), 7);
  for (Json const& record : records) EXPECT_EQ(record["id2"]["local"], "1");
}

TEST(ChromeAsync, AnyOverlapIsPairedRightly) {
  std::mt19937 random(7);
  auto const records = trace(async(), [&random] {
    std::vector<std::pair<Span, int>> open;
    int next = 0;
    for (int step = 0; step < 2000; ++step) {
      auto const any = [&] { return random() % open.size(); };
      if (open.size() < 2 || (random() % 2 == 0 && open.size() < 20)) {
        Span const& below = open.empty() || random() % 8 == 0 ? Span::none() : open[any()].first;
        open.emplace_back(random() % 2 == 0 ? task(next, below) : other_task(next, below), next);
        ++next;
      } else {
        std::size_t const index = any();
        end(open[index].first, open[index].second);
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(index));
      }
    }
    while (!open.empty()) {
      end(open.back().first, open.back().second);
      open.pop_back();
    }
  });
  EXPECT_GT(check_pairs(records), 900);
}

TEST(ChromeAsync, SpansOfOneRootOnSeveralThreadsArePairedRightly) {
  auto const records = trace(async(), [](RegistryPtr const& registry) {
    Span root = task(0, Span::none());
    std::atomic<int> next{1};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        with_default(registry, [&] {
          for (int i = 0; i < 200; ++i) {
            int const n = next++;
            Span span = task(n, root);
            int const inner = next++;
            Span below = task(inner, span);
            end(below, inner);
            end(span, n);
          }
        });
      });
    }
    for (auto& thread : threads) thread.join();
    end(root, 0);
  });
  EXPECT_EQ(check_pairs(records), 1601);
}

TEST(ChromeAsync, AsTracingChromeAllSpansOfARootHaveOneId) {
  ChromeOptions options = async();
  options.as_tracing_chrome = true;
  auto const records = trace(options, [] {
    Span root = task(0, Span::none());
    Span first = task(1, root), second = task(2, root);
    first = {};
  });
  for (Json const& record : records) EXPECT_EQ(record["id"], 1) << record;
}

}}  // namespace tracing
