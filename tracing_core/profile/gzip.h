// Gzip: compresses what is written to a file, such as a Chrome trace.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "tracing_core/export/chrome_trace.h"

namespace tracing::inline v1::internal {

// Needs zlib, which the library may have been built without. Single-thread.
class Gzip {
 public:
  using Out = std::function<void(std::string_view)>;
  static bool is_available() noexcept;

  // REQUIRES: is_available().
  explicit Gzip(Out out);
  Gzip(Gzip const&) = delete;
  Gzip& operator=(Gzip const&) = delete;
  ~Gzip();

  // False if memory ran out: what was written is not a whole file.
  bool write(std::string_view text);
  bool finish();

 private:
  struct Stream;
  bool pass(std::string_view text, bool is_last);

  Out const out_;
  std::unique_ptr<Stream> stream_;
};

// write_chrome() as the object that a `.trace.json.gz` beside a profile has. False if memory ran out, or if there is no zlib:
// then there is no whole file.
bool write_trace_json_gz(TraceSource source, ChromeTraceOptions const& options, Gzip::Out out);

}  // namespace tracing::inline v1::internal
