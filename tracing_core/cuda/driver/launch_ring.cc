#include "tracing_core/cuda/driver/launch_ring.h"

#include <algorithm>
#include <utility>

namespace tracing { inline namespace v1 { namespace cuda {

void LaunchRing::push(New const& launch, std::string_view kernel, std::uint64_t ticks, Span&& span, Span&& perf) {
  if (size_ == entries_.size()) grow();
  std::size_t const at = slot(size_);
  if (span || perf) [[unlikely]] {
    if (spans_.empty()) spans_.resize(entries_.size());
    spans_[at].span = std::move(span);
    spans_[at].perf = std::move(perf);
  }
  Entry& entry = entries_[at];
  entry.launch = launch;
  entry.kernel = kernel;
  entry.ticks = ticks;
  entry.accepted_at = 0;
  ++size_;
}

LaunchRing::Spans LaunchRing::pop() noexcept {
  std::size_t const oldest = std::exchange(first_, slot(1));
  --size_;
  return spans_.empty() ? Spans() : std::move(spans_[oldest]);
}

void LaunchRing::accept(LaunchId launch, std::uint64_t mark) noexcept {
  if (std::size_t const i = find(launch); i < size_) entries_[slot(i)].accepted_at = mark;
}

Launch LaunchRing::remove(LaunchId launch) noexcept {
  std::size_t i = find(launch);
  if (i == size_) return {};
  Launch removed = take(slot(i), Moment::now());
  for (; i + 1 < size_; ++i) move(i + 1, i);
  --size_;
  return removed;
}

std::size_t LaunchRing::remove_up_to(std::uint64_t mark, bool all, std::vector<Launch>& removed) {
  bool const has_spans = !spans_.empty();
  Moment const now = all || has_spans ? Moment::now() : Moment();
  std::size_t count = 0;
  std::size_t leading = 0;  // removed launches that are older than all that stay: mostly all removed launches
  for (std::size_t i = 0; i < size_; ++i) {
    std::size_t const at = slot(i);
    if (entries_[at].accepted_at == 0 || entries_[at].accepted_at > mark) continue;
    if (all || (has_spans && (spans_[at].span || spans_[at].perf))) removed.push_back(take(at, now));
    entries_[at].launch.id = 0;
    if (leading == i) ++leading;
    ++count;
  }
  first_ = slot(leading);
  size_ -= leading;
  if (count == leading) return count;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    if (id(i) != 0) move(i, kept++);
  }
  size_ = kept;
  return count;
}

// Searches from the newest: mostly the launch was just added.
std::size_t LaunchRing::find(LaunchId launch) const noexcept {
  for (std::size_t i = size_; i > 0; --i) {
    if (id(i - 1) == launch) return i - 1;
  }
  return size_;
}

Launch LaunchRing::take(std::size_t slot, Moment const& now) noexcept {
  Launch launch;
  Entry const& entry = entries_[slot];
  launch.id = entry.launch.id;
  launch.kernel = entry.kernel;
  launch.grid = entry.launch.grid;
  launch.block = entry.launch.block;
  launch.stream = stream_;
  launch.at = now.time - std::chrono::nanoseconds(tracing::support::ns_between(entry.ticks, now.ticks));
  if (!spans_.empty()) {
    launch.span = std::move(spans_[slot].span);
    launch.perf = std::move(spans_[slot].perf);
  }
  return launch;
}

void LaunchRing::move(std::size_t from, std::size_t to) noexcept {
  if (from == to) return;
  entries_[slot(to)] = entries_[slot(from)];
  if (!spans_.empty()) spans_[slot(to)] = std::move(spans_[slot(from)]);
}

void LaunchRing::grow() {
  // The oldest launch comes to slot 0. Both vectors are allocated before anything is moved.
  std::vector<Entry> entries(std::max<std::size_t>(8, 2 * size_));
  std::vector<Spans> spans(spans_.empty() ? 0 : entries.size());
  for (std::size_t i = 0; i < size_; ++i) {
    entries[i] = entries_[slot(i)];
    if (!spans.empty()) spans[i] = std::move(spans_[slot(i)]);
  }
  entries_ = std::move(entries);
  spans_ = std::move(spans);
  first_ = 0;
}

}}}  // namespace tracing::v1::cuda
