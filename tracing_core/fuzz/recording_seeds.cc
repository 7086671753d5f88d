// Writes recordings to begin with into a folder: recording_seeds <folder>
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
#include <utility>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/fuzz/packed_recording.h"
#include "tracing_core/record/record.h"
#include "tracing_core/tracing.h"

namespace {

using tracing::empty;
using tracing::kv;
using tracing::parent;
using tracing::Value;

template <class F>
void write(std::string const& path, F f) {
  std::string const recording = path + ".recording";
  std::filesystem::remove(recording);
  auto [layer, error] = tracing::record_layer({.path = recording, .limit_bytes = 1 << 20});
  if (error) throw std::system_error(error, recording);
  auto const registry = tracing::RegistryBuilder().with(std::move(layer)).build();
  with_default(registry, [&] { f(registry); });
  std::ifstream file(recording, std::ios::binary);
  std::ofstream(path, std::ios::binary) << tracing_fuzz::pack(std::string(std::istreambuf_iterator<char>(file), {}));
  std::filesystem::remove(recording);  // the registry still writes to the file, which may not be cut before it ends
}

void scopes(std::shared_ptr<tracing::Registry> const&) {
  int const count = 4;
  TRACE_SPAN(info, "launch", count, kv("kernel.name", "double"));
  TRACE_INFO("moved {} bytes {:>8} {:#x} {:{}}", 64, "to", 255, 1.5, 9);
  TRACE_PERF("load", kv("bytes", 7));
  TRACE_VALUES(trace, count, kv("text", "two\nlines"));
}

void values(std::shared_ptr<tracing::Registry> const&) {
  TRACE_VALUES(info, kv("b", true), kv("i", -1), kv("u", 2u), kv("f", 1.5), kv("g", 0.1f),
               kv("p", reinterpret_cast<void const*>(0x10)), kv("error", std::runtime_error("an error")),
               kv("list", std::vector<int>{1, 2}), kv("big", static_cast<Value::Int128>(-5)),
               kv("none", std::optional<int>()), kv("long", std::string(5000, 'x')));
}

void handles(std::shared_ptr<tracing::Registry> const& registry) {
  auto request = TRACE_MAKE_SPAN(warn, "request", kv("status", empty));
  std::thread([&] {
    with_default(registry, [&] {
      request.in_scope([] { TRACE_WARN("inside"); });
      request.record(kv("status", 200));
    });
  }).join();
  TRACE_ERROR("below", parent(request));
  auto other = TRACE_MAKE_SPAN(info, "other", parent(nullptr));
  other.follows_from(request);
}

void sites_of_run_time(std::shared_ptr<tracing::Registry> const&) {
  for (int i = 0; i < 30; ++i) {
    std::string const name = "span " + std::to_string(i);
    tracing::RuntimeCallsite const callsite({.kind = tracing::Kind::span, .name = name});
    tracing::Span const span = tracing::Span::make(callsite.callsite(), nullptr);
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
}
