// PerfettoTrace is a trace for ui.perfetto.dev, read and checked as its viewer would read it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "perfetto.pb.h"

namespace testlog_test {

struct PerfettoSlice {
  std::string name;
  std::uint64_t begin = 0;
  std::optional<std::uint64_t> end;  // nothing if it is open
  bool is_instant = false;
  std::size_t depth = 0;
  std::vector<std::string> categories;
  std::map<std::string, std::string> args;  // as text; values that are texts are quoted
  std::string place;                        // file:line
  std::vector<std::uint64_t> flows;
};

struct PerfettoRow {
  std::string kind;  // process, thread, counter, or empty
  std::string name;
  std::int64_t number = 0;  // number of the process or thread
  std::uint64_t parent = 0;
  std::vector<PerfettoSlice> slices;  // in the order of their beginnings
  std::vector<std::pair<std::uint64_t, double>> counts;
};

struct PerfettoTrace {
  std::map<std::uint64_t, PerfettoRow> rows;
  std::vector<std::string> problems;  // a sentence for each rule of the viewer that the trace breaks
  std::size_t packets = 0;

  // Ignores bytes after the last whole packet.
  static PerfettoTrace read(std::string_view bytes);
  static PerfettoTrace read(testlog_perfetto::Trace const& trace);
  // Returns the first row with this name, or a row without slices if the name is unknown.
  PerfettoRow const& row(std::string_view name) const;
};

// Returns the places where packets end.
std::vector<std::size_t> packet_ends(std::string_view bytes);

}  // namespace testlog_test
