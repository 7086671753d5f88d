// Recordings: several recordings, read together in the order of time.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "tracing_core/record/recording.h"

namespace tracing { inline namespace v1 { namespace recording {

/// The recordings of several processes, or of several runs. Holds them all in memory. Thread-compatible.
class Recordings {
 public:
  struct File {
    std::string path;
    std::unique_ptr<Recording> recording;
  };

  /// Reads files, and all files below folders and in TARs whose names end with `.rec` or `.rec.gz`, by name. A file in
  /// a TAR has a path like `run.tar/x.rec`. A file that cannot be read is left out: errors() has a sentence for each,
  /// which begins with its path.
  static Recordings open(std::vector<std::string> const& paths);

  std::vector<File> const& files() const noexcept { return files_; }
  std::vector<std::string> const& errors() const noexcept { return errors_; }

  /// Calls `f(File const&, Entry const&)` for each entry, in the order of time. An entry with a time of its
  /// own, such as work of a GPU, stays beside the entries around it. Numbers of threads, keys of spans and
  /// tags mean something only within their file.
  template <class F>
  void for_each(F&& f) {
    using Function = std::remove_reference_t<F>;
    visit([](void* context, File const& file, Entry const& entry) { (*static_cast<Function*>(context))(file, entry); },
          const_cast<void*>(static_cast<void const*>(&f)));
  }

 private:
  void add(std::string const& path);
  void add_all_in_tar(std::string const& path);
  void visit(void (*each)(void* context, File const& file, Entry const& entry), void* context);

  std::vector<File> files_;
  std::vector<std::string> errors_;
};

}}}  // namespace tracing::v1::recording
