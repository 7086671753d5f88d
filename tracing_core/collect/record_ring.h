// RecordRing: the last records of a process, stored as typed values in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "tracing_core/collect/layer.h"
#include "tracing_core/collect/record_view.h"

namespace tracing::inline v1 {

namespace internal {
struct RingState;
}

/// A copy of the records of a ring at one moment. Reading it takes no lock. Thread-compatible.
class RecordSnapshot {
 public:
  RecordSnapshot() noexcept;
  RecordSnapshot(RecordSnapshot&&) noexcept;
  RecordSnapshot& operator=(RecordSnapshot&&) noexcept;
  ~RecordSnapshot();

  std::size_t size() const noexcept;
  bool empty() const noexcept { return size() == 0; }
  /// The number of the oldest record in it.
  std::uint64_t first_number() const noexcept;

  /// Calls `f(RecordView const&)` for each record, oldest first.
  template <class F>
  void for_each(F&& f) const {
    using Function = std::remove_reference_t<F>;
    visit([](void* context, RecordView const& record) { (*static_cast<Function*>(context))(record); },
          const_cast<void*>(static_cast<void const*>(&f)));
  }

  /// Replays the records to `to`, each with its own track and time, as far as `to` wants them. State from before the
  /// first record, and records that `select(RecordView const&)` rejects, are replayed only as context of others and
  /// marked as restored, so that layers print nothing for them. Spans that are open at the end are closed, marked as
  /// restored. Records that layers of `to` emit meanwhile are dropped.
  template <class F>
  void replay(Subscriber& to, F&& select) const {
    using Function = std::remove_reference_t<F>;
    replay_selected(
        to, [](void* context, RecordView const& record) -> bool { return (*static_cast<Function*>(context))(record); },
        const_cast<void*>(static_cast<void const*>(&select)));
  }
  void replay(Subscriber& to) const {
    replay(to, [](RecordView const&) { return true; });
  }

 private:
  friend class RecordRing;
  struct Content;

  void visit(void (*each)(void* context, RecordView const& record), void* context) const;
  void replay_selected(Subscriber& to, bool (*select)(void* context, RecordView const& record), void* context) const;

  std::unique_ptr<Content> content_;
};

/// The last records of a process; the oldest are overwritten first. A span is kept, with its values at the oldest
/// stored record, while it is open or a stored record refers to it. Thread-safe. An event costs about 65 ns, including
/// the clock. A forked child inherits the records. If a record is larger than a quarter of the ring, its texts are cut
/// to a 64th of the ring each, followed by `... (1048576 bytes)`.
class RecordRing : public std::enable_shared_from_this<RecordRing> {
 public:
  static constexpr std::size_t kDefaultBytes = std::size_t{4} << 20;

  /// A ring of `capacity_bytes` for records, at least 4096. Spans need additional memory, some 250 bytes each. Null if
  /// memory runs out.
  static std::shared_ptr<RecordRing> make(std::size_t capacity_bytes = kDefaultBytes);
  RecordRing(RecordRing const&) = delete;
  RecordRing& operator=(RecordRing const&) = delete;
  ~RecordRing();

  /// A layer for one registry that fills the ring. Any number of layers may fill it.
  std::unique_ptr<Layer> make_layer();

  /// Sets the tag that is stored with each new record, such as the number of the running test.
  void set_tag(std::uint32_t tag) noexcept;
  std::uint32_t tag() const noexcept;

  /// The number of the next record.
  std::uint64_t next_number() const noexcept;
  /// The number of the oldest stored record; next_number() if there is none.
  std::uint64_t first_number() const noexcept;
  /// How many records were overwritten or did not fit since the ring was created.
  std::uint64_t dropped() const noexcept;
  /// The same for records with `tag`. Known for the last 256 consecutive tags that lost records; 0 for others.
  std::uint64_t dropped_of(std::uint32_t tag) const noexcept;

  /// A copy of the records from `from_number`.
  RecordSnapshot snapshot(std::uint64_t from_number = 0) const;
  /// Removes all records. Open spans are kept.
  void clear() noexcept;

  /// For the handler of a fatal signal: calls `visit` for each record from `from_number`, oldest first, and removes
  /// them. Async-signal-safe: it neither allocates nor frees memory. If the ring is being written to, it waits at most
  /// about 100 ms and then reads without the lock, as far as the records are consistent. A span's values are read by
  /// RecordedSpan::for_each_group(); of a span recorded to more than 15 times, the earlier ones of these are left out.
  /// Needs about 8 KiB of stack.
  void drain_dying(std::uint64_t from_number, void (*visit)(void* context, RecordView const& record),
                   void* context) noexcept;

 private:
  explicit RecordRing(std::unique_ptr<internal::RingState> state) noexcept;

  std::unique_ptr<internal::RingState> state_;
};

}  // namespace tracing::inline v1
