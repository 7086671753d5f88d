// XplaneProfile is a profile for xprof, read and checked as xprof would read it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "xplane.pb.h"

namespace testlog_test {

struct XplaneEvent {
  std::string name;
  std::int64_t begin_ps = 0;
  std::int64_t duration_ps = 0;
  std::size_t depth = 0;  // how many events of the line are around it
  // The args of the event and of its metadata, as text; values that are texts are quoted.
  std::map<std::string, std::string> args;

  std::int64_t end_ps() const { return begin_ps + duration_ps; }
};

struct XplaneLine {
  std::int64_t id = 0;
  std::string name;
  std::vector<XplaneEvent> events;
};

struct XplaneProfile {
  std::string hostname;
  std::map<std::string, std::vector<XplaneLine>> planes;
  std::map<std::string, std::string> environment;
  std::vector<std::string> problems;  // a sentence for each rule of xprof that the profile breaks

  static XplaneProfile read(std::string_view bytes);
  static XplaneProfile read(testlog_xplane::XSpace const& space);
  // Returns the first line with this name, or a line without events if the name is unknown.
  XplaneLine const& line(std::string_view name, std::string const& plane = "/host:CPU") const;
};

// The stat `kernel_details`, which makes a row of xprof's page of kernels.
struct XplaneKernel {
  std::uint32_t registers = 0, static_shared = 0, dynamic_shared = 0;
  std::string grid = "1,1,1", block = "1,1,1";
  double occupancy_percent = 0;
};
// Appends to `problems` a sentence for each word that xprof would leave out.
XplaneKernel kernel_of(std::string const& details, std::vector<std::string>& problems);

// The direction in the stat `flow`.
enum class XplaneArrow : std::uint64_t { in = 1, out = 2, both = 3 };
XplaneArrow arrow_of(std::string const& flow);
std::uint64_t arrow_number_of(std::string const& flow);

}  // namespace testlog_test
