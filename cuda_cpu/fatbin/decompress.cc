#include "cuda_cpu/fatbin/decompress.h"

#include <climits>

#ifdef CUDA_CPU_HAS_LZ4
#include <lz4.h>
#endif
#ifdef CUDA_CPU_HAS_ZSTD
#include <zstd.h>
#endif

namespace cuda_cpu::fatbin {

#ifdef CUDA_CPU_HAS_LZ4

bool has_lz4() noexcept { return true; }

bool decompress_lz4(std::span<std::byte const> block, std::size_t size, std::string& text) {
  constexpr std::size_t kMaxRatio = 255;  // LZ4 cannot exceed it; checked before the memory is allocated
  if (block.size() > INT_MAX || size > INT_MAX || size / kMaxRatio > block.size()) return false;
  text.resize(size);
  int const done = LZ4_decompress_safe(reinterpret_cast<char const*>(block.data()), text.data(),
                                       static_cast<int>(block.size()), static_cast<int>(size));
  return done >= 0 && static_cast<std::size_t>(done) == size;
}

#else

bool has_lz4() noexcept { return false; }
bool decompress_lz4(std::span<std::byte const>, std::size_t, std::string&) { return false; }

#endif

#ifdef CUDA_CPU_HAS_ZSTD

bool has_zstd() noexcept { return true; }

bool decompress_zstd(std::span<std::byte const> frame, std::size_t size, std::string& text) {
  if (ZSTD_getFrameContentSize(frame.data(), frame.size()) != size) return false;
  text.resize(size);
  return ZSTD_decompress(text.data(), size, frame.data(), frame.size()) == size;
}

#else

bool has_zstd() noexcept { return false; }
bool decompress_zstd(std::span<std::byte const>, std::size_t, std::string&) { return false; }

#endif

}  // namespace cuda_cpu::fatbin
