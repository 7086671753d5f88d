// Reads any bytes as a TAR, and as a compressed recording.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "tracing_core/record/decode/recording_parts.h"
#include "tracing_core/record/decode/tar_file.h"
#include "tracing_core/record/decode/tar_header.h"
#include "tracing_core/record/recording.h"

namespace {

class Bytes final : public tracing::recording::RecordingSource {
 public:
  explicit Bytes(std::string_view bytes) noexcept : bytes_(bytes) {}
  std::size_t size() const noexcept override { return bytes_.size(); }
  std::size_t read(std::size_t offset, void* to, std::size_t bytes) const noexcept override {
    return offset > bytes_.size() ? 0 : bytes_.copy(static_cast<char*>(to), bytes, offset);
  }

 private:
  std::string_view bytes_;
};

void require(bool holds) {
  if (!holds) std::abort();
}

void read_tar(std::string_view bytes) {
  Bytes const source(bytes);
  tracing::recording::TarFile const tar(source);
  for (auto const& [name, member] : tar.members()) {
    require(name.size() <= bytes.size());
    require(member.offset <= bytes.size() && member.size <= bytes.size() - member.offset);
  }
}

// libFuzzer does not find checksums: puts the right one into each block.
std::string with_checksums(std::string tar) {
  using tracing::recording::kTarBlock;
  using tracing::recording::TarHeader;
  for (std::size_t at = 0; at + kTarBlock <= tar.size(); at += kTarBlock) {
    TarHeader header;
    std::memcpy(&header, tar.data() + at, sizeof(header));
    std::snprintf(header.checksum, sizeof(header.checksum), "%06o", header.sum());
    std::memcpy(tar.data() + at, &header, sizeof(header));
  }
  return tar;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const bytes(reinterpret_cast<char const*>(data), size);
  read_tar(bytes);
  read_tar(with_checksums(bytes));
  std::string error;
  for (std::string const& recording : {bytes, "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03" + bytes}) {
    auto const read = tracing::recording::Recording::read_bytes(recording, error);
    require((read == nullptr) == !error.empty());
  }
  return 0;
}
