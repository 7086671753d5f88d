// TraceParent, TraceIds: how the traces and spans of processes are known to each other, by W3C's trace context.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tracing_core/collect/registry.h"
#include "tracing_core/collect/span_ref.h"
#include "tracing_core/record/ring/record_layer.h"

namespace tracing { inline namespace v1 { namespace environment {

/// The id of a trace, 128 bits; zero is no id.
struct TraceId {
  std::uint64_t high = 0, low = 0;

  explicit operator bool() const noexcept { return (high | low) != 0; }
  friend bool operator==(TraceId const&, TraceId const&) noexcept = default;
  friend auto operator<=>(TraceId const&, TraceId const&) noexcept = default;
};

/// Return 32 and 16 hexadecimal digits.
std::string hex_of(TraceId id);
std::string hex_of(std::uint64_t span);

/// A span of another process, around what this process does.
struct TraceParent {
  TraceId trace{};
  std::uint64_t span = 0;
  bool is_sampled = true;

  /// Returns the value of TRACEPARENT, of version 00.
  std::string text() const;
};

/// Reads the value of TRACEPARENT. Of a version after 00, reads what version 00 has. If the value is bad, returns
/// nothing and sets `what` to what is wrong. Source: https://www.w3.org/TR/trace-context/#traceparent-header.
std::optional<TraceParent> parse_traceparent(std::string_view text, std::string_view& what) noexcept;
/// Returns what is wrong with a value of TRACESTATE; empty if nothing is. Source: ../trace-context/#tracestate-header.
std::string_view problem_of_tracestate(std::string_view text);

/// What the ids of a process's traces and spans are made from.
struct TraceIdentity {
  std::uint64_t process = 0;  ///< its number
  std::int64_t start_ns = 0;  ///< when its recording began
  std::string run{};          ///< the id of its run of tests; empty: it runs no tests
  std::string host{};         ///< of a process that runs tests
  std::string traceparent{};  ///< as TRACEPARENT gave it; empty: none
};

/// Makes the ids, which are the same in the process that records and in each export of its recording.
///
/// The process has a span: it stands for the run of tests, which all processes of a ctest share, or for the process if
/// that runs no tests. This span is in the trace of TRACEPARENT or, without it, in a trace that is a hash of the run or
/// the process. The spans of tests are in the same trace. What happens inside a test, with the programs that it starts,
/// is in a trace of the test, around which is the test's inner span.
class TraceIds {
 public:
  explicit TraceIds(TraceIdentity const& identity);

  TraceId trace() const noexcept { return trace_; }
  std::uint64_t root() const noexcept { return root_; }
  std::optional<TraceParent> const& parent() const noexcept { return parent_; }
  /// The trace of what has this tag in the recording: of a test or, for 0, trace().
  TraceId trace_of(std::uint32_t tag) const noexcept;
  /// The span of a test in trace().
  std::uint64_t test(std::uint32_t tag) const noexcept;
  /// The span around what has this tag and no other span around it: a test's inner span or, for 0, root().
  std::uint64_t around(std::uint32_t tag) const noexcept { return tag == 0 ? root_ : id('i', tag); }
  /// The span with this key in the recording.
  std::uint64_t span(std::uint64_t key) const noexcept { return id('s', key); }

 private:
  std::uint64_t id(char kind, std::uint64_t number) const noexcept;

  std::optional<TraceParent> parent_;
  std::uint64_t seed_;  // of the recording
  TraceId trace_;
  std::uint64_t root_;
};

/// Where this process records its spans, for child_environment().
struct SpanSource {
  internal::RecordStore const* store = nullptr;  ///< null if it is in no file
  Registry const* registry = nullptr;            ///< whose spans `store` has
  std::string run{};                             ///< as in TraceIdentity
  std::string traceparent{}, tracestate{};
  /// Returns the tag with which the span began or, if it is empty, of the calling thread's next record. Null: zero.
  std::uint32_t (*tag_of)(SpanRef span) noexcept = nullptr;
};
/// Sets the source of the process, once. `store` and `registry` must live as long as the process.
void set_span_source(SpanSource source);

/// Returns the name of this host, as recordings have it.
std::string host_name();
/// Returns 8 hexadecimal digits that tell apart machines whose hosts have one name, such as containers: the beginning
/// of the kernel's boot id. Empty if the kernel does not tell it.
std::string boot_id();
/// Writes into the recording of a process that runs no tests which process it is, and TRACEPARENT and TRACESTATE if
/// they are set.
void write_process_mark(internal::RecordStore const& store, std::string const& traceparent,
                        std::string const& tracestate);

}}}  // namespace tracing::v1::environment
