#include "testlog/cli/span_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "tracing_core/collect/registry.h"
#include "tracing_core/filter/combinators.h"
#include "tracing_core/record/replay.h"

namespace testlog::cli {
namespace {

using tracing::internal::LostEntries;
using tracing::internal::RecordEntry;
using tracing::internal::RecordType;

// Follows what each thread enters and leaves. Called by one thread.
class TimesLayer final : public tracing::Layer {
 public:
  // `last`: the time of the last record, at which the replay leaves what is still open.
  TimesLayer(SpanTimes& times, std::uint32_t const& tag, tracing::Instant last) : times_(times), tag_(tag), last_(last) {}

  tracing::Hooks hooks() const noexcept override {
    return tracing::Hooks::enter | tracing::Hooks::exit;
  }
  void on_enter(tracing::SpanRef span, tracing::Context const& context) noexcept override {
    std::vector<Entered>& stack = stacks_[context.track().number];
    SpanNode& around = stack.empty() ? times_.roots[tag_] : *stack.back().node;
    name_.assign(span.metadata().target());
    name_.append("::").append(span.metadata().name());
    stack.push_back({span.id(), &around.child(name_), context.time(), 0});
  }
  void on_exit(tracing::SpanRef span, tracing::Context const& context) noexcept override {
    std::vector<Entered>& stack = stacks_[context.track().number];
    auto const found = std::find_if(stack.rbegin(), stack.rend(), [&](Entered const& one) { return one.span == span.id(); });
    if (found == stack.rend()) return;
    if (context.is_restored() && context.time() >= last_) ++found->node->open;
    leave(stack, static_cast<std::size_t>(stack.rend() - found) - 1, context.time());
  }

 private:
  struct Entered {
    tracing::SpanId span;
    SpanNode* node;
    tracing::Instant begin;
    std::uint64_t children_ns;
  };

  static void leave(std::vector<Entered>& stack, std::size_t index, tracing::Instant now) {
    Entered const left = stack[index];
    stack.erase(stack.begin() + static_cast<std::ptrdiff_t>(index));
    auto const ns = static_cast<std::uint64_t>(std::max<std::int64_t>(now.ns - left.begin.ns, 0));
    ++left.node->entered;
    left.node->total_ns += ns;
    left.node->children_ns += std::min(left.children_ns, ns);
    left.node->max_ns = std::max(left.node->max_ns, ns);
    if (index > 0 && index == stack.size()) stack.back().children_ns += ns;
  }

  SpanTimes& times_;
  std::uint32_t const& tag_;
  tracing::Instant const last_;
  std::string name_;
  std::unordered_map<std::uint64_t, std::vector<Entered>> stacks_;
};

}  // namespace

SpanNode& SpanNode::child(std::string_view child_name) {
  for (auto const& one : children) {
    if (one->name == child_name) return *one;
  }
  children.push_back(std::make_unique<SpanNode>(SpanNode{std::string(child_name)}));
  return *children.back();
}

SpanTimes times_of(RecordingFile& file, tracing::EnvFilter filter) {
  SpanTimes times;
  times.tests = tests_of(*file.recording);
  tracing::Instant last{};
  file.recording->for_each([&last](RecordEntry const& entry) { last = entry.time; });
  std::uint32_t tag = 0;
  auto const registry = tracing::RegistryBuilder()
                            .with(std::make_unique<TimesLayer>(times, tag, last), tracing::to_filter(std::move(filter)))
                            .build();
  auto const each = [&](RecordEntry const& entry) {
    tag = entry.tag;
    file.learn(entry);
    return true;
  };
  tracing::internal::replay(*file.recording, *registry, each, LostEntries::shown);
  return times;
}

std::string text_of_ns(std::uint64_t ns) {
  double const number = static_cast<double>(ns);
  if (ns < 1'000) return fmt::format("{} ns", ns);
  if (ns < 1'000'000) return fmt::format("{:.1f} us", number / 1e3);
  if (ns < 1'000'000'000) return fmt::format("{:.3f} ms", number / 1e6);
  return fmt::format("{:.3f} s", number / 1e9);
}

}  // namespace testlog::cli
