// Decompression of the entries of fat binaries, by LZ4 and zstd where the build has them.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace cuda_cpu::fatbin {

bool has_lz4() noexcept;
bool has_zstd() noexcept;

/// Replaces `text` by `size` decompressed bytes. Returns false if the input is damaged or decompresses to another
/// number of bytes. REQUIRES: has_lz4() or has_zstd().
bool decompress_lz4(std::span<std::byte const> block, std::size_t size, std::string& text);
bool decompress_zstd(std::span<std::byte const> frame, std::size_t size, std::string& text);

}  // namespace cuda_cpu::fatbin
