#include "tracing_core/export/perfetto/perfetto_packets.h"

#include <algorithm>
#include <utility>

#include "tracing_core/export/timeline/timeline.h"
#include "tracing_core/export/timeline/trace_source.h"
#include "tracing_core/model/level.h"
#include "tracing_core/support/mixed_bits.h"

namespace tracing { inline namespace v1 { namespace recording {
namespace {

using support::mixed_bits;

constexpr std::size_t kPacketBlockBytes = 256 * 1024;

// Numbers of fields, from the messages in perfetto/protos/trace.
namespace packet {
constexpr std::uint32_t kClocks = 6, kTime = 8, kSequence = 10, kFlags = 13, kFirst = 87, kTrack = 60;
}
namespace track {
constexpr std::uint32_t kRow = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8, kOrdering = 11,
                        kOrder = 12;
}

std::uint64_t time_of(Instant time) noexcept { return static_cast<std::uint64_t>(std::max<std::int64_t>(time.ns, 0)); }

}  // namespace

PerfettoPackets::PerfettoPackets(PerfettoProcess process, Out out)
    : out_(std::move(out)),
      pid_(process.pid),
      seed_(mixed_bits(time_of(process.start) + mixed_bits(static_cast<std::uint64_t>(process.pid)))),
      sequence_((seed_ & 0x7fff'ffff) | 1),
      // Numbers of rows have 56 bits, so that they take fewer bytes.
      last_row_(seed_ >> 32 << 24 & 0xff'ffff'ffff'ffff) {
  std::uint64_t const start = time_of(process.start);
  add_packet([&] {
    proto_.number(packet::kTime, start);
    proto_.number(packet::kSequence, sequence_);
    proto_.number(packet::kFlags, 1);  // no names are defined yet
    proto_.number(packet::kFirst, 1);
    // Viewers take a time for the time since boot, if its packet names no clock. This snapshot says that the time since
    // boot equals the wall clock.
    proto_.message(packet::kClocks, [&] {
      for (std::uint64_t const clock : {1, 6})  // wall clock, time since boot
        proto_.message(1, [&] {
          proto_.number(1, clock);
          proto_.number(2, start);
        });
      proto_.number(2, 6);
    });
  });
  process_row_ = describe_row([&] {
    constexpr std::uint64_t kByOrder = 3;
    proto_.number(track::kOrdering, kByOrder);
    proto_.message(track::kProcess, [&] {
      proto_.integer(1, process.pid);
      proto_.text(6, process.name);
      proto_.number(7, start);
    });
  });
}

template <class F>
std::uint64_t PerfettoPackets::describe_row(F&& fill) {
  std::uint64_t const row = ++last_row_;
  add_packet([&] {
    proto_.number(packet::kSequence, sequence_);
    proto_.message(packet::kTrack, [&] {
      proto_.number(track::kRow, row);
      fill();
    });
  });
  return row;
}

std::uint64_t PerfettoPackets::add_thread(std::int64_t tid, std::string_view name) {
  return describe_row([&] {
    proto_.number(track::kParent, process_row_);
    proto_.message(track::kThread, [&] {
      proto_.integer(1, pid_);
      proto_.integer(2, tid);
      proto_.text(5, name);
    });
  });
}

std::uint64_t PerfettoPackets::add_row(std::string_view name, std::int64_t order) {
  return describe_row([&] {
    proto_.number(track::kParent, process_row_);
    proto_.text(track::kName, name);
    proto_.integer(track::kOrder, order);
  });
}

std::uint64_t PerfettoPackets::add_counter(std::string_view name) {
  return describe_row([&] {
    proto_.number(track::kParent, process_row_);
    proto_.text(track::kName, name);
    proto_.message(track::kCounter, [] {});
  });
}

void PerfettoPackets::begin_event(Event const& event) noexcept {
  constexpr std::uint64_t kNeedsNames = 2;
  proto_.number(packet::kTime, time_of(event.time));
  proto_.number(packet::kSequence, sequence_);
  proto_.number(packet::kFlags, kNeedsNames);
}

void PerfettoPackets::add_count(std::uint64_t row, Instant time, Value const& number) {
  constexpr Type kCount{4};
  add_packet({kCount, row, time}, [&] {
    switch (number.kind()) {
      case ValueKind::i64: return proto_.integer(30, number.as_i64());
      case ValueKind::f64:
      case ValueKind::f32: return proto_.real(44, number.as_double());
      default: return proto_.real(44, static_cast<double>(number.as_u64()));
    }
  });
}

void PerfettoPackets::fields(FieldValues const& values) {
  Callsite const& callsite = callsite_of(values.metadata());
  for (std::size_t i = 0; i < callsite.fields.size(); ++i) {
    if (callsite.fields[i] == 0) continue;
    if (Value const value = values.value(i); !value.is_empty()) annotate(callsite.fields[i], value);
  }
}

void PerfettoPackets::annotate(std::uint64_t name, Value const& value) noexcept {
  constexpr std::uint32_t kAnnotation = 4;
  proto_.message(kAnnotation, [&] {
    proto_.number(1, name);
    switch (value.kind()) {
      case ValueKind::boolean: return proto_.number(2, value.as_bool());
      case ValueKind::u64: return proto_.number(3, value.as_u64());
      case ValueKind::i64: return proto_.integer(4, value.as_i64());
      case ValueKind::f64:
      case ValueKind::f32: return proto_.real(5, value.as_double());
      case ValueKind::pointer: return proto_.number(7, reinterpret_cast<std::uintptr_t>(value.as_pointer()));
      default: with_text_of(value, [this](std::string_view text) { proto_.text(6, text); });
    }
  });
}

// ---- names ----

std::uint64_t PerfettoPackets::interned(Table table, std::string_view text) {
  std::string key(1, static_cast<char>(table));
  auto const [at, is_new] = names_.try_emplace(key.append(text), last_interned_ + 1);
  if (!is_new) return at->second;
  ProtoWriter names(new_names_);
  names.message(static_cast<std::uint32_t>(table), [&] {
    names.number(1, ++last_interned_);
    names.text(2, text);
  });
  return at->second;
}

std::uint64_t PerfettoPackets::interned_place(Metadata const& metadata) {
  ProtoWriter names(new_names_);
  names.message(static_cast<std::uint32_t>(Table::places), [&] {
    names.number(1, ++last_interned_);
    names.text(2, metadata.file());
    names.number(4, metadata.line());
  });
  return last_interned_;
}

PerfettoPackets::Callsite const& PerfettoPackets::callsite_of(Metadata const& metadata) {
  if (last_metadata_ == &metadata) return *last_callsite_;
  auto const [at, is_new] = callsites_.try_emplace(&metadata);
  Callsite& callsite = at->second;
  last_metadata_ = &metadata;
  last_callsite_ = &callsite;
  if (!is_new) return callsite;
  constexpr std::uint32_t kPlace = 34;
  TextBuffer fixed;
  ProtoWriter proto(fixed);
  proto.number(kCategory, interned(Table::categories, metadata.target()));
  proto.number(kCategory, interned(Table::categories, tracing::name(metadata.level())));
  if (!metadata.file().empty()) proto.number(kPlace, interned_place(metadata));
  if (metadata.is_span() && !is_kernel(metadata)) proto.number(kNameNumber, interned(Table::names, metadata.name()));
  callsite.fixed = fixed.view();
  for (std::size_t i = 0; i < metadata.fields().size(); ++i)
    callsite.fields.push_back(is_argument(metadata, i) ? interned(Table::fields, metadata.fields()[i]) : 0);
  return callsite;
}

// ---- output ----

void PerfettoPackets::finish_packet(std::size_t begin) {
  new_names_.clear();
  if (buffer_.truncated()) [[unlikely]] {
    buffer_.resize_down(begin);
    ++dropped_;
    // The names that the packet defined are missing, so all names are defined again.
    names_.clear();
    callsites_.clear();
    last_metadata_ = nullptr;
    return flush();
  }
  if (buffer_.size() >= kPacketBlockBytes) flush();
}

void PerfettoPackets::flush() {
  if (!buffer_.empty()) out_(buffer_.view());
  buffer_.clear();
}

}}}  // namespace tracing::v1::recording
