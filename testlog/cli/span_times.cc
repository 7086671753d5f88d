#include "testlog/cli/span_times.h"

#include <utility>

#include "tracing_core/collect/registry.h"
#include "tracing_core/filter/combinators.h"
#include "tracing_core/inspect/entered_stacks.h"
#include "tracing_core/record/replay.h"
#include "tracing_core/record/replay/steady_times.h"

namespace testlog::cli {
namespace {

using tracing::recording::Entry;
using tracing::recording::LostEntries;

// Follows the spans that each thread enters and leaves. Called by one thread.
class TimesLayer final : public tracing::Layer {
 public:
  // `now`: the record that is being replayed. `last`: the time of the last record, at which the replay leaves the spans
  // that are still open.
  TimesLayer(SpanTimes& times, Entry const& now, tracing::Instant last) : times_(times), now_(now), last_(last) {}

  tracing::Hooks hooks() const noexcept override { return tracing::Hooks::enter | tracing::Hooks::exit; }
  void on_enter(tracing::SpanRef span, tracing::Context const& context) noexcept override {
    auto const& around = stacks_.of(context.track());
    SpanNode& parent = around.empty() ? times_.roots[now_.tag] : *around.back().data;
    name_.assign(span.metadata().target());
    name_.append("::").append(span.metadata().name());
    SpanNode& node = parent.child(name_, times_.names);
    if (now_.type == tracing::recording::EntryType::state) ++node.cut;
    stacks_.enter(context.track(), span.id(), context.time(), &node);
  }
  void on_exit(tracing::SpanRef span, tracing::Context const& context) noexcept override {
    auto const left = stacks_.leave(context.track(), span.id(), context.time());
    if (!left) return;
    SpanNode& node = *left->data;
    ++node.entered;
    node.total_ns += left->ns;
    node.self_ns += left->self_ns;
    if (context.is_restored() && context.time() >= last_) ++node.open;
  }

 private:
  SpanTimes& times_;
  Entry const& now_;
  tracing::Instant const last_;
  std::string name_;
  tracing::recording::EnteredStacks<SpanNode*> stacks_;
};

}  // namespace

SpanNode::~SpanNode() {
  std::vector<std::unique_ptr<SpanNode>> left = std::move(children);
  while (!left.empty()) {
    std::unique_ptr<SpanNode> const node = std::move(left.back());
    left.pop_back();
    for (auto& child : node->children) left.push_back(std::move(child));
    node->children.clear();
  }
}

SpanNode& SpanNode::child(std::string_view child_name, std::unordered_set<std::string>& names) {
  constexpr std::size_t kFew = 16;
  if (by_name_.empty()) {
    for (auto const& one : children) {
      if (one->name == child_name) return *one;
    }
    if (children.size() == kFew) {
      for (auto const& one : children) by_name_.emplace(one->name, one.get());
    }
  } else if (auto const found = by_name_.find(child_name); found != by_name_.end()) {
    return *found->second;
  }
  children.push_back(std::make_unique<SpanNode>(*names.emplace(child_name).first));
  SpanNode& added = *children.back();
  if (!by_name_.empty()) by_name_.emplace(added.name, &added);
  return added;
}

SpanTimes times_of(OpenedRecording& file, std::unique_ptr<tracing::Filter> filter) {
  SpanTimes times;
  times.tests = recorded_tests_of(*file.recording);
  tracing::Instant last{};
  tracing::recording::SteadyTimes steady;
  file.recording->for_each([&](Entry const& entry) { last = steady.of(entry); });
  Entry now;
  auto const registry =
      tracing::RegistryBuilder().with(std::make_unique<TimesLayer>(times, now, last), std::move(filter)).build();
  auto const each = [&](Entry const& entry) {
    now = entry;
    file.learn(entry);
    return true;
  };
  tracing::recording::replay(*file.recording, *registry, each, LostEntries::shown,
                             tracing::recording::ReplayTimes::steady);
  return times;
}

}  // namespace testlog::cli
