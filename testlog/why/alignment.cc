#include "testlog/why/alignment.h"

#include <algorithm>
#include <unordered_map>

namespace testlog::why {
namespace {

using Pair = std::pair<std::size_t, std::size_t>;
using Pairs = std::vector<Pair>;
using Key = std::uint64_t Aligned::*;

// Finds the heaviest chain of pairs whose second indices increase.
class Chains {
 public:
  explicit Chains(std::size_t size) : best_(size + 1) {}

  // Adds a pair that may follow those before.
  void add(Pair pair, std::uint64_t weight) {
    Chain chain{weight, links_.size()};
    Chain const before = best_before(pair.second);
    chain.weight += before.weight;
    links_.push_back({pair, before.link});
    for (std::size_t i = pair.second + 1; i < best_.size(); i += i & (~i + 1)) {
      if (best_[i].weight < chain.weight) best_[i] = chain;
    }
  }

  Pairs heaviest() const {
    Pairs pairs;
    for (std::size_t link = best_before(best_.size() - 1).link; link != kNoLink; link = links_[link].before)
      pairs.push_back(links_[link].pair);
    std::reverse(pairs.begin(), pairs.end());
    return pairs;
  }

 private:
  static constexpr std::size_t kNoLink = ~std::size_t{0};
  struct Chain {
    std::uint64_t weight = 0;
    std::size_t link = kNoLink;  // its last pair
  };
  struct Link {
    Pair pair;
    std::size_t before;
  };

  // Returns the heaviest chain that ends before this index.
  Chain best_before(std::size_t index) const {
    Chain best;
    for (std::size_t i = index; i > 0; i -= i & (~i + 1)) {
      if (best_[i].weight > best.weight) best = best_[i];
    }
    return best;
  }

  std::vector<Chain> best_;  // a Fenwick tree of maxima
  std::vector<Link> links_;
};

// Pairs a[first.first, last.first) with b[first.second, last.second).
void pair_equal(std::span<Aligned const> a, std::span<Aligned const> b, Pair first, Pair last, Key key, Pairs& pairs) {
  auto const same = [&](std::size_t i, std::size_t k) { return a[i].*key == b[k].*key; };
  while (first.first < last.first && first.second < last.second && same(first.first, first.second))
    pairs.emplace_back(first.first++, first.second++);
  Pairs end;
  while (first.first < last.first && first.second < last.second && same(last.first - 1, last.second - 1))
    end.emplace_back(--last.first, --last.second);
  if (first.first < last.first && first.second < last.second) {
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> places;  // in b, the last one first
    for (std::size_t k = last.second; k-- > first.second;) places[b[k].*key].push_back(k);
    Chains chains(last.second - first.second);
    for (std::size_t i = first.first; i < last.first; ++i) {
      auto const found = places.find(a[i].*key);
      if (found == places.end() || found->second.empty()) continue;
      chains.add({i, found->second.back() - first.second}, a[i].weight);
      found->second.pop_back();
    }
    for (auto const& [i, k] : chains.heaviest()) pairs.emplace_back(i, k + first.second);
  }
  pairs.insert(pairs.end(), end.rbegin(), end.rend());
}

}  // namespace

Pairs align(std::span<Aligned const> a, std::span<Aligned const> b) {
  Pairs equal, all;
  pair_equal(a, b, {0, 0}, {a.size(), b.size()}, &Aligned::exact, equal);
  equal.emplace_back(a.size(), b.size());
  Pair next{0, 0};
  for (Pair const& pair : equal) {
    pair_equal(a, b, next, pair, &Aligned::alike, all);
    all.push_back(pair);
    next = {pair.first + 1, pair.second + 1};
  }
  all.pop_back();
  return all;
}

}  // namespace testlog::why
