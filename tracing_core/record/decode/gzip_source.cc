#include "tracing_core/record/decode/gzip_source.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "tracing_core/record/decode/tar_file.h"
#include "tracing_core/record/ring/layout.h"

#ifdef TRACING_HAS_ZLIB
#include <zlib.h>
#endif

namespace tracing { inline namespace v1 { namespace recording {

using namespace internal;

bool is_gzip(RecordingSource const& source) noexcept {
  unsigned char magic[3];
  return source.read(0, magic, sizeof(magic)) == sizeof(magic) && magic[0] == 0x1f && magic[1] == 0x8b && magic[2] == 8;
}

#ifdef TRACING_HAS_ZLIB

namespace {

// Decompresses from the beginning to the end, in steps.
class Inflation {
 public:
  explicit Inflation(std::unique_ptr<RecordingSource> compressed) : compressed_(std::move(compressed)) {
    constexpr int kGzip = 16, kWindowBits = 15;
    if (inflateInit2(&z_, kGzip + kWindowBits) != Z_OK) throw std::bad_alloc();
  }
  Inflation(Inflation const&) = delete;
  Inflation& operator=(Inflation const&) = delete;
  ~Inflation() { inflateEnd(&z_); }

  std::size_t size() const noexcept { return size_; }
  std::string const& problem() const noexcept { return problem_; }

  // Decompresses until there are at least `size` bytes, or all.
  void go_to(std::size_t size) noexcept {
    while (!is_done_ && size_ < size) step();
  }
  // REQUIRES: `begin` <= `end` <= size().
  void copy(std::size_t begin, std::size_t end, char* to) const noexcept {
    std::memset(to, 0, end - begin);
    for (auto at = page_at(begin / kPage); at != pages_.end() && at->number * kPage < end; ++at) {
      std::size_t const first = std::max(begin, at->number * kPage), last = std::min(end, (at->number + 1) * kPage);
      std::memcpy(to + (first - begin), at->bytes.get() + first % kPage, last - first);
    }
  }
  // The offset of the first page from `offset` on that is not all zeros; SIZE_MAX if there is none.
  std::size_t next_data(std::size_t offset) noexcept {
    for (;;) {
      auto const at = page_at(offset / kPage);
      if (at != pages_.end()) return std::max(offset, at->number * kPage);
      if (is_done_) return SIZE_MAX;
      step();
    }
  }

 private:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kStep = 64 * 1024;
  struct Page {
    std::size_t number;
    std::unique_ptr<char[]> bytes;
  };

  std::vector<Page>::const_iterator page_at(std::size_t number) const noexcept {
    return std::lower_bound(pages_.begin(), pages_.end(), number,
                            [](Page const& page, std::size_t wanted) { return page.number < wanted; });
  }

  void end(char const* problem) noexcept {
    is_done_ = true;
    try {
      problem_ = problem;
    } catch (std::bad_alloc const&) {
    }
  }

  void step() noexcept {
    try {
      if (z_.avail_in == 0) refill();
      if (z_.avail_in == 0) return keep(), end("the compressed file is cut off");
      z_.next_out = reinterpret_cast<Bytef*>(out_.data() + filled_);
      // Whoever asks when a recording began reads the header only.
      std::size_t const wanted = size_ == 0 ? kPage : kStep;
      z_.avail_out = static_cast<uInt>(wanted - filled_);
      int const result = inflate(&z_, Z_NO_FLUSH);
      filled_ = wanted - z_.avail_out;
      if (filled_ == wanted || result != Z_OK) keep();
      if (is_done_ || result == Z_OK) return;
      if (result == Z_STREAM_END) return end_of_stream();
      if (result == Z_MEM_ERROR) return end("memory ran out");
      if (result != Z_BUF_ERROR) end("the compressed file is damaged");
    } catch (std::bad_alloc const&) {
      end("memory ran out");
    }
  }

  void refill() noexcept {
    std::size_t const got = compressed_->read(taken_, in_.data(), in_.size());
    taken_ += got;
    z_.next_in = reinterpret_cast<Bytef*>(in_.data());
    z_.avail_in = static_cast<uInt>(got);
  }

  void end_of_stream() noexcept {
    char next;
    bool const has_more = z_.avail_in > 0 || compressed_->read(taken_, &next, 1) == 1;
    end(has_more ? "other bytes follow the compressed recording" : "");
  }

  // Keeps what was decompressed, as far as a recording may have it.
  void keep() {
    if (size_ == 0) begin();
    std::size_t const kept = std::min(filled_, max_size_ - std::min(size_, max_size_));
    for (std::size_t at = 0; at < kept; at += kPage) {
      std::size_t const bytes = std::min(kPage, kept - at);
      auto const is_zero = [](char byte) { return byte == 0; };
      if (std::all_of(out_.data() + at, out_.data() + at + bytes, is_zero)) continue;
      if (pages_.size() >= max_pages()) return end("the compressed file has too many records for its size");
      pages_.push_back({(size_ + at) / kPage, std::make_unique<char[]>(kPage)});
      std::memcpy(pages_.back().bytes.get(), out_.data() + at, bytes);
    }
    size_ += kept;
    if (kept < filled_) end(problem_of_header_);
    filled_ = 0;
  }

  // A file of 1 MB could decompress to 1 GB. Records shrink to a tenth.
  std::size_t max_pages() const noexcept { return ((std::size_t{64} << 20) + 256 * taken_) / kPage; }

  // Looks at the first page, which has the header.
  void begin() noexcept {
    alignas(RegionHeader) char bytes[sizeof(RegionHeader)] = {};
    static_assert(sizeof(bytes) == kPage);
    std::memcpy(bytes, out_.data(), filled_);
    auto const& header = *reinterpret_cast<RegionHeader const*>(bytes);
    bool const is_recording = std::memcmp(header.magic, kRecordingMagic, sizeof(kRecordingMagic)) == 0;
    problem_of_header_ = is_recording ? "the compressed file has more bytes than its header allows" : "";
    std::size_t const chunks = header.usable.load(std::memory_order_relaxed);
    max_size_ = !is_recording ? kPage : chunks == 0 ? SIZE_MAX : size_of_groups(chunks);
    if (!is_recording && is_tar_header({bytes, filled_}))
      end("is a compressed TAR; it can be read once gunzip has decompressed it");
  }
  static std::size_t size_of_groups(std::size_t chunks) noexcept {
    return sizeof(RegionHeader) + (chunks + kChunksPerGroup - 1) / kChunksPerGroup * kGroupBytes;
  }

  std::unique_ptr<RecordingSource> const compressed_;
  z_stream z_{};
  std::size_t taken_ = 0;   // of the compressed bytes
  std::size_t filled_ = 0;  // of out_
  std::size_t size_ = 0;
  std::size_t max_size_ = 0;
  char const* problem_of_header_ = "";
  std::vector<Page> pages_;  // by number; those that are not all zeros
  bool is_done_ = false;
  std::string problem_;
  std::array<char, kStep> in_, out_;
};

class GzipSource final : public RecordingSource {
 public:
  explicit GzipSource(std::unique_ptr<RecordingSource> compressed)
      : inflation_(std::make_unique<Inflation>(std::move(compressed))) {}
  std::size_t size() const noexcept override {
    inflation_->go_to(SIZE_MAX);
    return inflation_->size();
  }
  std::size_t read(std::size_t offset, void* to, std::size_t bytes) const noexcept override {
    std::size_t const end = offset + std::min(bytes, SIZE_MAX - offset);
    inflation_->go_to(end);
    if (bytes == 0 || offset >= inflation_->size()) return 0;
    std::size_t const there = std::min(end, inflation_->size());
    inflation_->copy(offset, there, static_cast<char*>(to));
    return there - offset;
  }
  std::size_t next_data(std::size_t offset) const noexcept override {
    inflation_->go_to(offset);
    return offset >= inflation_->size() ? offset : inflation_->next_data(offset);
  }
  std::string problem() const override { return inflation_->problem(); }

 private:
  std::unique_ptr<Inflation> const inflation_;
};

}  // namespace

std::unique_ptr<RecordingSource> inflated(std::unique_ptr<RecordingSource> compressed, std::string& error) {
  try {
    return std::make_unique<GzipSource>(std::move(compressed));
  } catch (std::bad_alloc const&) {
    error = "memory ran out";
    return nullptr;
  }
}

#else

std::unique_ptr<RecordingSource> inflated(std::unique_ptr<RecordingSource>, std::string& error) {
  error = "is compressed, and this program was built without zlib (Debian: zlib1g-dev); gunzip decompresses it";
  return nullptr;
}

#endif

}}}  // namespace tracing::v1::recording
