#include "testlog/why/span_tree.h"

#include <algorithm>

namespace testlog::why {

NodeId SpanTree::add(SiteId site, NodeId parent, std::uint64_t track, std::int64_t ns, NameId group) {
  while (nodes_[parent].depth + 2 > kMaxDepth) parent = nodes_[parent].parent;
  if (nodes_[parent].track != track) parent = thread_below(parent, track, group);
  auto const id = static_cast<NodeId>(nodes_.size());
  nodes_.push_back({.site = site, .parent = parent, .depth = nodes_[parent].depth + 1, .track = track, .begin_ns = ns});
  return id;
}

NodeId SpanTree::thread_below(NodeId parent, std::uint64_t track, NameId group) {
  auto const [found, is_new] = threads_.try_emplace({parent, track}, static_cast<NodeId>(nodes_.size()));
  if (is_new) nodes_.push_back({.group = group, .parent = parent, .depth = nodes_[parent].depth + 1, .track = track});
  return found->second;
}

void SpanTree::end(NodeId span, std::int64_t ns) noexcept {
  nodes_[span].is_open = false;
  nodes_[span].duration_ns = std::max<std::int64_t>(0, ns - nodes_[span].begin_ns);
}

void SpanTree::add_value(NodeId node, FieldId field, TextId text) {
  values_.push_back({field, text, nodes_[node].last_value});
  nodes_[node].last_value = static_cast<std::uint32_t>(values_.size() - 1);
}

void SpanTree::finish(std::int64_t ns) {
  for (NodeId id = 1; id < nodes_.size(); ++id) {
    TreeNode& node = nodes_[id];
    if (node.is_open) node.duration_ns = std::max<std::int64_t>(0, ns - node.begin_ns);
    ++nodes_[node.parent].child_count;
  }
  std::uint32_t next = 0;
  for (TreeNode& node : nodes_) {
    node.first_child = next;
    next += node.child_count;
    node.child_count = 0;
  }
  children_.resize(next);
  for (NodeId id = 1; id < nodes_.size(); ++id) {
    TreeNode& parent = nodes_[nodes_[id].parent];
    children_[parent.first_child + parent.child_count++] = id;
  }
  for (auto id = static_cast<NodeId>(nodes_.size()); id-- > 0;) {
    TreeNode& node = nodes_[id];
    if (!node.is_thread()) ++node.size;
    node.longest_ns = std::max(node.longest_ns, node.duration_ns);
    if (id == kRoot) break;
    nodes_[node.parent].size += node.size;
    nodes_[node.parent].longest_ns = std::max(nodes_[node.parent].longest_ns, node.longest_ns);
  }
}

std::vector<SpanTree::FieldValue> SpanTree::values(NodeId id) const {
  std::vector<FieldValue> all;
  for_each_value(id, [&all](FieldValue const& value) { all.push_back(value); });
  std::reverse(all.begin(), all.end());
  return all;
}

}  // namespace testlog::why
