// TarWriter: writes files into a TAR.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tracing_core/model/instant.h"

namespace testlog::cli {

/// Makes a TAR as POSIX describes it (ustar; pax for names of more than 100 bytes and sizes from 8 GiB on), which any
/// `tar` extracts. The same files give the same bytes. Single-thread.
class TarWriter {
 public:
  using Out = std::function<void(std::string_view)>;
  explicit TarWriter(Out out) : out_(std::move(out)) {}

  /// REQUIRES: the name is not empty and has no NUL.
  void add(std::string const& name, std::string_view content, tracing::Instant time);
  /// Writes the end mark. No file may follow.
  void finish();

 private:
  void add_header(std::string_view name, std::uint64_t size, tracing::Instant time, char type);
  void add_content(std::string_view content);

  Out const out_;
};

}  // namespace testlog::cli
