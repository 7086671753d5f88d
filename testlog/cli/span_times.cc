#include "testlog/cli/span_times.h"

#include <utility>

#include "tracing_core/collect/registry.h"
#include "tracing_core/filter/combinators.h"
#include "tracing_core/inspect/entered_stacks.h"
#include "tracing_core/record/replay.h"

namespace testlog::cli {
namespace {

using tracing::internal::LostEntries;
using tracing::internal::RecordEntry;

// Follows what each thread enters and leaves. Called by one thread.
class TimesLayer final : public tracing::Layer {
 public:
  // `last`: the time of the last record, at which the replay leaves what is still open.
  TimesLayer(SpanTimes& times, std::uint32_t const& tag, tracing::Instant last) : times_(times), tag_(tag), last_(last) {}

  tracing::Hooks hooks() const noexcept override {
    return tracing::Hooks::enter | tracing::Hooks::exit;
  }
  void on_enter(tracing::SpanRef span, tracing::Context const& context) noexcept override {
    auto const& around = stacks_.of(context.track());
    SpanNode& parent = around.empty() ? times_.roots[tag_] : *around.back().data;
    name_.assign(span.metadata().target());
    name_.append("::").append(span.metadata().name());
    stacks_.enter(context.track(), span.id(), context.time(), &parent.child(name_));
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
  std::uint32_t const& tag_;
  tracing::Instant const last_;
  std::string name_;
  tracing::internal::EnteredStacks<SpanNode*> stacks_;
};

}  // namespace

SpanNode& SpanNode::child(std::string_view child_name) {
  for (auto const& one : children) {
    if (one->name == child_name) return *one;
  }
  children.push_back(std::make_unique<SpanNode>(SpanNode{std::string(child_name)}));
  return *children.back();
}

SpanTimes times_of(RecordingFile& file, std::unique_ptr<tracing::Filter> filter) {
  SpanTimes times;
  times.tests = tests_of(*file.recording);
  tracing::Instant last{};
  file.recording->for_each([&last](RecordEntry const& entry) { last = entry.time; });
  std::uint32_t tag = 0;
  auto const registry = tracing::RegistryBuilder()
                            .with(std::make_unique<TimesLayer>(times, tag, last), std::move(filter))
                            .build();
  auto const each = [&](RecordEntry const& entry) {
    tag = entry.tag;
    file.learn(entry);
    return true;
  };
  tracing::internal::replay(*file.recording, *registry, each, LostEntries::shown);
  return times;
}

}  // namespace testlog::cli
