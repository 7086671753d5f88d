// RecordLayer: records what a registry sees.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "tracing_core/collect/layer.h"
#include "tracing_core/collect/per_track.h"
#include "tracing_core/internal/fork.h"
#include "tracing_core/internal/mutex.h"
#include "tracing_core/record/region.h"
#include "tracing_core/record/sites.h"
#include "tracing_core/record/writer.h"

namespace tracing::inline v1::internal {

/// What the layer fills; it may outlive the layer, and is read by Recording::read_region(). Thread-safe.
class RecordStore {
 public:
  explicit RecordStore(std::unique_ptr<Region> region) noexcept;
  /// With the tag that is kept elsewhere, in place of set_tag(), and tags of threads, see RecordingParts.
  RecordStore(std::unique_ptr<Region> region, std::atomic<std::uint32_t> const& tag,
              decltype(RecordingParts::tag_of_thread) tag_of_thread) noexcept;
  RecordStore(RecordStore const&) = delete;
  RecordStore& operator=(RecordStore const&) = delete;

  Region& region() const noexcept { return *region_; }
  /// For writers besides those of the layer.
  RecordingParts const& parts() const noexcept { return parts_; }
  Sites const& sites() const noexcept { return sites_; }
  /// Records from now on have this tag, such as the number of the running test. At most kMaxTag.
  void set_tag(std::uint32_t tag) noexcept { tag_.store(tag, std::memory_order_relaxed); }
  std::uint32_t tag() const noexcept { return parts_.tag->load(std::memory_order_relaxed); }

 private:
  std::unique_ptr<Region> const region_;
  Sites sites_;
  std::atomic<std::uint32_t> tag_{0};
  RecordingParts const parts_;
};

/// Where spans keep their place in a recording.
enum class RecordPlace : std::uint8_t { registry, profile };

/// At most one for each RecordPlace in a registry. The layers after it take the time of a record from the recording, so
/// what they print is what a reader prints later. A forked child records nothing into a file, and into memory of its own
/// otherwise.
class RecordLayer final : public Layer {
 public:
  /// A call of the registry, and what a new chunk has to describe: the spans that the track was in before it.
  struct Around {
    RecordLayer const& layer;
    Context const& context;
    SpanRef left{};     ///< by this call: still to be described
    SpanRef entered{};  ///< by this call: not yet
    SpanRef named[2]{};  ///< by the record
  };

  /// Records that one of the layers `shown` sees are marked by kShown.
  explicit RecordLayer(std::shared_ptr<RecordStore> store, LayerMask shown = 0,
                       RecordPlace place = RecordPlace::registry) noexcept;
  ~RecordLayer() override;

  Hooks hooks() const noexcept override { return Hooks::all | Hooks::scopes; }
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
  void on_dropped() noexcept override;

 private:
  // A chunk begins with as many of the spans that its thread is in, the innermost ones.
  static constexpr unsigned kMaxDescribed = 100;

  bool is_usable() const noexcept { return is_anonymous_ || forks_when_made_ == fork_count(); }
  std::uint64_t key_of(SpanRef span) const noexcept { return span ? span.slot()->record_keys[place_] : 0; }
  std::uint8_t shown_flag(LayerMask mask) const noexcept { return (mask & shown_) != 0 ? kShown : 0; }
  static void share_time(LayerMask mask, Context const& context, Writer const& writer) noexcept;
  void describe(Writer& writer, SpanRef span, bool entered, void const* around,
                unsigned max_parents = kMaxDescribed) const noexcept;
  void make_known(Writer& writer, SpanRef span, Place const& place) const noexcept;
  static void describe_entered(void const* around, Writer& writer) noexcept;
  Writer* usual_writer(Context const& context) const noexcept;
  Writer* writer_for(Around const& around, Place& place) noexcept;
  Writer* start_writer(Track const& track, void const* around) noexcept;
  std::uint64_t begin_scope(SpanRef span, Context const& context) noexcept;
  void add_event(Event const& event, Context const& context) noexcept;
  void step(RecordType type, SpanRef span, Context const& context) noexcept;

  std::shared_ptr<RecordStore> const store_;
  LayerMask const shown_;
  std::size_t const place_;
  bool const is_anonymous_;
  unsigned const forks_when_made_;
  UnseenMutex mutex_;  // taken by a thread's first record
  PerTrack<Writer> writers_;
};

}  // namespace tracing::inline v1::internal
