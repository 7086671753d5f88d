// As in LevelDB, entries are put in a skip list; a list that is full becomes a sorted run, and several runs are merged.
#include "testlog/benchmarks/store.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tracing_core/tracing.h"

namespace STORE_NAMESPACE {  // store_plain if the statements are compiled out, otherwise store_traced
namespace {

constexpr int kMaxHeight = 10;

std::uint64_t scramble(std::uint64_t x) { return (x ^= (x *= 0x9e3779b97f4a7c15) >> 32) * 0xbf58476d1ce4e5b9; }

struct Node {
  std::uint64_t key = 0;
  std::string value{};
  Node* next[kMaxHeight] = {};
};

struct SkipList {
  void put(std::uint64_t key, std::string value) {
    Node* before[kMaxHeight];
    find(key, before);
    int height = 1;
    for (std::uint64_t bits = scramble(key + 1); height < kMaxHeight && bits % 4 == 0; bits /= 4) ++height;
    TRACE_TRACE("chose the height", height);
    Node& made = nodes.emplace_back(Node{key, std::move(value)});
    for (int level = 0; level < height; ++level) made.next[level] = std::exchange(before[level]->next[level], &made);
    TRACE_TRACE("linked the entry", key, height);
  }
  std::string const* get(std::uint64_t key) {
    Node* before[kMaxHeight];
    Node const* const found = find(key, before);
    return found != nullptr && found->key == key ? &found->value : nullptr;
  }

  // Returns the first node that is not before the key. Stores the last one before it, on each level.
  Node* find(std::uint64_t key, Node** before) {
    Node* at = &head;
    for (int level = kMaxHeight - 1; level >= 0; --level) {
      int steps = 0;
      for (; at->next[level] != nullptr && at->next[level]->key < key; ++steps) at = at->next[level];
      TRACE_TRACE("went down", level, steps);
      before[level] = at;
    }
    return at->next[0];
  }

  Node head{};
  std::deque<Node> nodes;
};

struct Store {
  using Entry = std::pair<std::uint64_t, std::string>;

  void put(std::uint64_t key, std::string value) {
    TRACE_SPAN(debug, "put", key, tracing::kv("bytes", value.size()));
    list.put(key, std::move(value));
    ++sequence;
    TRACE_DEBUG("put", tracing::kv("sequence", sequence), tracing::kv("entries", list.nodes.size()));
    if (list.nodes.size() == 16'384) write_list();
  }
  std::string const* get(std::uint64_t key) {
    TRACE_SPAN(debug, "get", key);
    std::string const* found = list.get(key);
    for (std::size_t i = runs.size(); found == nullptr && i-- > 0;) {
      auto const at = std::ranges::lower_bound(runs[i], key, {}, &Entry::first);
      if (at != runs[i].end() && at->first == key) found = &at->second;
      TRACE_TRACE("searched a run", tracing::kv("run", i), tracing::kv("entries", runs[i].size()));
    }
    TRACE_DEBUG("got", tracing::kv("found", found != nullptr), tracing::kv("text", found ? found->c_str() : ""));
    return found;
  }

  void write_list() {
    TRACE_SPAN(info, "write list", tracing::kv("entries", list.nodes.size()));
    auto& run = runs.emplace_back();
    for (Node& node : list.nodes) run.emplace_back(node.key, std::move(node.value));
    std::ranges::sort(run, {}, &Entry::first);
    list = {};
    if (runs.size() > 4) compact();
  }
  void compact() {
    TRACE_SPAN(info, "compact", tracing::kv("runs", runs.size()));
    std::vector<Entry>& all = runs.front();
    for (std::size_t i = 1; i < runs.size(); ++i) {
      auto const middle = static_cast<std::ptrdiff_t>(all.size());
      all.insert(all.end(), std::move_iterator(runs[i].begin()), std::move_iterator(runs[i].end()));
      std::ranges::inplace_merge(all, all.begin() + middle, {}, &Entry::first);
      TRACE_DEBUG("merged a run", tracing::kv("entries", all.size()));
    }
    runs.resize(1);
  }
  SkipList list;
  std::vector<std::vector<Entry>> runs;
  std::uint64_t sequence = 0;
};

}  // namespace

int run(int operations) {
  Store store;
  int wrong = 0;
  auto const key = [](int i) { return scramble(static_cast<std::uint64_t>(i)); };
  for (int i = 0; i < operations / 2; ++i) store.put(key(i), std::to_string(i) + std::string(90, '.'));
  for (int i = 0; i < operations / 2; ++i) {
    std::string const* const found = store.get(key(i));
    if (found == nullptr || std::stoi(*found) != i) ++wrong;
  }
  return wrong;
}

}  // namespace STORE_NAMESPACE
