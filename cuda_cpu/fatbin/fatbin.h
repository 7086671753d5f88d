// Reads fat binaries: PTX and machine code for several targets, as nvcc embeds them in programs and writes them to
// .fatbin files. NVIDIA does not document the format; this reader follows what nvcc 13 writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace cuda_cpu::fatbin {

enum class ErrorKind : std::uint8_t {
  malformed,    // not a fat binary, or a damaged one
  no_ptx,       // the fat binary has no PTX that can be run
  unsupported,  // the fat binary has PTX that can be run, but this build cannot decompress it
  link,         // the PTX of its translation units does not fit together
};

struct Error {
  ErrorKind kind = ErrorKind::malformed;
  std::string message;  // a sentence without a full stop, on one line
};

template <class T>
using Result = std::variant<T, Error>;

enum class Kind : std::uint8_t { ptx, machine_code, lto, other };
enum class Compression : std::uint8_t { none, lz4, zstd };

/// Code for one target. Refers to the bytes that read() was given.
struct Entry {
  Kind kind = Kind::other;
  int arch = 0;        // 75 for compute_75 and sm_75
  char suffix = '\0';  // the 'a' of sm_90a, the 'f' of sm_100f
  Compression compression = Compression::none;
  std::uint64_t text_bytes = 0;  // size of the payload after decompression
  std::span<std::byte const> payload;

  /// Returns "sm_75" for machine code, "compute_75" for all other kinds.
  std::string target() const;
};

/// Return true if `image` begins with a container, which nvcc calls a fat binary, or with a wrapper, by which programs
/// register containers. Read up to four bytes, and stop at the first byte that differs.
bool is_container(void const* image) noexcept;
bool is_wrapper(void const* image) noexcept;

/// Returns the bytes of the container at an address, by the size that the container states. REQUIRES:
/// is_container(image), and the container is complete.
std::span<std::byte const> container_at(void const* image) noexcept;

/// Returns the containers of a wrapper: one, or after a device link (-rdc=true) one for each translation unit.
Result<std::vector<std::span<std::byte const>>> containers_of(void const* wrapper);

/// Returns the entries of a container, and of any containers that follow it immediately, as in a .fatbin file.
Result<std::vector<Entry>> read(std::span<std::byte const> bytes);

/// Returns the decompressed text of an entry with PTX.
Result<std::string> text_of(Entry const& entry);

}  // namespace cuda_cpu::fatbin
