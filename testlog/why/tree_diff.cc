#include "testlog/why/tree_diff.h"

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "testlog/why/alignment.h"
#include "tracing_core/support/mixed_bits.h"

namespace testlog::why {
namespace {

using tracing::support::mixed_bits;

constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;
constexpr std::size_t kMaxRepeated = 3;

// Returns a hash of the values that Noise does not mask, in any order.
std::uint64_t hash_of_values(SpanTree const& tree, NodeId id, ValueTexts const& texts, Noise const& noise) {
  std::uint64_t hash = 0;
  tree.for_each_value(id, [&](SpanTree::FieldValue const& value) {
    hash += mixed_bits(noise.id_of(value, texts) + (std::uint64_t{value.field} + 1) * kFactor);
  });
  return hash;
}

// Returns a hash of a node without what is in it.
std::uint64_t own_hash(SpanTree const& tree, NodeId id, ValueTexts const& texts, Noise const& noise) {
  TreeNode const& node = tree.node(id);
  std::uint64_t const key = node.is_thread() ? ~std::uint64_t{node.group} : std::uint64_t{node.site} * 2 + node.is_open;
  return mixed_bits(key * kFactor + hash_of_values(tree, id, texts, noise));
}

void set_hashes(SpanTree& tree, ValueTexts const& texts, Noise const& noise) {
  std::vector<TreeNode>& nodes = tree.nodes();
  for (auto id = static_cast<NodeId>(nodes.size()); id-- > 0;) {
    TreeNode& node = nodes[id];
    node.hash = mixed_bits(node.hash + own_hash(tree, id, texts, noise));
    tree.for_each_value(id, [&](SpanTree::FieldValue const& value) { node.has_new |= noise.is_new(value, texts); });
    if (id == kRoot) break;
    TreeNode& parent = nodes[node.parent];
    parent.has_new |= node.has_new;
    if (node.is_thread()) {
      parent.hash += mixed_bits(node.hash);
    } else if (!noise.varies(node.site) || node.has_new) {
      parent.hash = parent.hash * kFactor + node.hash;
    }
  }
}

class TreeDiff {
 public:
  TreeDiff(SpanTree const& a, SpanTree const& b, ValueTexts const& texts, Noise const& noise)
      : a_(a), b_(b), texts_(texts), noise_(noise) {}

  Diff find() {
    Folded folded;
    Outcome const outcome = compare_children(kRoot, kRoot, 0, folded);
    if (outcome.differs) flush(folded, 0);
    return std::move(diff_);
  }

 private:
  struct Outcome {
    bool differs = false;
    bool has_other_duration = false;
  };
  struct Folded {
    std::uint64_t equal = 0, varying = 0;
  };
  // The children of a node that are no threads.
  struct Sequence {
    std::vector<Aligned> keys{};
    std::vector<NodeId> nodes{};
  };

  void flush(Folded& folded, std::uint32_t depth) {
    if (folded.equal + folded.varying > 0)
      diff_.lines.push_back({.mark = Mark::equal, .depth = depth, .count = folded.equal, .varying = folded.varying});
    folded = {};
  }

  // Compares two nodes that are paired. If they are equal, they are only counted in `folded`.
  Outcome compare(NodeId a, NodeId b, std::uint32_t depth, Folded& folded) {
    TreeNode const &x = a_.node(a), &y = b_.node(b);
    if (x.hash == y.hash && !why::is_much_longer(std::max(x.longest_ns, y.longest_ns), 0)) {
      folded.equal += x.size;
      return {};
    }
    std::size_t const before = diff_.lines.size();
    Folded const folded_before = std::exchange(folded, {});
    Folded to_flush = folded_before;
    flush(to_flush, depth);
    std::size_t const line = diff_.lines.size();
    diff_.lines.push_back({.mark = Mark::context, .depth = depth, .a = a, .b = b});
    Folded inside;
    Outcome outcome = compare_children(a, b, depth + 1, inside);
    bool const has_other_duration = !outcome.has_other_duration && !x.is_thread() && differs_in_duration(x, y);
    if (has_other_duration || own_hash(a_, a, texts_, noise_) != own_hash(b_, b, texts_, noise_)) {
      diff_.lines[line].mark = Mark::changed;
      diff_.lines[line].has_other_duration = has_other_duration;
      ++diff_.differences;
      outcome.differs = true;
      outcome.has_other_duration |= has_other_duration;
    }
    if (outcome.differs) {
      flush(inside, depth + 1);
    } else {
      diff_.lines.resize(before);
      folded = {folded_before.equal + inside.equal + !x.is_thread(), folded_before.varying + inside.varying};
    }
    return outcome;
  }

  bool differs_in_duration(TreeNode const& x, TreeNode const& y) const noexcept {
    return noise_.is_much_longer(x.site, x.duration_ns, y.duration_ns) ||
           noise_.is_much_longer(x.site, y.duration_ns, x.duration_ns);
  }

  Outcome compare_children(NodeId a, NodeId b, std::uint32_t depth, Folded& folded) {
    Outcome outcome = compare_threads(a, b, depth, folded);
    Sequence const of_a = sequence_of(a_, a), of_b = sequence_of(b_, b);
    std::size_t i = 0, k = 0;
    auto const unpaired_until = [&](std::size_t end_a, std::size_t end_b) {
      outcome.differs |= unpaired(a_, Mark::removed, std::span(of_a.nodes).subspan(i, end_a - i), depth, folded);
      outcome.differs |= unpaired(b_, Mark::added, std::span(of_b.nodes).subspan(k, end_b - k), depth, folded);
    };
    for (auto const& [in_a, in_b] : align(of_a.keys, of_b.keys)) {
      unpaired_until(in_a, in_b);
      merge(outcome, compare(of_a.nodes[in_a], of_b.nodes[in_b], depth, folded));
      i = in_a + 1;
      k = in_b + 1;
    }
    unpaired_until(of_a.nodes.size(), of_b.nodes.size());
    return outcome;
  }

  static void merge(Outcome& outcome, Outcome const& other) {
    outcome.differs |= other.differs;
    outcome.has_other_duration |= other.has_other_duration;
  }

  static Sequence sequence_of(SpanTree const& tree, NodeId parent) {
    Sequence sequence;
    for (NodeId const id : tree.children(parent)) {
      TreeNode const& node = tree.node(id);
      if (node.is_thread()) continue;
      sequence.keys.push_back({node.hash, node.site, node.size});
      sequence.nodes.push_back(id);
    }
    return sequence;
  }

  // Compares what other threads did inside two spans.
  Outcome compare_threads(NodeId a, NodeId b, std::uint32_t depth, Folded& folded) {
    Outcome outcome;
    std::map<NameId, std::pair<std::vector<NodeId>, std::vector<NodeId>>> groups;
    for (NodeId const id : a_.children(a)) {
      if (a_.node(id).is_thread()) groups[a_.node(id).group].first.push_back(id);
    }
    for (NodeId const id : b_.children(b)) {
      if (b_.node(id).is_thread()) groups[b_.node(id).group].second.push_back(id);
    }
    for (auto& [group, threads] : groups) {
      auto& [of_a, of_b] = threads;
      pair_equal_threads(of_a, of_b, folded);
      std::size_t const common = std::min(of_a.size(), of_b.size());
      for (std::size_t i = 0; i < common; ++i) merge(outcome, compare(of_a[i], of_b[i], depth, folded));
      outcome.differs |= unpaired(a_, Mark::removed, std::span(of_a).subspan(common), depth, folded);
      outcome.differs |= unpaired(b_, Mark::added, std::span(of_b).subspan(common), depth, folded);
    }
    return outcome;
  }

  // Removes the threads that did the same from both.
  void pair_equal_threads(std::vector<NodeId>& of_a, std::vector<NodeId>& of_b, Folded& folded) {
    std::unordered_multimap<std::uint64_t, NodeId> others;
    for (NodeId const id : of_b) {
      if (!why::is_much_longer(b_.node(id).longest_ns, 0)) others.emplace(b_.node(id).hash, id);
    }
    std::unordered_set<NodeId> paired;
    std::erase_if(of_a, [&](NodeId const id) {
      auto const found = others.find(a_.node(id).hash);
      if (found == others.end() || why::is_much_longer(a_.node(id).longest_ns, 0)) return false;
      folded.equal += a_.node(id).size;
      paired.insert(found->second);
      others.erase(found);
      return true;
    });
    std::erase_if(of_b, [&paired](NodeId const id) { return paired.contains(id); });
  }

  static bool is_repeated(TreeNode const& first, TreeNode const& next) noexcept {
    return first.site == next.site && first.has_new == next.has_new;
  }

  // Adds lines for nodes that are in one run only. Returns false if their numbers vary anyway.
  bool unpaired(SpanTree const& tree, Mark mark, std::span<NodeId const> nodes, std::uint32_t depth, Folded& folded) {
    bool differs = false;
    for (std::size_t i = 0; i < nodes.size();) {
      TreeNode const& first = tree.node(nodes[i]);
      std::size_t end = i + 1;
      while (end < nodes.size() && !first.is_thread() && is_repeated(first, tree.node(nodes[end]))) ++end;
      if (!first.is_thread() && noise_.varies(first.site) && !first.has_new) {
        for (; i < end; ++i) folded.varying += tree.node(nodes[i]).size;
        continue;
      }
      flush(folded, depth);
      differs = true;
      std::size_t const shown = end - i > kMaxRepeated ? 1 : end - i;
      for (std::size_t k = i; k < i + shown; ++k) append_all(tree, mark, nodes[k], depth);
      if (shown < end - i) append_more(mark, nodes[i], depth, end - i - shown);
      i = end;
    }
    return differs;
  }

  void append_all(SpanTree const& tree, Mark mark, NodeId node, std::uint32_t depth) {
    diff_.lines.push_back({.mark = mark,
                           .depth = depth,
                           .a = mark == Mark::removed ? node : kNone,
                           .b = mark == Mark::added ? node : kNone});
    ++diff_.differences;
    Folded folded;
    unpaired(tree, mark, tree.children(node), depth + 1, folded);
  }

  void append_more(Mark mark, NodeId node, std::uint32_t depth, std::size_t count) {
    diff_.lines.push_back({.mark = Mark::more,
                           .depth = depth,
                           .a = mark == Mark::removed ? node : kNone,
                           .b = mark == Mark::added ? node : kNone,
                           .count = count});
    diff_.differences += count;
  }

  SpanTree const &a_, &b_;
  ValueTexts const& texts_;
  Noise const& noise_;
  Diff diff_;
};

}  // namespace

Diff diff_of(SpanTree& a, SpanTree& b, ValueTexts const& texts, Noise const& noise) {
  set_hashes(a, texts, noise);
  set_hashes(b, texts, noise);
  return TreeDiff(a, b, texts, noise).find();
}

}  // namespace testlog::why
