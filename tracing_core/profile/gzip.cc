#include "tracing_core/profile/gzip.h"

#include <algorithm>
#include <array>
#include <climits>
#include <utility>

#ifdef TRACING_HAS_ZLIB
#include <zlib.h>
#endif

namespace tracing { inline namespace v1 { namespace recording {

#ifdef TRACING_HAS_ZLIB

struct Gzip::Stream {
  z_stream z{};
  bool is_good = false;
  std::array<char, 65536> buffer;
};

bool Gzip::is_available() noexcept { return true; }

Gzip::Gzip(Out out) : out_(std::move(out)), stream_(std::make_unique<Stream>()) {
  constexpr int kGzipHeader = 16, kWindowBits = 15, kMemoryLevel = 8;
  constexpr int kLevel = 1;  // the fastest; JSON shrinks to a tenth even so
  stream_->is_good = deflateInit2(&stream_->z, kLevel, Z_DEFLATED, kWindowBits + kGzipHeader, kMemoryLevel,
                                  Z_DEFAULT_STRATEGY) == Z_OK;
}

Gzip::~Gzip() { deflateEnd(&stream_->z); }

bool Gzip::write(std::string_view text) {
  while (!text.empty()) {
    std::string_view const piece = text.substr(0, UINT_MAX);
    if (!pass(piece, false)) return false;
    text.remove_prefix(piece.size());
  }
  return stream_->is_good;
}

bool Gzip::finish() { return pass({}, true); }

bool Gzip::pass(std::string_view text, bool is_last) {
  if (!stream_->is_good) return false;
  z_stream& z = stream_->z;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // zlib does not write there
  z.avail_in = static_cast<uInt>(text.size());
  do {
    z.next_out = reinterpret_cast<Bytef*>(stream_->buffer.data());
    z.avail_out = static_cast<uInt>(stream_->buffer.size());
    stream_->is_good = deflate(&z, is_last ? Z_FINISH : Z_NO_FLUSH) != Z_STREAM_ERROR;
    out_({stream_->buffer.data(), stream_->buffer.size() - z.avail_out});
  } while (stream_->is_good && z.avail_out == 0);
  return stream_->is_good;
}

#else

struct Gzip::Stream {};

bool Gzip::is_available() noexcept { return false; }
Gzip::Gzip(Out out) : out_(std::move(out)) {}
Gzip::~Gzip() = default;
bool Gzip::write(std::string_view) { return false; }
bool Gzip::finish() { return false; }

#endif

bool write_trace_json_gz(TraceSource source, ChromeTraceOptions const& options, Gzip::Out out) {
  if (!Gzip::is_available()) return false;
  Gzip gzip(std::move(out));
  bool is_good = gzip.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":");
  write_chrome(std::move(source), options, [&](std::string_view text) { is_good = is_good && gzip.write(text); });
  return is_good && gzip.write("}\n") && gzip.finish();
}

}}}  // namespace tracing::v1::recording
