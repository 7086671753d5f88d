#include "tests/traces/perfetto_archive.h"

#include <algorithm>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

namespace testlog_test {
namespace {

using Json = nlohmann::json;

constexpr char kManifestStart[] = R"({"perfetto_manifest")";

bool is_manifest(std::string const& content) {
  std::string start;
  for (char const c : content) {
    if (std::string_view(" \t\r\n").find(c) == std::string_view::npos) start.push_back(c);
    if (start.size() == sizeof(kManifestStart) - 1) break;
  }
  return start == kManifestStart;
}

class ManifestReader {
 public:
  explicit ManifestReader(std::vector<std::string> const& members) : members_(members.begin(), members.end()) {}

  PerfettoManifest read(std::string_view text) {
    Json const root = Json::parse(text, nullptr, false);
    if (!root.is_object() || !root.contains("perfetto_manifest") || !root["perfetto_manifest"].is_object())
      return problem("is no object with a perfetto_manifest"), std::move(read_);
    knows(root, {"perfetto_manifest"});
    Json const& manifest = root["perfetto_manifest"];
    knows(manifest, {"version", "trace_time", "files", "attributes"});
    if (!manifest.contains("version")) problem("has no version");
    if (Json const version = manifest.value("version", Json(1)); !version.is_number_integer() || version != 1)
      problem("has an unsupported version");
    Json const files = manifest.value("files", Json::array());
    if (!files.is_array()) return problem("has files that are no array"), std::move(read_);
    for (Json const& file : files)
      if (file.is_object() && file.contains("path") && file["path"].is_string()) paths_.insert(file["path"]);
    for (Json const& file : files) add(file);
    if (manifest.contains("trace_time")) reference(manifest["trace_time"], true, false);
    Json const attributes = manifest.value("attributes", Json::object());
    for (auto const& [key, value] : attributes.items())
      if (key.empty() || !(value.is_string() || value.is_number_integer())) problem("has a bad attribute");
    return std::move(read_);
  }

 private:
  void problem(std::string const& text) { read_.problems.push_back("the manifest " + text); }

  // Perfetto ignores other fields, so they would be mistakes of ours.
  void knows(Json const& object, std::set<std::string> const& fields) {
    for (auto const& [key, value] : object.items())
      if (!fields.contains(key)) problem("has the field " + key + ", which the grammar does not name");
  }

  void check_clock(Json const& of) {
    static std::set<std::string> const clocks{"REALTIME",         "REALTIME_COARSE", "MONOTONIC",
                                              "MONOTONIC_COARSE", "MONOTONIC_RAW",   "BOOTTIME"};
    if (of.contains("clock") && !(of["clock"].is_string() && clocks.contains(of["clock"])))
      problem("names a clock that is not known");
  }

  // Checks `sync_to` or `trace_time`.
  void reference(Json const& to, bool needs_clock, bool needs_file) {
    if (!to.is_object()) return problem("has a reference that is no object");
    knows(to, {"file", "machine", "clock"});
    check_clock(to);
    if (needs_clock && !to.contains("clock")) problem("has a reference without a clock");
    if (needs_file && !to.contains("file")) problem("has a sync_to without a file");
    if (to.contains("file") && !(to["file"].is_string() && paths_.contains(to["file"])))
      problem("refers to a file that is not in files");
    if (to.contains("machine") && !to.contains("file")) problem("names a machine without a file");
  }

  void add_clocks(Json const& clocks, PerfettoManifest::File& file) {
    if (!clocks.is_object()) return problem("has clocks that are no object");
    knows(clocks, {"clock", "machine", "sync_to", "offset_ns"});
    check_clock(clocks);
    if (!clocks.contains("sync_to")) return problem("has clocks without sync_to");
    reference(clocks["sync_to"], false, true);
    if (clocks.contains("offset_ns") &&
        !(clocks["offset_ns"].is_number_integer() && clocks["offset_ns"] != std::numeric_limits<std::int64_t>::min()))
      problem("has an offset_ns that is no integer");
    if (!clocks.contains("clock") && file.path.ends_with(".pftrace")) problem("pins a file that has clock snapshots");
    Json const& to = clocks["sync_to"];
    if (!to.is_object()) return;
    file.clock_of = to.value("file", "");
    file.clock = to.value("clock", "");
  }

  void add(Json const& json) {
    if (!json.is_object() || !json.contains("path") || !json["path"].is_string())
      return problem("has a file without a path");
    knows(json, {"path", "machine", "machines", "clocks"});
    PerfettoManifest::File file{json["path"], {}, {}, {}};
    if (!members_.contains(file.path)) problem("names " + file.path + ", which is not in the archive");
    if (!seen_.insert(file.path).second) problem("names " + file.path + " twice");
    if (json.contains("machine") && json.contains("machines")) problem("has machine and machines");
    if (json.contains("machine")) {
      Json const& machine = json["machine"];
      bool const is_named = machine.is_object() && machine.contains("name") && machine["name"].is_string();
      if (is_named) file.machine = machine["name"];
      if (file.machine.empty()) problem("has a machine without a name");
    }
    for (Json const& machine : json.value("machines", Json::array()))
      if (!machine.is_object() || !machine.value("id", Json()).is_number_unsigned() ||
          machine["id"] > std::numeric_limits<std::uint32_t>::max() || machine.value("name", "").empty())
        problem("has a machine without an id or a name");
    if (json.contains("clocks")) add_clocks(json["clocks"], file);
    read_.files.push_back(std::move(file));
  }

  std::set<std::string> const members_;
  std::set<std::string> paths_, seen_;
  PerfettoManifest read_;
};

// Reads what Perfetto's reader of TARs accepts: regular files with names of at most 100 bytes.
std::vector<std::pair<std::string, std::string>> members_of(std::string_view tar, std::vector<std::string>& problems) {
  constexpr std::size_t kBlock = 512;
  std::vector<std::pair<std::string, std::string>> members;
  while (tar.size() >= kBlock && tar.substr(0, kBlock).find_first_not_of('\0') != tar.npos) {
    std::string_view const header = tar.substr(0, kBlock);
    if (header.substr(257, 8) != std::string_view("ustar\00000", 8)) problems.emplace_back("a header is not ustar's");
    if (header[156] != '0') problems.emplace_back("a member is no regular file");
    std::string const name(header.substr(0, std::min<std::size_t>(100, header.find('\0'))));
    if (name.empty() || name.front() == '.' || name.find("/.") != name.npos) problems.push_back(name + " is hidden");
    std::size_t const size = std::stoul(std::string(header.substr(124, 11)), nullptr, 8);
    std::size_t const padded = (size + kBlock - 1) / kBlock * kBlock;
    if (tar.size() < kBlock + padded) return problems.push_back(name + " is cut off"), members;
    members.emplace_back(name, tar.substr(kBlock, size));
    tar.remove_prefix(kBlock + padded);
  }
  if (tar.size() < 2 * kBlock) problems.emplace_back("the TAR has no end");
  return members;
}

// Checks the clock snapshot with which a file must begin, so that machines are joined by their wall clocks.
void check_clocks(std::string const& name, std::string const& content, std::vector<std::string>& problems) {
  constexpr std::uint32_t kRealtime = 1;
  testlog_perfetto::Trace trace;
  if (!trace.ParseFromString(content) || trace.packet_size() == 0) return problems.push_back(name + " is no trace");
  std::map<std::uint32_t, std::uint64_t> clocks;
  for (auto const& clock : trace.packet(0).clock_snapshot().clocks()) clocks[clock.clock_id()] = clock.timestamp();
  if (!clocks.contains(kRealtime)) problems.push_back(name + " does not begin with its wall clock");
  for (auto const& [id, time] : clocks)
    if (time != clocks[kRealtime]) problems.push_back(name + " has times other than those of the wall clock");
}

}  // namespace

PerfettoManifest PerfettoManifest::read(std::string_view text, std::vector<std::string> const& members) {
  return ManifestReader(members).read(text);
}

PerfettoArchive PerfettoArchive::read(std::string_view tar) {
  PerfettoArchive archive;
  std::string manifest;
  std::vector<std::string> names;
  for (auto& [name, content] : members_of(tar, archive.problems)) {
    if (is_manifest(content)) {
      if (!manifest.empty()) archive.problems.emplace_back("there are two manifests");
      manifest = content;
      continue;
    }
    names.push_back(name);
    if (!archive.files.emplace(name, content).second) archive.problems.push_back(name + " is there twice");
  }
  archive.manifest = PerfettoManifest::read(manifest, names);
  for (std::string const& problem : archive.manifest.problems) archive.problems.push_back(problem);
  for (auto const& [name, content] : archive.files) {
    if (!name.ends_with(".pftrace")) continue;
    PerfettoTrace trace = PerfettoTrace::read(content);
    for (std::string const& problem : trace.problems) archive.problems.push_back(name + ": " + problem);
    check_clocks(name, content, archive.problems);
    archive.traces.emplace(name, std::move(trace));
  }
  return archive;
}

std::string PerfettoArchive::machine_of(std::string const& path) const {
  for (PerfettoManifest::File const& file : manifest.files)
    if (file.path == path) return file.machine;
  return "?";
}

}  // namespace testlog_test
