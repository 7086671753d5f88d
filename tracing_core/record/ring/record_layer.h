// RecordLayer: records what a registry sees.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "tracing_core/collect/layer.h"
#include "tracing_core/collect/per_track.h"
#include "tracing_core/record/ring/chunk_writer.h"
#include "tracing_core/record/ring/region.h"
#include "tracing_core/record/ring/sites.h"
#include "tracing_core/support/fork.h"
#include "tracing_core/support/mutex.h"

namespace tracing { inline namespace v1 { namespace internal {

/// RecordStore: the memory or file that a layer fills. May outlive the layer. read_region() reads it. Thread-safe.
class RecordStore {
 public:
  explicit RecordStore(std::unique_ptr<Region> region) noexcept;
  /// Takes tags from `tag` instead of set_tag(), and tags of threads: see RecordingParts.
  RecordStore(std::unique_ptr<Region> region, std::atomic<std::uint32_t> const& tag,
              decltype(RecordingParts::tag_of_thread) tag_of_thread) noexcept;
  RecordStore(RecordStore const&) = delete;
  RecordStore& operator=(RecordStore const&) = delete;

  Region& region() const noexcept { return *region_; }
  /// For writers besides the layer's own.
  RecordingParts const& parts() const noexcept { return parts_; }
  Sites const& sites() const noexcept { return sites_; }
  /// Sets the tag of records from now on, such as the number of the running test. At most kMaxTag.
  void set_tag(std::uint32_t tag) noexcept { tag_.store(tag, std::memory_order_relaxed); }
  std::uint32_t tag() const noexcept { return parts_.tag->load(std::memory_order_relaxed); }

  /// Sets a function that is called once in a forked child before the child records. It returns true if it has moved
  /// the region, which is the child's then.
  using InChild = bool (*)(Region& region) noexcept;
  void set_in_child(InChild function) noexcept { in_child_ = function; }
  /// In a forked child: true if the region is the child's own. If several threads record first at the same time, one
  /// thread calls the function and the others wait.
  bool is_usable_in_child() noexcept;

 private:
  std::unique_ptr<Region> const region_;
  Sites sites_;
  std::atomic<std::uint32_t> tag_{0};
  RecordingParts const parts_;
  InChild in_child_ = nullptr;
  std::atomic<std::uint64_t> child_{0};  // how many forks led to the process, times 4, and a ChildState
};

/// The place in a span's slot where a layer keeps the span's key.
enum class SpanKeyPlace : std::uint8_t { registry, profile };

/// RecordLayer: records what a registry sees. A registry has at most one layer for each SpanKeyPlace. Later layers take
/// the time of a record from the recording, so that they print what a reader prints later. After fork() the child
/// records nothing if the recording is a file; otherwise it records into memory of its own. If
/// RecordStore::set_in_child() moves the memory, the child's own children record nothing.
class RecordLayer final : public Layer {
 public:
  /// Marks records that any of the layers `shown` sees by kShown.
  explicit RecordLayer(std::shared_ptr<RecordStore> store, LayerMask shown = 0,
                       SpanKeyPlace place = SpanKeyPlace::registry) noexcept;
  ~RecordLayer() override;

  Hooks hooks() const noexcept override { return Hooks::all | Hooks::scopes | Hooks::direct; }
  void on_new_span(SpanRef span, NewSpan const& made, Context const& context) noexcept override;
  void on_record(SpanRef span, FieldValues const& values, Context const& context) noexcept override;
  void on_follows_from(SpanRef span, SpanRef cause, Context const& context) noexcept override;
  void on_event(Event const& event, Context const& context) noexcept override;
  void on_enter(SpanRef span, Context const& context) noexcept override;
  void on_exit(SpanRef span, Context const& context) noexcept override;
  void on_close(SpanRef span, Context const& context) noexcept override;
  void on_timed(SpanRef span, Timing const& timing, Context const& context) noexcept override;
  void on_scope_begin(SpanRef span, Context const& context) noexcept override;
  void on_scope_end(SpanRef span, Context const& context) noexcept override;
  bool try_event(Track const& track, Metadata const& metadata, Value const* values, LayerMask mask) noexcept override {
    ChunkWriter* const writer = writer_of(track);
    return writer != nullptr && values != nullptr && writer->try_event(metadata, values, shown_flag(mask));
  }
  bool try_scope_begin(Track const& track, SpanRef span, Value const* values) noexcept override {
    ChunkWriter* const writer = writer_of(track);
    if (writer == nullptr || values == nullptr) return false;
    std::uint64_t const key = writer->try_scope_begin(span.metadata(), values, shown_flag(span.layers()));
    if (key == 0) return false;
    span.slot()->record_keys[place_] = key;
    if (place_ == 0) span.slot()->record_tag = writer->tag();
    return true;
  }
  bool try_scope_end(Track const& track, SpanRef) noexcept override {
    ChunkWriter* const writer = writer_of(track);
    return writer != nullptr && writer->try_scope_end();
  }
  bool try_new_span(Track const& track, SpanRef span, NewSpan const& made) noexcept override;
  bool try_step(Track const& track, SpanRef span, Step step) noexcept override {
    ChunkWriter* const writer = writer_of(track);
    return writer != nullptr && writer->try_step(type_of(step), span.metadata(), key_of(span));
  }
  void on_dropped() noexcept override;
  /// As on_exit() and on_scope_end(). Mark the record by kByException: an exception leaves the span.
  void on_exit_by_exception(SpanRef span, Context const& context) noexcept;
  void on_scope_end_by_exception(SpanRef span, Context const& context) noexcept;

 private:
  // A call of the registry. A new chunk describes the spans that the track was in before the call.
  struct Around {
    Context const& context;
    SpanRef left{};      // by this call: described, too
    SpanRef entered{};   // by this call: left out
    SpanRef named[2]{};  // by the record
  };

  // A chunk begins with at most so many of the spans that its thread is in, the innermost ones.
  static constexpr unsigned kMaxDescribed = 100;

  bool is_usable() const noexcept {
    return forks_when_used_.load(std::memory_order_relaxed) == fork_count() || is_usable_in_child();
  }
  bool is_usable_in_child() const noexcept;
  std::uint64_t key_of(SpanRef span) const noexcept { return span ? span.slot()->record_keys[place_] : 0; }
  std::uint8_t shown_flag(LayerMask mask) const noexcept { return (mask & shown_) != 0 ? kShown : 0; }
  static RecordType type_of(Step step) noexcept {
    if (step == Step::close) return RecordType::close;
    return step == Step::enter ? RecordType::enter : RecordType::exit;
  }
  static void share_time(LayerMask mask, Context const& context, ChunkWriter const& writer) noexcept;
  void describe(ChunkWriter& writer, SpanRef span, bool entered, unsigned max_parents = kMaxDescribed) const noexcept;
  void make_known(ChunkWriter& writer, SpanRef span, Around const& around) const noexcept;
  void describe_entered(Around const& around, ChunkWriter& writer) const noexcept;
  void write(ChunkWriter& writer, NewRecord const& record, Around const& around) const noexcept;
  // Returns the calling thread's writer, or null if `track` is another track or the thread has no writer yet.
  ChunkWriter* writer_of(Track const& track) const noexcept {
    ChunkWriter* const writer = writers_.own(track);
    return writer != nullptr && writer->thread_number() == track.number && is_usable() ? writer : nullptr;
  }
  ChunkWriter* usual_writer(Context const& context) const noexcept;
  ChunkWriter* writer_for(Around const& around, NewRecord& record) noexcept;
  ChunkWriter* other_writer(Around const& around, NewRecord& record) noexcept;
  ChunkWriter* start_writer(Track const& track, Around const& around) noexcept;
  std::uint64_t begin_scope(SpanRef span, Context const& context) noexcept;
  void end_scope(SpanRef span, Context const& context, std::uint8_t flags) noexcept;
  void add_event(Event const& event, Context const& context) noexcept;
  void step(RecordType type, SpanRef span, Context const& context) noexcept;
  void add_step(RecordType type, SpanRef span, Context const& context, std::uint8_t flags) noexcept;

  std::shared_ptr<RecordStore> const store_;
  LayerMask const shown_;
  std::size_t const place_;
  unsigned const forks_when_made_;
  mutable std::atomic<unsigned> forks_when_used_;
  UnseenMutex mutex_;  // locked by a thread's first record
  PerTrack<ChunkWriter> writers_;
};

}}}  // namespace tracing::v1::internal
