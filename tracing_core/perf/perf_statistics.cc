#include "tracing_core/perf/perf_statistics.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "tracing_core/format/perf_line.h"
#include "tracing_core/support/fork.h"

namespace tracing { inline namespace v1 { namespace internal {

constinit UnseenMutex perf_mutex;

namespace {

void lock_for_fork() noexcept TRACING_NO_THREAD_SAFETY_ANALYSIS { perf_mutex.lock(); }
void unlock_after_fork() noexcept TRACING_NO_THREAD_SAFETY_ANALYSIS { perf_mutex.unlock(); }

// Metadata and everything that it points to. Never freed.
struct Completion {
  std::string text;
  FieldEntry fields[3];
  Metadata metadata;

  explicit Completion(Metadata const& span) : metadata(fill(span)) {}

  MetadataParts fill(Metadata const& span) {
    MetadataParts parts = span.parts();
    text.append("event").append(span.target()).append(span.function());
    text.append(formatting::kCompletionMessage);
    auto const field = [this](std::string_view name, std::uint8_t value) {
      auto const offset = static_cast<std::uint32_t>(text.size());
      text.append(name);
      return field_entry(offset, name.data(), name.size(), value);
    };
    fields[0] = field("message", kMessageValue);
    fields[1] = field("duration_us", 0);
    fields[2] = field("duration_ms", 1);
    parts.text = text.data();
    parts.fields = fields;
    parts.placeholders = nullptr;
    parts.name_size = 5;
    parts.message_size = static_cast<std::uint32_t>(formatting::kCompletionMessage.size());
    parts.module_path_size = 0;
    parts.has_module_path = false;
    parts.field_count = 3;
    parts.placeholder_count = 0;
    parts.value_count = 2;
    parts.kind = Kind::event;
    parts.has_message = true;
    parts.numbers_size = kNotOnlyNumbers;
    parts.ends_perf_span = true;
    return parts;
  }
};

// Makes the metadata of the event that reports the duration of a span with this callsite. The fields are message,
// duration_us and duration_ms; level, target and source location are the span's. Called once for each callsite; the
// metadata is never freed, since records refer to it. REQUIRES: the callsite is never destroyed. Throws if memory runs
// out.
Metadata const& completion_of(Metadata const& span) TRACING_REQUIRES(perf_mutex) {
  static auto& all = *new std::unordered_map<Metadata const*, Completion const*>;
  Completion const*& made = all[&span];
  if (made == nullptr) made = new Completion(span);
  return made->metadata;
}

}  // namespace

PerfTable::PerfTable() { set_fork_handler(ForkStage::perf, {lock_for_fork, unlock_after_fork, unlock_after_fork}); }

PerfCell* PerfTable::find_or_add_cell(Metadata const& metadata, Track const& track) noexcept {
  try {
    MutexLock const lock(perf_mutex);
    PerfTrack& own = tracks_.find(track);
    PerfCell& cell = own.cells[&metadata];
    if (cell.metadata == nullptr) {
      cell.completion = &completion_of(metadata);
      cell.metadata = &metadata;
    }
    return own.recent_of(metadata) = &cell;
  } catch (...) {
    return nullptr;
  }
}

PerfSummary PerfTable::summary() const {
  struct Sum {
    PerfRow row;
    std::shared_ptr<DurationSketch> durations = std::make_shared<DurationSketch>();
  };
  std::map<std::string_view, Sum> sums;
  {
    MutexLock const lock(perf_mutex);
    for (PerfTrack const* track = tracks_.first(); track != nullptr; track = track->next) {
      for (auto const& [metadata, cell] : track->cells) {
        std::uint64_t const count = cell.count.load(std::memory_order_relaxed);
        if (count == 0) continue;
        auto& [row, durations] = sums[metadata->name()];
        std::uint64_t const min = cell.min_ns.load(std::memory_order_relaxed);
        row.min_ns = row.count == 0 ? min : std::min(row.min_ns, min);
        row.max_ns = std::max(row.max_ns, cell.max_ns.load(std::memory_order_relaxed));
        row.count += count;
        row.total_ns += cell.total_ns.load(std::memory_order_relaxed);
        row.self_ns += cell.self_ns.load(std::memory_order_relaxed);
        durations->merge(cell.durations);
      }
    }
  }
  PerfSummary summary;
  for (auto& [name, sum] : sums) {
    sum.row.name = name;
    sum.row.durations = std::move(sum.durations);
    summary.rows.push_back(std::move(sum.row));
  }
  sort_and_set_shares(summary);
  return summary;
}

}}}  // namespace tracing::v1::internal
