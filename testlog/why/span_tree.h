// SpanTree: the spans and events of one run, as a tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "testlog/why/sites.h"
#include "testlog/why/value_texts.h"

namespace testlog::why {

using NodeId = std::uint32_t;
inline constexpr NodeId kRoot = 0;
inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// A span or an event; or, inside a span of another thread, what one thread did there; or the root.
struct TreeNode {
  SiteId site = kNoSite;             ///< of a span or an event
  NameId group = 0;                  ///< of a thread, see group_of_thread()
  NodeId parent = kNone;             ///< has a smaller number
  std::uint32_t depth = 0;           ///< the root has 0
  std::uint32_t last_value = kNone;  ///< see SpanTree::for_each_value()
  bool is_open = false;              ///< a span that did not end
  std::uint64_t track = 0;
  std::int64_t begin_ns = 0;
  std::int64_t duration_ns = 0;  ///< of a span

  // Set by SpanTree::finish():
  std::uint32_t first_child = 0, child_count = 0;
  std::uint32_t size = 0;       ///< how many spans and events it has, with itself
  std::int64_t longest_ns = 0;  ///< the longest duration in it
  // Set by TreeDiff:
  std::uint64_t hash = 0;  ///< equal for trees that are equal, but for what varies
  bool has_new = false;    ///< it, or what is in it, has a value that no run that passed has

  bool is_thread() const noexcept { return site == kNoSite; }
};

/// Single-thread.
class SpanTree {
 public:
  struct FieldValue {
    FieldId field;
    TextId text;
    std::uint32_t before;  // the value before it of the same node
  };
  /// What is deeper than this counts as being inside the span at this depth.
  static constexpr std::uint32_t kMaxDepth = 256;

  explicit SpanTree(std::uint64_t main_thread) { nodes_.push_back({.track = main_thread}); }

  /// Adds a span or an event inside `parent`. If it is on another thread, `group` names this thread.
  NodeId add(SiteId site, NodeId parent, std::uint64_t track, std::int64_t ns, NameId group);
  void end(NodeId span, std::int64_t ns) noexcept;
  void add_value(NodeId node, FieldId field, TextId text);
  /// Ends the run. Call it once.
  void finish(std::int64_t ns);

  std::vector<TreeNode>& nodes() noexcept { return nodes_; }
  TreeNode const& node(NodeId id) const noexcept { return nodes_[id]; }
  /// Returns the children in the order in which they began. REQUIRES: finish() was called.
  std::span<NodeId const> children(NodeId id) const noexcept {
    return std::span(children_).subspan(nodes_[id].first_child, nodes_[id].child_count);
  }
  /// Returns the values of a node in the order in which they were recorded.
  std::vector<FieldValue> values(NodeId id) const;
  /// Calls `f(FieldValue const&)` for each value of a node, the last one first.
  template <class F>
  void for_each_value(NodeId id, F&& f) const {
    for (std::uint32_t at = nodes_[id].last_value; at != kNone; at = values_[at].before) f(values_[at]);
  }

 private:
  NodeId thread_below(NodeId parent, std::uint64_t track, NameId group);

  std::vector<TreeNode> nodes_;
  std::vector<FieldValue> values_;
  std::vector<NodeId> children_;
  std::map<std::pair<NodeId, std::uint64_t>, NodeId> threads_;  // by the span in which they are, and their track
};

}  // namespace testlog::why
