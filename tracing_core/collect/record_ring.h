// Declares RecordRing, the last records of a process kept as typed values in bounded memory, and the layer that fills it.
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

/// The records of a ring at one moment, copied: looking at them takes no lock and hinders nobody. Thread-compatible.
class RecordSnapshot {
 public:
  RecordSnapshot() noexcept;
  RecordSnapshot(RecordSnapshot&&) noexcept;
  RecordSnapshot& operator=(RecordSnapshot&&) noexcept;
  ~RecordSnapshot();

  std::size_t size() const noexcept;
  bool empty() const noexcept { return size() == 0; }
  /// The number of the oldest record in it: those before it were overwritten.
  std::uint64_t first_number() const noexcept;

  /// Calls `f(RecordView const&)` for each record, oldest first.
  template <class F>
  void for_each(F&& f) const {
    using Function = std::remove_reference_t<F>;
    visit([](void* context, RecordView const& record) { (*static_cast<Function*>(context))(record); },
          const_cast<void*>(static_cast<void const*>(&f)));
  }

  /// Feeds the records to `to`, each with its own track and time, as they were emitted; what `to` does not want is left
  /// out. Records that `select(RecordView const&)` refuses, and what stood before the first record, are fed only as far as
  /// others need them for their context, marked as restored, so that layers stay silent about them. Spans still open at the
  /// end are closed, restored too. What layers of `to` emit meanwhile is dropped.
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

/// The last records of a process, oldest overwritten first. A span stays known, with the values it has at the oldest record
/// left, while it is open or a record that is left refers to it. Thread-safe. An event costs about 50 ns, the clock among
/// them. Safe across fork: the child goes on with what was there. A record larger than a quarter of the ring is kept with its
/// long texts cut to a 64th of the ring each, `... (1048576 bytes)` behind them.
class RecordRing : public std::enable_shared_from_this<RecordRing> {
 public:
  static constexpr std::size_t kDefaultBytes = std::size_t{4} << 20;

  /// A ring of `capacity_bytes` for records, at least 4096; spans take memory of their own, some 250 bytes for each one that
  /// is known. Null where memory ran out.
  static std::shared_ptr<RecordRing> make(std::size_t capacity_bytes = kDefaultBytes);
  RecordRing(RecordRing const&) = delete;
  RecordRing& operator=(RecordRing const&) = delete;
  ~RecordRing();

  /// A layer that fills the ring, for one registry. Any number of them may fill one ring.
  std::unique_ptr<Layer> make_layer();

  /// What records carry from now on, for the owner's own use: which test runs.
  void set_tag(std::uint32_t tag) noexcept;
  std::uint32_t tag() const noexcept;

  /// The number that the next record gets.
  std::uint64_t next_number() const noexcept;
  /// The number of the oldest record that is left; next_number() where none is.
  std::uint64_t first_number() const noexcept;
  /// How many records were overwritten, or did not fit, since the ring was made.
  std::uint64_t dropped() const noexcept;
  /// The same of those that carried `tag`. Known for the 256 tags that lost records last, counted up by one each; 0 for others.
  std::uint64_t dropped_of(std::uint32_t tag) const noexcept;

  /// A copy of the records from `from_number` on.
  RecordSnapshot snapshot(std::uint64_t from_number = 0) const;
  /// Forgets all records. Open spans stay known.
  void clear() noexcept;

  /// For the handler of a fatal signal: calls `visit` for each record from `from_number` on, oldest first, and forgets
  /// them. Async-signal-safe: it allocates nothing and frees nothing, and waits for at most about 100 ms where the ring is
  /// just being written to; after that it reads without the lock, as far as what it reads makes sense. Values beyond a
  /// span's first 100 bytes may be missing. Needs about 8 KiB of stack.
  void drain_dying(std::uint64_t from_number, void (*visit)(void* context, RecordView const& record), void* context) noexcept;

 private:
  explicit RecordRing(std::unique_ptr<internal::RingState> state) noexcept;

  std::unique_ptr<internal::RingState> state_;
};

}  // namespace tracing::inline v1
