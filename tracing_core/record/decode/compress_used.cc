#include "tracing_core/record/decode/compress_used.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "tracing_core/record/decode/used_bytes.h"

#ifdef TRACING_HAS_ZLIB
#include <zlib.h>
#endif

namespace tracing { inline namespace v1 { namespace recording {

#ifdef TRACING_HAS_ZLIB

namespace {

// Writes one member of gzip (RFC 1952). zlib compresses the bytes up to a long run of zeros. The run is a block that is
// written here, and so are a few bytes before it: zlib would take longer to begin a block than to compress them.
class RecordingGzip {
 public:
  using Out = std::function<void(std::string_view)>;

  explicit RecordingGzip(Out const& out) : out_(out) {
    // Small tables, since clearing large ones takes longer than compressing a short recording.
    constexpr int kLevel = 1, kRawWindowBits = -13, kMemoryLevel = 6;
    is_good_ = deflateInit2(&z_, kLevel, Z_DEFLATED, kRawWindowBits, kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK;
    for (int const byte : {0x1f, 0x8b, Z_DEFLATED, 0, 0, 0, 0, 0, 4, 3}) put_byte(byte);  // no time, the fastest, Unix
  }
  RecordingGzip(RecordingGzip const&) = delete;
  RecordingGzip& operator=(RecordingGzip const&) = delete;
  ~RecordingGzip() { deflateEnd(&z_); }

  // REQUIRES: no more than a chunk, so that sizes fit into zlib's types.
  void write(std::string_view bytes) {
    std::size_t zeros = zeros_at_end(bytes);
    if (zeros < kMinZeros) zeros = 0;
    std::string_view const content = bytes.substr(0, bytes.size() - zeros);
    crc_ = crc32(crc_, reinterpret_cast<Bytef const*>(content.data()), static_cast<uInt>(content.size()));
    if (zeros > 0 && is_block_ended_ && content.size() <= kMaxStored) {
      put_stored(content);
    } else {
      is_block_ended_ = zeros > 0;
      // The flush ends a block. Later matches must not reach back over bytes that zlib does not see.
      deflate_all(content, zeros > 0 ? Z_FULL_FLUSH : Z_NO_FLUSH);
    }
    if (zeros > 0) put_zeros(zeros);
    size_ += bytes.size();
  }

  // Returns false if memory ran out.
  bool finish() {
    deflate_all({}, Z_FINISH);
    for (std::uint64_t const number : {std::uint64_t{crc_}, size_}) {
      for (int shift = 0; shift < 32; shift += 8) put_byte(static_cast<int>(number >> shift & 0xff));
    }
    pass_on();
    return is_good_;
  }

 private:
  static constexpr std::size_t kMinZeros = 1024;
  static constexpr std::size_t kMaxStored = 512;
  // As much room as zlib wants for a flush, and more; with less, it may write the end of a block twice.
  static constexpr std::size_t kRoomOfFlush = 64;

  static std::size_t zeros_at_end(std::string_view bytes) noexcept {
    std::size_t end = bytes.size();
    while (end >= 8 && load<std::uint64_t>(bytes.data() + end - 8) == 0) end -= 8;
    while (end > 0 && bytes[end - 1] == 0) --end;
    return bytes.size() - end;
  }

  void deflate_all(std::string_view bytes, int mode) {
    if (!is_good_) return;
    z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib does not write there
    z_.avail_in = static_cast<uInt>(bytes.size());
    do {
      if (buffer_.size() - filled_ < kRoomOfFlush) pass_on();
      z_.next_out = reinterpret_cast<Bytef*>(buffer_.data() + filled_);
      z_.avail_out = static_cast<uInt>(buffer_.size() - filled_);
      is_good_ = deflate(&z_, mode) != Z_STREAM_ERROR;
      filled_ = buffer_.size() - z_.avail_out;
    } while (is_good_ && z_.avail_out == 0);
  }

  // Writes zeros as a block with fixed codes (RFC 1951, 3.2.6): a literal zero, and matches with the byte before. The
  // codes are written from their highest bit on, so they are reversed here.
  void put_zeros(std::size_t zeros) {
    constexpr std::size_t kLong = 258, kShort = 10;          // lengths without further bits
    auto const put_literal = [this] { put_bits(0x0c, 8); };  // 0: 00110000
    auto const put_match = [this](unsigned length, int bits) {
      put_bits(length, bits);
      put_bits(0, 5);  // distance 1: 00000
    };
    put_bits(0b010, 3);  // not the last block; fixed codes
    put_literal();
    std::size_t rest = zeros - 1;
    for (; rest >= kLong; rest -= kLong) put_match(0xa3, 8);    // 285: 11000101
    for (; rest >= kShort; rest -= kShort) put_match(0x08, 7);  // 264: 0001000
    for (; rest > 0; --rest) put_literal();
    put_bits(0, 7);  // the end of the block: 0000000
    put_stored({});  // ends at a whole byte, where the next block begins
    // In the register of a CRC, a zero multiplies by a polynomial, and this is what crc32_combine() does with its first
    // argument, before it adds the second.
    crc_ = crc32_combine(crc_ ^ kCrcMask, 0, static_cast<z_off_t>(zeros)) ^ kCrcMask;
  }

  // A block that is not compressed: three bits and padding, the size, its complement, and the bytes.
  void put_stored(std::string_view bytes) {
    put_bits(0, 3);
    put_bits(0, -bits_ & 7);
    auto const size = static_cast<int>(bytes.size());
    for (int const number : {size, ~size}) {
      put_byte(number & 0xff);
      put_byte(number >> 8 & 0xff);
    }
    for (char const byte : bytes) put_byte(byte);
  }
  void put_bits(unsigned value, int count) {
    pending_ |= std::uint32_t{value} << bits_;
    for (bits_ += count; bits_ >= 8; bits_ -= 8, pending_ >>= 8) put_byte(static_cast<int>(pending_ & 0xff));
  }
  void put_byte(int byte) {
    if (filled_ == buffer_.size()) pass_on();
    buffer_[filled_++] = static_cast<char>(byte);
  }
  void pass_on() {
    out_({buffer_.data(), filled_});
    filled_ = 0;
  }

  static constexpr uLong kCrcMask = 0xffffffff;

  Out const& out_;
  z_stream z_{};
  bool is_good_ = false;
  bool is_block_ended_ = true;  // at a whole byte, and zlib has passed on all that it was given
  uLong crc_ = 0;
  std::uint64_t size_ = 0;
  std::uint32_t pending_ = 0;  // bits that do not fill a byte yet
  int bits_ = 0;
  std::size_t filled_ = 0;
  std::array<char, 16 * 1024> buffer_;
};

}  // namespace

bool compress_used(RecordingSource const& source, std::function<void(std::string_view)> const& out) {
  RecordingGzip gzip(out);
  return copy_used(source, [&gzip](std::string_view bytes) { gzip.write(bytes); }) && gzip.finish();
}

#else

bool compress_used(RecordingSource const&, std::function<void(std::string_view)> const&) { return false; }

#endif

}}}  // namespace tracing::v1::recording
