// Follower: reads a recording while a process writes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tracing_core/record/recording.h"

namespace tracing { inline namespace v1 { namespace recording {

/// Reads only chunks that have changed, so a call costs little if little was recorded. Takes memory for what is new,
/// and a little for each chunk of the file. Single-thread.
class Follower {
 public:
  /// Returns null, and `error` says why, if the file is missing or is not a recording.
  static std::unique_ptr<Follower> open(std::string const& path, std::string& error);
  Follower(Follower const&) = delete;
  Follower& operator=(Follower const&) = delete;
  ~Follower();

  /// Returns what was recorded since the last call; null if nothing was. Earlier entries are in it as well, since a
  /// chunk is read as a whole: replay only the entries for which is_new() holds, the others are their context. Each
  /// entry is new once. Where entries of a thread are missing, what follows them is new only in the next call: they may
  /// be in a chunk that was given out while the others were read. Pass `is_last` when the process has ended.
  std::unique_ptr<Recording> read_new(bool is_last);
  /// True if an entry of the last read_new() was not in an earlier one.
  bool is_new(Entry const& entry) const;
  /// The number of entries that were overwritten before they were read.
  std::uint64_t lost() const noexcept;

  /// Returns all that is in the file now. Null if the file is not a recording any more.
  std::unique_ptr<Recording> read_all() const;
  std::uint64_t process() const noexcept;

 private:
  class State;
  explicit Follower(std::unique_ptr<State> state) noexcept;

  std::unique_ptr<State> const state_;
};

}}}  // namespace tracing::v1::recording
