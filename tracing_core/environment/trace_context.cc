#include "tracing_core/environment/trace_context.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <errno.h>
#include <algorithm>
#include <array>
#include <vector>

#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/environment/child_environment.h"
#include "tracing_core/record/ring/mark_site.h"
#include "tracing_core/support/file_name.h"
#include "tracing_core/support/mixed_bits.h"
#include "tracing_core/support/short_text.h"

namespace tracing { inline namespace v1 {
namespace environment {
namespace {

using support::mixed_bits;

constexpr std::size_t kTraceparentBytes = 55;  // of version 00

// Returns an id, which is not zero.
std::uint64_t id_of(std::uint64_t hash) noexcept { return std::max<std::uint64_t>(mixed_bits(hash), 1); }

TraceId trace_of_text(std::string const& text) noexcept {
  return {mixed_bits(support::hash_of("high", support::hash_of(text))),
          id_of(support::hash_of("low", support::hash_of(text)))};
}

bool is_hex(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::uint64_t number_of_hex(std::string_view text) noexcept {
  std::uint64_t number = 0;
  for (char const c : text) number = number << 4 | static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  return number;
}

// Returns what is wrong with a member of TRACESTATE, `key=value`.
std::string_view problem_of_member(std::string_view member, std::vector<std::string_view>& keys) {
  constexpr std::size_t kMaxBytes = 256;
  std::string_view const key = member.substr(0, member.find('='));
  if (key.size() == member.size()) return "has a member without \"=\"";
  std::string_view const value = member.substr(key.size() + 1);
  auto const is_lower = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  bool const is_key = !key.empty() && key.size() <= kMaxBytes && is_lower(key.front()) &&
                      std::all_of(key.begin(), key.end(), [&](char c) {
                        return is_lower(c) || std::string_view("_-*/@").find(c) != std::string_view::npos;
                      });
  if (!is_key) return "has a bad key";
  bool const is_value =
      !value.empty() && value.size() <= kMaxBytes && value.back() != ' ' &&
      std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~' && c != '='; });
  if (!is_value) return "has a bad value";
  if (std::find(keys.begin(), keys.end(), key) != keys.end()) return "has a key twice";
  keys.push_back(key);
  return {};
}

SpanSource& source() {
  static auto* const the_source = new SpanSource;  // never destroyed
  return *the_source;
}

// Returns the span that the calling thread is in and that is in the recording; empty if there is none.
SpanRef recorded_span() noexcept {
  SpanRef found;
  Subscriber* const subscriber = current_subscriber();
  Registry* const registry = subscriber == nullptr ? nullptr : subscriber->as_registry();
  if (registry == nullptr || registry != source().registry) return found;
  registry->visit_current_spans(
      [](void* context, SpanRef span) {
        SpanRef& innermost = *static_cast<SpanRef*>(context);
        if (!innermost && span.slot()->record_keys[0] != 0) innermost = span;
      },
      &found);
  return found;
}

}  // namespace

std::string hex_of(TraceId id) { return fmt::format("{:016x}{:016x}", id.high, id.low); }
std::string hex_of(std::uint64_t span) { return fmt::format("{:016x}", span); }

std::string TraceParent::text() const {
  return "00-" + hex_of(trace) + "-" + hex_of(span) + (is_sampled ? "-01" : "-00");
}

std::optional<TraceParent> parse_traceparent(std::string_view text, std::string_view& what) noexcept {
  std::string_view const version = text.substr(0, 2);
  bool const is_version = version.size() == 2 && is_hex(version) && version != "ff";
  bool const is_later = is_version && version != "00";
  if (!is_version) return what = "has no version", std::nullopt;
  bool const has_length = text.size() == kTraceparentBytes || (is_later && text.size() > kTraceparentBytes);
  if (!has_length) return what = text.size() < kTraceparentBytes ? "too short" : "too long", std::nullopt;
  bool const has_dashes = text[2] == '-' && text[35] == '-' && text[52] == '-' &&
                          (text.size() == kTraceparentBytes || text[kTraceparentBytes] == '-');
  if (!has_dashes) return what = "has no dashes between its parts", std::nullopt;
  std::string_view const trace = text.substr(3, 32), span = text.substr(36, 16), flags = text.substr(53, 2);
  if (!is_hex(trace) || !is_hex(span) || !is_hex(flags))
    return what = "has characters other than 0 to 9 and a to f", std::nullopt;
  TraceParent const parent{{number_of_hex(trace.substr(0, 16)), number_of_hex(trace.substr(16))},
                           number_of_hex(span),
                           (number_of_hex(flags) & 1) != 0};
  if (!parent.trace) return what = "the trace is 0", std::nullopt;
  if (parent.span == 0) return what = "the span is 0", std::nullopt;
  return parent;
}

std::string_view problem_of_tracestate(std::string_view text) {
  constexpr std::size_t kMaxMembers = 32;
  std::vector<std::string_view> keys;
  for (;;) {
    std::size_t const comma = text.find(',');
    std::string_view const member = trimmed(text.substr(0, comma));
    if (!member.empty()) {
      std::string_view const problem = problem_of_member(member, keys);
      if (!problem.empty()) return problem;
    }
    if (keys.size() > kMaxMembers) return "has more than 32 members";
    if (comma == text.npos) return {};
    text.remove_prefix(comma + 1);
  }
}

TraceIds::TraceIds(TraceIdentity const& identity)
    : seed_(support::hash_of(fmt::format("{} {}", identity.process, identity.start_ns))) {
  std::string_view what;
  parent_ = parse_traceparent(identity.traceparent, what);
  std::string const process = identity.run.empty() ? hex_of(seed_) : identity.run + " " + identity.host;
  trace_ = parent_ ? parent_->trace : trace_of_text(process);
  root_ = id_of(support::hash_of("root " + process + " " + identity.traceparent));
}

std::uint64_t TraceIds::id(char kind, std::uint64_t number) const noexcept {
  return id_of(mixed_bits(seed_ + static_cast<std::uint64_t>(kind)) + number);
}

std::uint64_t TraceIds::test(std::uint32_t tag) const noexcept { return id('t', tag); }

TraceId TraceIds::trace_of(std::uint32_t tag) const noexcept {
  return tag == 0 ? trace_ : TraceId{id('h', tag), id('l', tag)};
}

std::string host_name() {
  utsname system{};
  uname(&system);
  return system.nodename;
}

// By system calls, since each test program calls it when it starts: a stream takes 20,000 instructions more.
std::string boot_id() {
  char id[8];
  int const file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  ssize_t const size = read(file, id, sizeof(id));
  close(file);
  return {id, static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

void set_span_source(SpanSource made) { source() = std::move(made); }

void write_process_mark(internal::RecordStore const& store, std::string const& traceparent,
                        std::string const& tracestate) {
  static auto const* const kSite =
      new internal::MarkSite("process", {"pid", "host", "boot", "command", "traceparent", "tracestate"});
  constexpr auto kDescribe = [](internal::ChunkWriter& writer) noexcept { writer.describe_thread("tracing"); };
  internal::ChunkWriter writer;
  writer.start(store.parts(), internal::kMarksTrack, getpid(), kDescribe);
  writer.pin_chunks(1);
  std::string const host = host_name(), boot = boot_id();
  std::array<Value, 6> const values{Value::of_i64(getpid()),
                                    Value::of_text(host),
                                    boot.empty() ? Value() : Value::of_text(boot),
                                    Value::of_text(std::string_view(program_invocation_name)),
                                    traceparent.empty() ? Value() : Value::of_text(traceparent),
                                    tracestate.empty() ? Value() : Value::of_text(tracestate)};
  writer.write({.type = internal::RecordType::mark,
                .metadata = &kSite->metadata(),
                .values = values.data(),
                .flags = static_cast<std::uint8_t>(Parent::Kind::root)},
               kDescribe);
}

}  // namespace environment

std::vector<std::pair<std::string, std::string>> child_environment() {
  using namespace environment;
  SpanSource const& from = source();
  std::string_view what;
  auto const got = parse_traceparent(from.traceparent, what);
  std::vector<std::pair<std::string, std::string>> variables;
  if (from.store != nullptr) {
    internal::RegionHeader const& header = from.store->region().header();
    TraceIds const ids(
        {header.process, header.start_ns, from.run, from.run.empty() ? std::string() : host_name(), from.traceparent});
    SpanRef const span = recorded_span();
    std::uint32_t const tag = from.tag_of == nullptr ? 0 : from.tag_of(span);
    std::uint64_t const id = span ? ids.span(span.slot()->record_keys[0]) : ids.around(tag);
    variables.emplace_back("TRACEPARENT", TraceParent{ids.trace_of(tag), id, !got || got->is_sampled}.text());
  } else if (got) {
    variables.emplace_back("TRACEPARENT", got->text());
  }
  if (!from.tracestate.empty()) variables.emplace_back("TRACESTATE", from.tracestate);
  return variables;
}

}}  // namespace tracing::v1
