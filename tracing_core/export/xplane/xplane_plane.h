// XPlane: keeps a part of a profile for xprof until it is written: a processor's lines with their events.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracing_core/model/text_buffer.h"
#include "tracing_core/model/value.h"

namespace tracing { inline namespace v1 { namespace recording {

// Keeps lines and events. An event takes 32 bytes, plus its stats. Times are nanoseconds since the profile began.
// Single-thread. Source: tsl/profiler/protobuf/xplane.proto and, for how readers understand it, xla/tsl/profiler/utils.
class XPlane {
 public:
  using Out = std::function<void(std::string_view)>;

  XPlane(std::string name, std::int64_t id) : name_(std::move(name)), id_(id) {}
  XPlane(XPlane const&) = delete;
  XPlane& operator=(XPlane const&) = delete;

  static constexpr std::int64_t kMaxNs = INT64_MAX / 1000;  // 106 days, since picoseconds are an int64
  struct Event {
    std::int64_t begin_ns = 0;  // not negative
    std::int64_t duration_ns = 0;
    std::uint64_t stats_at = 0;
    std::uint32_t stats_size = 0;
    std::uint32_t metadata = 0;
  };
  struct Line {
    std::int64_t id = 0;
    std::string name{};
    std::deque<Event> events{};  // by begin_ns, then outermost first; a deque, since growing a vector copies it
    TextBuffer stats{};          // encoded, of all events
  };

  std::string const& name() const noexcept { return name_; }
  // Adds a line with the number `id` or, if another line has that number, the next free number. The reference stays
  // valid.
  // REQUIRES: 0 <= id < 2^31.
  Line& add_line(std::int64_t id, std::string_view name);

  // Returns the number that stands for a name of stats.
  std::uint32_t stat(std::string_view name);
  // Adds the name and encoded stats that events have in common. Returns their number.
  std::uint32_t add_metadata(std::string_view name, std::string_view stats);
  void add_own_stat(std::string_view name, std::uint64_t value);

  // Appends an encoded stat of an event, of metadata or of the plane, unless the value is empty.
  enum class Of : std::uint32_t { event = 4, metadata = 5, plane = 6 };
  static void append_stat(TextBuffer& to, Of of, std::uint32_t stat, Value const& value);

  // Passes the plane to `out`, encoded as this field of a message.
  void write(std::uint32_t field, Out const& out) const;

 private:
  std::int64_t free_id(std::int64_t id);
  static std::uint64_t size_of(Event const& event) noexcept;

  std::string const name_;
  std::int64_t const id_;
  std::deque<Line> lines_;
  // Maps each taken number to a later number; all numbers between the two are taken.
  std::unordered_map<std::int64_t, std::int64_t> next_ids_;
  std::map<std::string, std::uint32_t, std::less<>> stats_;
  std::uint32_t last_metadata_ = 0;
  TextBuffer metadata_;  // encoded
  TextBuffer own_stats_;
};

}}}  // namespace tracing::v1::recording
