// Gzip: compresses the text of a file, such as a Chrome trace.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "tracing_core/export/chrome/chrome_trace.h"

namespace tracing { inline namespace v1 { namespace recording {

// Compresses text. Needs zlib, which the library may have been built without. Single-thread.
class Gzip {
 public:
  using Out = std::function<void(std::string_view)>;
  static bool is_available() noexcept;

  // REQUIRES: is_available().
  explicit Gzip(Out out);
  Gzip(Gzip const&) = delete;
  Gzip& operator=(Gzip const&) = delete;
  ~Gzip();

  // Both return false if memory ran out; then the output is not a whole file.
  bool write(std::string_view text);
  bool finish();

 private:
  struct Stream;
  bool pass(std::string_view text, bool is_last);

  Out const out_;
  std::unique_ptr<Stream> stream_;
};

// Does what write_chrome() does, as the compressed JSON object of a `.trace.json.gz` beside a profile. Returns false if
// memory ran out, or without zlib; then the output is not a whole file.
bool write_trace_json_gz(TraceSource source, ChromeTraceOptions const& options, Gzip::Out out);

}}}  // namespace tracing::v1::recording
