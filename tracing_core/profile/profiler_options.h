// ProfilerOptions, ProfileResult: what a profile records, and what came of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tracing_core/profile/annotate.h"
#include "tracing_core/profile/link.h"

namespace tracing { inline namespace v1 {

struct ProfilerOptions {
  /// Spans, events, perf spans and annotations of the program.
  bool host = true;
  /// Kernels and copies, with the times of the device.
  bool device = true;
  /// Selects spans, events and perf spans, but not annotations and device work: `target=level,...,level`, see
  /// Targets::parse(). Perf spans of level trace are for details that slow the program down, so they are recorded only
  /// if the filter names their target: `trace,mylib=trace`.
  std::string filter = "trace";
  /// The most verbose annotations.
  AnnotationLevel annotations = AnnotationLevel::info;
  /// The memory that records may take, about: from 256 KiB to 16 GiB. If it is full, the oldest records are
  /// overwritten, which is reported. Memory is used only as it is filled, and given back when the profile is written.
  std::size_t limit_bytes = std::size_t{256} << 20;
  /// The name of the profile's folder, which several processes may share; `/` and `:` in it become `_`. Empty: the
  /// local time, and a number if that folder exists.
  std::string run{};
  /// The name of this process's files. Empty: the name of the machine.
  std::string host_name{};
  /// Prints to standard error where the files are, and the statistics of the profile.
  bool print = true;
  /// The number of rows of each printed table; zero: no tables.
  std::size_t table_rows = 20;
  /// Prints a link that opens the profile in ui.perfetto.dev, and waits until the page has fetched it: see
  /// serve_perfetto_link().
  bool create_perfetto_link = false;
  LinkOptions link{};
};

/// The result of a profile.
struct ProfileResult {
  /// Says what failed; empty if all went well.
  std::string error{};
  /// `dir/plugins/profile/<run>`, and the files written there, as absolute paths.
  std::string folder{};
  std::vector<std::string> files{};
  /// The number of records that are not in the files because limit_bytes was too small for them.
  std::uint64_t overwritten = 0;

  bool ok() const noexcept { return error.empty(); }
};

}}  // namespace tracing::v1
