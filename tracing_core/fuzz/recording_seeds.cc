// Writes the recordings that the fuzzer begins with into a folder: recording_seeds <folder>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/emit/past_span.h"
#include "tracing_core/fuzz/packed_recording.h"
#include "tracing_core/record/ring/mark_site.h"
#include "tracing_core/record/ring/record_layer.h"
#include "tracing_core/tracing.h"

namespace {

using tracing::empty;
using tracing::kv;
using tracing::parent;
using tracing::target;
using tracing::Value;
using tracing::internal::RecordStore;

struct Place {
  std::shared_ptr<tracing::Registry> const& registry;
  RecordStore& store;
};

template <class F>
void write(std::string const& path, F f) {
  std::string const recording = path + ".recording";
  std::filesystem::remove(recording);
  std::error_code error;
  auto region = tracing::internal::Region::make_file(recording, 1 << 20, error);
  if (error) throw std::system_error(error, recording);
  auto const store = std::make_shared<RecordStore>(std::move(region));
  auto const registry =
      tracing::RegistryBuilder().with(std::make_unique<tracing::internal::RecordLayer>(store)).build();
  with_default(registry, [&] { f(Place{registry, *store}); });
  std::ifstream file(recording, std::ios::binary);
  std::ofstream(path, std::ios::binary) << tracing_fuzz::pack(std::string(std::istreambuf_iterator<char>(file), {}));
  std::filesystem::remove(recording);  // the registry still writes to the file, which may not be cut before it ends
}

void scopes(Place const&) {
  int const count = 4;
  TRACE_SPAN(info, "launch", count, kv("kernel.name", "double"));
  TRACE_INFO("moved {} bytes {:>8} {:#x} {:{}}", 64, "to", 255, 1.5, 9);
  TRACE_PERF("load", kv("bytes", 7));
  TRACE_VALUES(trace, count, kv("text", "two\nlines"));
}

void values(Place const&) {
  TRACE_VALUES(info, kv("b", true), kv("i", -1), kv("u", 2u), kv("f", 1.5), kv("g", 0.1f),
               kv("p", reinterpret_cast<void const*>(0x10)), kv("error", std::runtime_error("an error")),
               kv("list", std::vector<int>{1, 2}), kv("big", static_cast<Value::Int128>(-5)),
               kv("none", std::optional<int>()), kv("long", std::string(5000, 'x')));
}

void handles(Place const& place) {
  auto request = TRACE_MAKE_SPAN(warn, "request", kv("status", empty));
  std::thread([&] {
    with_default(place.registry, [&] {
      request.in_scope([] { TRACE_WARN("inside"); });
      request.record(kv("status", 200));
    });
  }).join();
  TRACE_ERROR("below", parent(request));
  auto other = TRACE_MAKE_SPAN(info, "other", parent(nullptr));
  other.follows_from(request);
}

void sites_of_run_time(Place const&) {
  for (int i = 0; i < 30; ++i) {
    std::string const name = "span " + std::to_string(i);
    tracing::RuntimeCallsite const callsite({.kind = tracing::Kind::span, .name = name});
    tracing::Span const span = tracing::Span::make(callsite.callsite(), nullptr);
  }
}

// Records that statistics and the rows of devices are made from.
void device(Place const&) {
  TRACE_SPAN(info, "step", kv("step_num", 3));
  {
    TRACE_SPAN(debug, "compile", target("tracing::cuda"), kv("kernel.name", "scale"), kv("cache", "miss"),
               kv("duration_ms", 1.5));
  }
  TRACE_DEBUG("found kernel", target("tracing::cuda"), kv("kernel.name", "scale"), kv("registers", 24),
              kv("shared_bytes", 64));
  void const* const pointer = reinterpret_cast<void const*>(0x100);
  {
    TRACE_SPAN(trace, "mem_alloc", target("tracing::cuda"), kv("bytes", 64), kv("device", 0));
    TRACE_TRACE("allocated", target("tracing::cuda"), kv("pointer", pointer));
  }
  std::tuple const grid(2U, 1U, 1U);
  auto launch = TRACE_MAKE_SPAN(trace, "launch", target("tracing::cuda"), kv("kernel.name", "scale"), kv("grid", grid),
                                kv("block", grid), kv("shared_bytes", 32));
  launch.in_scope([] {});
  tracing::RuntimeCallsite const kernel(
      {.kind = tracing::Kind::span,
       .name = "kernel",
       .target = "tracing::cuda::device",
       .fields = {"kernel.name", "grid", "block", "shared_bytes", "dynamic_shared_bytes", "registers"}});
  Value const axes = tracing::internal::value_of(grid);
  Value const values[] = {Value::of_text("scale"), axes, axes, Value::of_u64(96), Value::of_u64(32), Value::of_u64(24)};
  tracing::Instant const now = tracing::Instant::now();
  emit_past_span(kernel.callsite(), values, {{1 << 28, "GPU 0 stream 1"}, now, tracing::Instant{now.ns + 500}}, launch);
  {
    TRACE_SPAN(trace, "mem_free", target("tracing::cuda"), kv("pointer", pointer));
    TRACE_TRACE("freed", target("tracing::cuda"));
  }
  TRACE_VALUES(info, kv("counter.memory.used", 64));
}

// Marks tests as test programs do.
void tests(Place const& place) {
  static tracing::internal::MarkSite const begin("test_begin", {"test"}), end("test_end", {"test"});
  tracing::internal::ChunkWriter marks;
  auto const describe = [](tracing::internal::ChunkWriter& writer) { writer.describe_thread("testlog"); };
  auto const mark = [&](tracing::Metadata const& metadata, Value const* values) {
    marks.write({.type = tracing::internal::RecordType::mark,
                 .metadata = &metadata,
                 .values = values,
                 .flags = static_cast<std::uint8_t>(tracing::Parent::Kind::root)},
                describe);
  };
  marks.start(place.store.parts(), tracing::internal::kMarksTrack, getpid(), describe);
  for (std::uint32_t test = 1; test <= 2; ++test) {
    place.store.set_tag(test);
    std::string const name = "Suite.Test" + std::to_string(test);
    Value const values[] = {Value::of_text(name)};
    mark(begin.metadata(), values);
    { TRACE_SPAN(info, "work", test); }
    mark(end.metadata(), values);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("recording_seeds <folder>\n", stderr), 2;
  std::filesystem::create_directories(argv[1]);
  std::string const folder = std::string(argv[1]) + '/';
  write(folder + "scopes", scopes);
  write(folder + "values", values);
  write(folder + "handles", handles);
  write(folder + "sites_of_run_time", sites_of_run_time);
  write(folder + "device", device);
  write(folder + "tests", tests);
}
