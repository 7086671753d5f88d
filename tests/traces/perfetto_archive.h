// PerfettoArchive is a TAR of traces for ui.perfetto.dev, read and checked as Perfetto would read it.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/traces/perfetto_reader.h"

namespace testlog_test {

// The manifest, as https://perfetto.dev/docs/reference/perfetto-manifest describes it.
struct PerfettoManifest {
  struct File {
    std::string path;
    std::string machine;   // empty: not named
    std::string clock_of;  // the file whose clock this file has
    std::string clock;
  };
  std::vector<File> files;
  std::vector<std::string> problems;  // a sentence for each rule that it breaks

  // `members` are the names of the files in the archive.
  static PerfettoManifest read(std::string_view text, std::vector<std::string> const& members);
};

struct PerfettoArchive {
  std::map<std::string, std::string> files;     // contents by name, without the manifest
  std::map<std::string, PerfettoTrace> traces;  // of *.pftrace
  PerfettoManifest manifest;
  std::vector<std::string> problems;  // of the archive, the manifest and the traces

  static PerfettoArchive read(std::string_view tar);
  // Returns the name of the machine that the manifest gives a file.
  std::string machine_of(std::string const& path) const;
};

}  // namespace testlog_test
