// TarHeader: the header before each file of a TAR, as POSIX describes it for `pax`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tracing { inline namespace v1 { namespace recording {

inline constexpr std::size_t kTarBlock = 512;

/// The header. The file's bytes follow, with zeros up to the next multiple of kTarBlock. Two blocks of zeros end a TAR.
struct TarHeader {
  char name[100];
  char mode[8], user[8], group[8];  // numbers are octal
  char size[12], time[12];
  char checksum[8];
  char type;  // '0' or NUL: a file; 'x': attributes of the next file
  char link[100];
  char magic[8];  // `ustar`
  char user_name[32], group_name[32];
  char device[16];
  char prefix[155];  // of the name, if that is long
  char reserved[12];

  /// Returns the sum of all bytes, with blanks in place of the checksum.
  std::uint32_t sum() const noexcept {
    unsigned char bytes[kTarBlock];
    std::memcpy(bytes, this, sizeof(bytes));
    std::memset(bytes + offsetof(TarHeader, checksum), ' ', sizeof(checksum));
    std::uint32_t sum = 0;
    for (unsigned char const byte : bytes) sum += byte;
    return sum;
  }
};
static_assert(sizeof(TarHeader) == kTarBlock);

constexpr std::uint64_t padded_to_tar_block(std::uint64_t bytes) noexcept {
  return (bytes + kTarBlock - 1) / kTarBlock * kTarBlock;
}

}}}  // namespace tracing::v1::recording
