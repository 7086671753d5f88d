// Recording: a recording that is read, from a file or in the process that writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tracing_core/model/instant.h"
#include "tracing_core/record/entry.h"

namespace tracing { inline namespace v1 { namespace recording {

class Piece;
class RecordingState;

struct Thread {
  std::uint64_t number = 0;
  std::int64_t os_thread = 0;  ///< the system's number; zero: not known
  std::string name{};
};

/// A thread, or several short threads, one after another.
struct TrackSummary {
  std::uint64_t number = 0;           ///< of the first thread
  Thread thread{};                    ///< the last one
  std::vector<std::uint64_t> open{};  ///< keys of the spans that it is in, outermost first, after the last record
  std::uint64_t lost = 0;             ///< records that are not in the recording
};

struct Losses {
  std::uint64_t count = 0;
  bool is_exact = true;  ///< otherwise there may be more: of many tags, the writer counts only some
};

/// A recording. Accepts any bytes: reads the valid records, and reports in problems() where bytes are invalid. A file
/// of more than 16 MiB that is not compressed stays open and is read again by each for_each(), so that it takes memory
/// for what its chunks are about and one chunk of each track: about 3 % of its size. Other recordings are in memory,
/// without holes of their file. Thread-compatible.
class Recording {
 public:
  /// Reads a file, also while a process writes it, or one that gzip compressed, or one in a TAR, by a path like
  /// `run.tar/x.rec.gz`. Returns null, and `error` says why, if the file is missing or is not a recording.
  static std::unique_ptr<Recording> read_file(std::string const& path, std::string& error);
  /// Reads the bytes of a file, compressed or not.
  static std::unique_ptr<Recording> read_bytes(std::string_view bytes, std::string& error);
  explicit Recording(std::unique_ptr<RecordingState> state) noexcept;
  Recording(Recording const&) = delete;
  Recording& operator=(Recording const&) = delete;
  ~Recording();

  /// Calls `f(Entry const&)` for each entry in the order of time.
  template <class F>
  void for_each(F&& f) {
    using Function = std::remove_reference_t<F>;
    visit([](void* context, Entry const& entry) { (*static_cast<Function*>(context))(entry); },
          const_cast<void*>(static_cast<void const*>(&f)));
  }

  /// Lets for_each() leave out the pieces for which `is_wanted(Piece const&)` returns false, so that reading a part
  /// takes the time for the part. Marks, the last piece of each track and pieces with records of wrong sizes are never
  /// left out, nor are the ends of spans that were visited before. A piece that remains begins with entries that
  /// describe the spans around it again. Unless the recording is damaged, lost() and tracks() say the same as for all
  /// pieces; damage of pieces that are left out is not reported.
  ///
  /// Returns false if nothing is left out. Everything is visited if the recording has a span that is not a scope of its
  /// thread (a handle, an operation of a GPU), values that a span got after it began, a `follows_from`, an event that
  /// names its parent or, if any piece is wanted, a gap between the records of a thread.
  template <class F>
  bool narrow(F&& is_wanted) {
    using Function = std::remove_reference_t<F>;
    return narrow_to(
        [](void* context, Piece const& piece) -> bool { return (*static_cast<Function*>(context))(piece); },
        const_cast<void*>(static_cast<void const*>(&is_wanted)));
  }
  /// Lets for_each() leave out the pieces without marks, but the last of each track. Spans may be wrong or missing
  /// then.
  void narrow_to_marks() noexcept;
  /// Lets for_each() visit everything again.
  void widen() noexcept;
  /// The callsites of events and spans in the pieces that are left out.
  std::vector<Metadata const*> callsites_left_out() const;

  /// True if it has a record of this type. Fast.
  bool has(EntryType type) const noexcept;
  /// True if the program ran tests: then marks follow the mark `process`, which other programs make, too. Fast.
  bool runs_tests() const noexcept;
  /// Returns the approximate number of entries that for_each() visits: some of the counted records only describe the
  /// recording.
  std::uint64_t entry_count() const noexcept;
  /// The size of all records. A sparse or damaged file may be much larger.
  std::size_t size_bytes() const noexcept;

  std::uint64_t process() const noexcept;
  /// The errno with which the recording could not grow, zero if it could. Any number if the recording is damaged.
  int growth_error() const noexcept;
  /// When it began.
  Instant start() const noexcept;
  /// Sets the beginning of interest: for_each() passes earlier entries as `is_context`.
  void start_at(std::uint64_t ticks) noexcept;
  /// When it ended, after its last entry: what is open lasts until then. Zero if that is not known.
  Instant end() const noexcept;
  void end_at(std::uint64_t ticks) noexcept;
  /// By number. `thread`, `open` and `lost` are known after for_each().
  std::vector<TrackSummary> const& tracks() const noexcept;
  /// By number, with the tracks of marks.
  std::vector<Thread> const& threads() const noexcept;
  /// Without a name and a system id if the recording does not have it.
  Thread thread(std::uint64_t number) const;
  /// The number of records that found no room at all.
  std::uint64_t dropped() const noexcept;
  /// The number of records that are missing since their thread was making another one, as in a signal's handler.
  std::uint64_t interrupted() const noexcept;
  /// The entries that were overwritten or found no room. REQUIRES: for_each() was called.
  Losses lost() const noexcept;
  /// The number of lost entries with this tag; zero also if the recording does not know.
  std::uint64_t lost_of(std::uint32_t tag) const noexcept;
  /// A sentence for each piece that makes no sense.
  std::vector<std::string> const& problems() const noexcept;

 private:
  friend class Recordings;
  void visit(void (*each)(void* context, Entry const& entry), void* context);
  bool narrow_to(bool (*is_wanted)(void* context, Piece const& piece), void* context);

  std::unique_ptr<RecordingState> const state_;
};

/// Calls `f(Entry const&)` for each mark, and perhaps for other entries. Fast. Ends, even by an exception, with
/// Recording::widen(), which undoes an earlier narrow().
template <class F>
void for_each_mark(Recording& recording, F&& f) {
  struct Widening {
    Recording& recording;
    ~Widening() { recording.widen(); }
  } const at_end{recording};
  recording.narrow_to_marks();
  recording.for_each(f);
}

}}}  // namespace tracing::v1::recording
