#include "tests/traces/xplane_reader.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "tests/traces/unknown_fields.h"

namespace testlog_test {
namespace {

using testlog_xplane::XEvent;
using testlog_xplane::XLine;
using testlog_xplane::XPlane;
using testlog_xplane::XStat;

constexpr std::string_view kHost = "/host:CPU", kGpu = "/device:GPU:", kEnvironment = "Task Environment";

std::string text_of(XStat const& stat) {
  switch (stat.value_case()) {
    case XStat::kDoubleValue: return std::to_string(stat.double_value());
    case XStat::kUint64Value: return std::to_string(stat.uint64_value());
    case XStat::kInt64Value: return std::to_string(stat.int64_value());
    case XStat::kStrValue: return "\"" + stat.str_value() + "\"";
    default: return "nothing";
  }
}

class Reader {
 public:
  XplaneProfile read(testlog_xplane::XSpace const& space) {
    if (has_unknown_fields(space)) problem("the space", "has a field that our schema does not name");
    if (space.hostnames_size() != 1 || space.hostnames(0).empty()) {
      problem("the space", "has not one name of a host");
    } else {
      profile_.hostname = space.hostnames(0);
    }
    std::set<std::string> names;
    for (XPlane const& plane : space.planes()) {
      if (!names.insert(plane.name()).second) problem(plane.name(), "is there twice, but only the first is read");
      read(plane);
    }
    for (std::string_view const needed : {kHost, kEnvironment}) {
      if (!names.contains(std::string(needed))) problem(std::string(needed), "is missing");
    }
    for (char const* const time : {"profile_start_time", "profile_stop_time"}) {
      if (!profile_.environment.contains(time)) problem(std::string(kEnvironment), std::string("has no ") + time);
    }
    for (std::uint64_t const number : arrow_ends_) {
      if (!arrow_begins_.contains(number)) problem("arrow " + std::to_string(number), "begins nowhere");
    }
    return std::move(profile_);
  }

 private:
  void problem(std::string const& where, std::string const& what) { profile_.problems.push_back(where + " " + what); }

  void read(XPlane const& plane) {
    check_name(plane);
    for (auto const& [id, metadata] : plane.event_metadata()) {
      if (id == 0 || metadata.id() != id) problem(plane.name(), "has metadata of events with another number");
    }
    for (auto const& [id, metadata] : plane.stat_metadata()) {
      if (id == 0 || metadata.id() != id) problem(plane.name(), "has metadata of stats with another number");
    }
    if (plane.name() == kEnvironment) {
      add_args(plane, plane.stats(), profile_.environment);
      for (XStat const& stat : plane.stats()) {
        if (stat.value_case() != XStat::kUint64Value) problem(plane.name(), "has a time that is no uint64");
      }
      return;
    }
    std::set<std::uint32_t> numbers;
    auto& lines = profile_.planes[plane.name()];
    for (XLine const& line : plane.lines()) {
      std::int64_t const number = line.display_id() != 0 ? line.display_id() : line.id();
      if (number < 0 || number > UINT32_MAX) problem(line.name(), "has a number of more than 32 bits");
      if (!numbers.insert(static_cast<std::uint32_t>(number)).second)
        problem(line.name(), "has the number of another line");
      if (line.name().empty()) problem("line " + std::to_string(number), "has no name");
      lines.push_back(line_of(plane, line));
    }
  }

  // xprof chooses planes by their names, and numbers their rows by their ids.
  void check_name(XPlane const& plane) {
    std::string const& name = plane.name();
    if (name == kHost || name == kEnvironment) return;
    if (!name.starts_with(kGpu)) return problem(name, "has a name that is ignored");
    if (name.substr(kGpu.size()) != std::to_string(plane.id())) problem(name, "has another number than its name");
    if (plane.id() > 499) problem(name, "has a number above 499, which xprof draws as device 0");
  }

  XplaneLine line_of(XPlane const& plane, XLine const& line) {
    XplaneLine read{line.id(), line.name(), {}};
    std::vector<std::int64_t> ends;
    std::int64_t last = INT64_MIN;
    for (XEvent const& event : line.events()) {
      XplaneEvent one = event_of(plane, event);
      std::string const where = line.name() + ", " + one.name;
      if (line.timestamp_ns() > 100 * std::int64_t{86'400'000'000'000}) problem(where, "has a time that overflows");
      if (one.begin_ps < 0 || one.duration_ps < 0) problem(where, "has a negative time");
      if (one.begin_ps < last) problem(where, "is earlier than the event before it");
      last = one.begin_ps;
      while (!ends.empty() && ends.back() <= one.begin_ps && (ends.back() < one.begin_ps || one.duration_ps > 0))
        ends.pop_back();
      if (!ends.empty() && one.end_ps() > ends.back()) problem(where, "ends after the event around it");
      one.depth = ends.size();
      if (one.duration_ps > 0) ends.push_back(one.end_ps());
      read.events.push_back(std::move(one));
    }
    return read;
  }

  XplaneEvent event_of(XPlane const& plane, XEvent const& event) {
    XplaneEvent read{"?", event.offset_ps(), event.duration_ps(), 0, {}};
    auto const found = plane.event_metadata().find(event.metadata_id());
    if (found == plane.event_metadata().end()) {
      problem(plane.name(), "has an event of metadata that it does not have");
    } else {
      read.name = found->second.name();
      if (read.name.empty()) problem(plane.name(), "has an event without a name");
      add_args(plane, found->second.stats(), read.args);
    }
    add_args(plane, event.stats(), read.args);
    return read;
  }

  template <class Stats>
  void add_args(XPlane const& plane, Stats const& stats, std::map<std::string, std::string>& args) {
    for (XStat const& stat : stats) {
      auto const found = plane.stat_metadata().find(stat.metadata_id());
      if (found == plane.stat_metadata().end()) {
        problem(plane.name(), "has a stat of metadata that it does not have");
        continue;
      }
      std::string const& name = found->second.name();
      if (stat.value_case() == XStat::VALUE_NOT_SET) problem(name, "has no value");
      check_type(name, stat);
      args[name] = text_of(stat);
    }
  }

  // Reports a stat of another type than the type as which xprof reads it.
  void check_type(std::string const& name, XStat const& stat) {
    if (name == "kernel_details") {
      if (stat.value_case() != XStat::kStrValue) return problem(name, "is no text");
      (void)kernel_of(stat.str_value(), profile_.problems);
    }
    bool const is_signed = name == "step_num" || name == "_r" || name == "correlation_id" || name == "group_id";
    if (is_signed && stat.value_case() != XStat::kInt64Value) problem(name, "is no int64");
    if (name != "flow") return;
    if (stat.value_case() != XStat::kUint64Value) return problem(name, "is no uint64");
    std::string const flow = std::to_string(stat.uint64_value());
    if (arrow_number_of(flow) == 0 || stat.uint64_value() % 4 == 0) return problem(name, "has no number or direction");
    if (arrow_of(flow) != XplaneArrow::in) arrow_begins_.insert(arrow_number_of(flow));
    if (arrow_of(flow) != XplaneArrow::out) arrow_ends_.insert(arrow_number_of(flow));
  }

  XplaneProfile profile_;
  std::set<std::uint64_t> arrow_begins_, arrow_ends_;
};

}  // namespace

XplaneProfile XplaneProfile::read(std::string_view bytes) {
  testlog_xplane::XSpace space;
  if (space.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return read(space);
  XplaneProfile profile;
  profile.problems.push_back("the bytes are no valid message");
  return profile;
}

XplaneProfile XplaneProfile::read(testlog_xplane::XSpace const& space) { return Reader().read(space); }

XplaneLine const& XplaneProfile::line(std::string_view name, std::string const& plane) const {
  static XplaneLine const none;
  auto const lines = planes.find(plane);
  if (lines == planes.end()) return none;
  auto const found = std::find_if(lines->second.begin(), lines->second.end(),
                                  [name](XplaneLine const& line) { return line.name == name; });
  return found == lines->second.end() ? none : *found;
}

// Reads the details as xprof's ParseKernelLaunchParams() does.
XplaneKernel kernel_of(std::string const& details, std::vector<std::string>& problems) {
  XplaneKernel kernel;
  std::istringstream words(details);
  for (std::string word; words >> word;) {
    std::size_t const colon = word.find(':');
    std::string const key = word.substr(0, colon), value = colon == word.npos ? "" : word.substr(colon + 1);
    auto const is_number = [](std::string const& text) {
      return !text.empty() && text.find_first_not_of("0123456789") == text.npos &&
             std::strtoull(text.c_str(), nullptr, 10) <= UINT32_MAX;
    };
    auto const is_axes = [&is_number](std::string const& text) {
      std::size_t const first = text.find(','), second = first == text.npos ? first : text.find(',', first + 1);
      return second != text.npos && is_number(text.substr(0, first)) &&
             is_number(text.substr(first + 1, second - first - 1)) && is_number(text.substr(second + 1));
    };
    std::map<std::string, std::uint32_t*> const numbers{{"regs", &kernel.registers},
                                                        {"static_shared", &kernel.static_shared},
                                                        {"dynamic_shared", &kernel.dynamic_shared}};
    char* end = nullptr;
    if (auto const found = numbers.find(key); found != numbers.end() && is_number(value)) {
      *found->second = static_cast<std::uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
    } else if (key == "grid" && is_axes(value)) {
      kernel.grid = value;
    } else if (key == "block" && is_axes(value)) {
      kernel.block = value;
    } else if (double const percent = std::strtod(value.c_str(), &end);
               key == "occ_pct" && !value.empty() && *end == '\0') {
      kernel.occupancy_percent = percent;
    } else {
      problems.push_back("kernel_details has a word that is not read: " + word);
    }
  }
  return kernel;
}

XplaneArrow arrow_of(std::string const& flow) {
  return static_cast<XplaneArrow>(std::strtoull(flow.c_str(), nullptr, 10) % 4);
}
std::uint64_t arrow_number_of(std::string const& flow) { return std::strtoull(flow.c_str(), nullptr, 10) << 6 >> 8; }

}  // namespace testlog_test
