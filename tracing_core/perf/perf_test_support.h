// Perf spans for tests: spans of a library, and spans whose durations the test chooses.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <utility>

#include "tracing_core/collect/registry.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/print.h"
#include "tracing_core/perf/perf_layer.h"
#include "tracing_core/tracing.h"

namespace lib {

inline void ldg(int bytes) { TRACE_PERF("cpu_ldg", bytes); }

inline void program(int blocks) {
  TRACE_PERF_AT(info, "cpu_execute_program", blocks);
  ldg(4);
  ldg(8);
}

struct Machine {
  static void run() {
    TRACE_SPAN(warn, "launch", tracing::kv("stream", 7));
    program(2);
  }
};

}  // namespace lib

namespace tracing::perf_test {

// While it lives, a registry that prints and collects perf spans is the thread's default.
class Collected {
 public:
  explicit Collected(PerfOptions options = {}, FormatKind kind = FormatKind::full,
                     std::unique_ptr<Filter> print_filter = nullptr, bool ansi = false) {
    PrintOptions print;
    print.format.kind = kind;
    print.format.timer = nullptr;
    print.format.ansi = ansi;
    print.format.file = false;
    print.format.line_number = false;
    print.writer = to_sink(make_sink([this](Level, std::string_view line) { text_ += line; }));
    auto [layer, filter, statistics] = perf_layer(std::move(options));
    statistics_ = statistics;
    registry_ = RegistryBuilder()
                    .with(print_layer(std::move(print)), std::move(print_filter))
                    .with(std::move(layer), std::move(filter))
                    .build();
    scope_.emplace(registry_);
  }

  std::shared_ptr<Registry> const& registry() const { return registry_; }
  std::string take() { return std::exchange(text_, {}); }
  // The output since the last take, with durations replaced by `<us>` and `<ms>`.
  std::string take_without_durations() {
    return std::regex_replace(take(), std::regex("duration_us=[0-9]+ duration_ms=[0-9]+\\.[0-9]+"),
                              "duration_us=<us> duration_ms=<ms>");
  }
  PerfSummary summary() const { return statistics_->summary(); }

 private:
  std::string text_;
  std::shared_ptr<PerfStatistics const> statistics_;
  std::shared_ptr<Registry> registry_;
  std::optional<ScopedDefault> scope_;
};

inline WriterPtr to_text(std::string& text) {
  return to_sink(make_sink([&text](Level, std::string_view line) { text += line; }));
}

// Perf spans whose durations a test chooses.
template <std::size_t kFields>
struct Fixed {
  std::string text;
  internal::FieldEntry fields[kFields + 1];
  Metadata metadata;
  Callsite callsite{metadata};

  Fixed(std::string_view name, std::array<std::string_view, kFields> const& names)
      : metadata([&] {
          internal::MetadataParts parts;
          text.append(name).append("hologram_tracing::performance").append("run");
          for (std::size_t i = 0; i < kFields; ++i) {
            auto const offset = static_cast<std::uint32_t>(text.size());
            text.append(names[i]);
            fields[i] = internal::field_entry(offset, names[i].data(), names[i].size(), static_cast<std::uint8_t>(i));
          }
          parts.text = text.data();
          parts.fields = fields;
          parts.name_size = static_cast<std::uint32_t>(name.size());
          parts.target_size = 29;
          parts.function_size = 3;
          parts.field_count = parts.value_count = kFields;
          parts.level = Level::debug;
          parts.kind = Kind::span;
          parts.max_level = LevelFilter::trace;
          parts.is_perf = true;
          return parts;
        }()) {}

  OpenSpan open(std::array<Value, kFields> const& values) {
    LayerMask const mask = callsite.enabled();
    return mask == 0 ? OpenSpan{} : current_subscriber()->open_scope(metadata, mask, values.data());
  }
  static void close(OpenSpan span, std::uint64_t duration_ns, std::uint64_t self_ns) {
    if (span.id) span.subscriber->close_timed_scope(span.id, {duration_ns, self_ns, Timing::kNoThreshold});
  }
};

// Callsites are never destroyed.
inline auto& program_span() {
  static auto& span = *new Fixed<3>("cpu_execute_program", {"instructions", "grid_size", "block_size"});
  return span;
}
inline auto& load_span() {
  static auto& span = *new Fixed<1>("cpu_ldg", {"bytes"});
  return span;
}

inline void load(std::uint64_t ns) { load_span().close(load_span().open({Value::of_i64(4)}), ns, ns); }
inline void run_program() {
  OpenSpan const span = program_span().open({Value::of_i64(3), Value::of_i64(1), Value::of_i64(1)});
  load(3'210);
  load(1'999);
  program_span().close(span, 83'400, 83'400 - 3'210 - 1'999);
}

}  // namespace tracing::perf_test
