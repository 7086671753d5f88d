// Two ways lead from stacks to frames. A graph is a tree in which a stack is a path: lines add to its nodes, and frames
// get their places at the end. A chart makes its frames at once: if a line's stack differs from the previous stack, the
// frames that only the previous stack has end, and the frames that only the line's stack has begin:
//
//     a;b 1    a [0,  b [0,
//     a;c 3    a      b [0,1)  c [1,
//     a   2    a [0,6)         c [1,4)
#include "tracing_core/inspect/flame_graph.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "tracing_core/inspect/stack_path.h"
#include "tracing_core/model/number_text.h"

namespace tracing { inline namespace v1 {
namespace {

using internal::StackPath;

constexpr std::string_view kSumTooLarge = "the total is too large; expected at most 18446744073709551615";
constexpr std::uint32_t kRoot = 0;

bool add_to(std::uint64_t& sum, std::uint64_t more) noexcept { return !__builtin_add_overflow(sum, more, &sum); }

std::uint64_t scaled(std::uint64_t value, std::uint64_t numerator, std::uint64_t denominator) noexcept {
  return static_cast<std::uint64_t>((Uint128{value} * numerator + denominator / 2) / denominator);
}

// Numbers names in the order of their first use. Single-thread.
class NameTable {
 public:
  std::uint32_t number_of(std::string_view name) {
    auto const found = numbers_.find(name);
    if (found != numbers_.end()) return found->second;
    auto const number = static_cast<std::uint32_t>(names_.size());
    numbers_.emplace(names_.emplace_back(name), number);
    return number;
  }
  // The name is valid as long as the table, even if the table is moved.
  std::string_view operator[](std::uint32_t number) const { return names_[number]; }
  std::vector<std::string> all() const { return {names_.begin(), names_.end()}; }

 private:
  std::deque<std::string> names_;  // a deque, so that texts stay in place
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

class Tree {
 public:
  explicit Tree(bool reversed) : reversed_(reversed), nodes_{Node{.name = names_.number_of(""), .parent = kRoot}} {}

  void add(std::string_view stack, std::uint64_t count, std::uint64_t before) {
    nodes_on_path_.resize(reversed_ ? path_.go_to_reversed(stack) : path_.go_to(stack));
    while (nodes_on_path_.size() < path_.size()) {
      std::uint32_t const parent = nodes_on_path_.empty() ? kRoot : nodes_on_path_.back();
      nodes_on_path_.push_back(child_of(parent, names_.number_of(path_.frame(nodes_on_path_.size()))));
    }
    Node& node = nodes_[nodes_on_path_.back()];
    node.self += count;
    node.self_before += before;
  }

  FlameGraph build(FlameWidth width) {
    FlameGraph graph{.frames = ordered_frames(frames_with_counts(width), width), .names = {}, .width = width};
    graph.names = names_.all();
    return graph;
  }

 private:
  struct Node {
    std::uint32_t name;
    std::uint32_t parent;  // has a lower number
    std::uint64_t self = 0;
    std::uint64_t self_before = 0;
  };

  std::uint32_t child_of(std::uint32_t parent, std::uint32_t name) {
    auto const [found, is_new] = children_.try_emplace(std::uint64_t{parent} << 32 | name, nodes_.size());
    if (is_new) nodes_.push_back({.name = name, .parent = parent});
    return found->second;
  }

  // Returns a frame for each node, in the order of the nodes.
  std::vector<FlameFrame> frames_with_counts(FlameWidth width) const {
    std::vector<FlameFrame> frames(nodes_.size());
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      Node const& node = nodes_[i];
      FlameFrame& frame = frames[i];
      frame.name = node.name;
      frame.self = node.self;
      frame.self_before = node.self_before;
      frame.count += node.self;
      frame.before += node.self_before;
      frame.width = width == FlameWidth::after ? frame.count : frame.before;
      if (i == kRoot) break;
      frames[node.parent].count += frame.count;
      frames[node.parent].before += frame.before;
    }
    return frames;
  }

  // Places the frames and sorts them by depth, then from the left. A frame's own part is at its left; the frames on top
  // of it follow.
  std::vector<FlameFrame> ordered_frames(std::vector<FlameFrame> frames, FlameWidth width) const {
    std::vector<std::uint32_t> const nodes = by_parent_and_name();
    std::vector<std::size_t> first_child(nodes_.size() + 1);  // as a place in `nodes`
    for (std::size_t i = 1, parent = 0; parent < first_child.size(); ++parent) {
      while (i < nodes.size() && nodes_[nodes[i]].parent < parent) ++i;
      first_child[parent] = i;
    }
    std::vector<std::uint32_t> order{kRoot};
    order.reserve(nodes.size());
    for (std::size_t done = 0; done < order.size(); ++done) {
      std::uint32_t const parent = order[done];
      FlameFrame const& below = frames[parent];
      std::uint64_t next = below.start + (width == FlameWidth::after ? below.self : below.self_before);
      for (std::size_t i = first_child[parent]; i < first_child[parent + 1]; ++i) {
        FlameFrame& frame = frames[nodes[i]];
        frame.start = next;
        frame.depth = below.depth + 1;
        next += frame.width;
        order.push_back(nodes[i]);
      }
    }
    std::vector<FlameFrame> ordered;
    ordered.reserve(order.size());
    for (std::uint32_t const i : order) ordered.push_back(frames[i]);
    return ordered;
  }

  std::vector<std::uint32_t> by_parent_and_name() const {
    std::vector<std::uint32_t> order(nodes_.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin() + 1, order.end(), [&](std::uint32_t a, std::uint32_t b) {
      Node const& x = nodes_[a];
      Node const& y = nodes_[b];
      return x.parent != y.parent ? x.parent < y.parent : names_[x.name] < names_[y.name];
    });
    return order;
  }

  bool const reversed_;
  NameTable names_;
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;  // by parent and name
  StackPath path_;
  std::vector<std::uint32_t> nodes_on_path_;
};

class Chart {
 public:
  explicit Chart(bool last_first) : last_first_(last_first), frames_{FlameFrame{.name = names_.number_of("")}} {}

  void add(std::string_view stack, std::uint64_t count) {
    end_frames(path_.go_to(stack));
    while (open_.size() < path_.size()) {
      std::uint32_t const name = names_.number_of(path_.frame(open_.size()));
      open_.push_back(frames_.size());
      frames_.push_back({.name = name, .depth = static_cast<std::uint32_t>(open_.size()), .start = now_});
    }
    frames_[open_.back()].self += count;
    now_ += count;
  }

  FlameGraph build() {
    end_frames(0);
    frames_.front().count = frames_.front().width = now_;
    if (last_first_) {
      for (FlameFrame& frame : frames_) frame.start = now_ - frame.start - frame.width;
    }
    std::stable_sort(frames_.begin(), frames_.end(), [](FlameFrame const& a, FlameFrame const& b) {
      return a.depth != b.depth ? a.depth < b.depth : a.start < b.start;
    });
    return {.frames = std::move(frames_), .names = names_.all()};
  }

 private:
  void end_frames(std::size_t kept) {
    for (; open_.size() > kept; open_.pop_back()) {
      FlameFrame& frame = frames_[open_.back()];
      frame.count = frame.width = now_ - frame.start;
    }
  }

  bool const last_first_;
  NameTable names_;
  std::vector<FlameFrame> frames_;
  std::vector<std::size_t> open_;  // frames, from the outside in
  StackPath path_;
  std::uint64_t now_ = 0;
};

}  // namespace

struct FlameBuilder::Impl {
  explicit Impl(FlameKind kind)
      : is_chart(kind == FlameKind::chart || kind == FlameKind::chart_last_first),
        tree(kind == FlameKind::reversed),
        chart(kind == FlameKind::chart_last_first) {}

  bool const is_chart;
  Tree tree;
  Chart chart;
  std::uint64_t total = 0;
  std::uint64_t total_before = 0;
};

FlameBuilder::FlameBuilder(FlameKind kind) : impl_(std::make_unique<Impl>(kind)) {}
FlameBuilder::~FlameBuilder() = default;
FlameBuilder::FlameBuilder(FlameBuilder&&) noexcept = default;
FlameBuilder& FlameBuilder::operator=(FlameBuilder&&) noexcept = default;

std::string_view FlameBuilder::add(std::string_view stack, std::uint64_t count, std::uint64_t before) {
  std::uint64_t total = impl_->total;
  if (!add_to(total, count) || !add_to(impl_->total_before, before)) return kSumTooLarge;
  impl_->total = total;
  if (impl_->is_chart) {
    impl_->chart.add(stack, count);
  } else {
    impl_->tree.add(stack, count, before);
  }
  return {};
}

FlameGraph FlameBuilder::build() && {
  if (impl_->total == 0) return {};
  return impl_->is_chart ? impl_->chart.build() : impl_->tree.build(FlameWidth::after);
}

FlameGraph FlameBuilder::build(FlameDifference const& difference) && {
  std::uint64_t const drawn = difference.width == FlameWidth::after ? impl_->total : impl_->total_before;
  if (drawn == 0) return {};
  FlameGraph graph = impl_->tree.build(difference.width);
  // Count these frames before scaling, which rounds some numbers to 0.
  graph.only_in_other =
      static_cast<std::size_t>(std::count_if(graph.frames.begin(), graph.frames.end(), [](FlameFrame const& f) {
        return f.width == 0 && (f.count > 0 || f.before > 0);
      }));
  if (difference.normalise && impl_->total_before > 0) {
    for (FlameFrame& frame : graph.frames) {
      frame.before = scaled(frame.before, impl_->total, impl_->total_before);
      frame.self_before = scaled(frame.self_before, impl_->total, impl_->total_before);
    }
  }
  graph.is_differential = true;
  return graph;
}

}}  // namespace tracing::v1
