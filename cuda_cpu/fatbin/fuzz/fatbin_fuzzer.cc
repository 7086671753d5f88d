// Reads arbitrary bytes as a fat binary and checks that entries lie within the bytes and that errors are sentences.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "cuda_cpu/fatbin/choose.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace cuda_cpu::fatbin;
  std::span<std::byte const> const bytes(reinterpret_cast<std::byte const*>(data), size);
  auto const entries = read(bytes);
  if (auto const* const error = std::get_if<Error>(&entries)) {
    require(error->kind == ErrorKind::malformed && !error->message.empty());
    return 0;
  }
  for (auto const& entry : std::get<0>(entries)) {
    require(entry.payload.data() >= bytes.data() && entry.payload.size() <= size);
    require(entry.payload.data() + entry.payload.size() <= bytes.data() + size);
    auto const text = text_of(entry);
    if (auto const* const error = std::get_if<Error>(&text))
      require(!error->message.empty());
    else
      require(entry.kind == Kind::ptx && std::get<0>(text).size() <= entry.text_bytes);
  }
  auto const found = find_ptx(bytes, 90);
  if (auto const* const error = std::get_if<Error>(&found)) require(!error->message.empty());
  return 0;
}
