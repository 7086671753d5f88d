#include "cuda_cpu/fatbin/fatbin.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <utility>

#include "cuda_cpu/fatbin/decompress.h"

namespace cuda_cpu::fatbin {
namespace {

using Bytes = std::span<std::byte const>;

constexpr unsigned char kWrapperMagic[] = {0xb1, 0x43, 0x62, 0x46};
constexpr unsigned char kContainerMagic[] = {0x50, 0xed, 0x55, 0xba};
constexpr std::uint16_t kContainerVersion = 1;
constexpr std::size_t kContainerHeader = 16;
constexpr std::size_t kEntryHeader = 64;       // minimum size
constexpr std::size_t kMaxContainers = 65536;  // limit for one program
constexpr std::uint64_t kMaxText = std::uint64_t{256} << 20;

enum Flags : std::uint64_t {
  kLz4 = 0x2000,
  kZstd = 0x8000,
  kLto = 0x10000,
  kArchSpecific = 0x100000,
  kFamilySpecific = 0x200000,
};

template <class T>
T load(void const* from, std::size_t offset = 0) noexcept {
  T value;
  std::memcpy(&value, static_cast<std::byte const*>(from) + offset, sizeof value);
  return value;
}

// Compares byte by byte, for memcmp() may read beyond the first difference.
bool begins_with(void const* image, unsigned char const (&magic)[4]) noexcept {
  auto const* at = static_cast<unsigned char const*>(image);
  for (auto const byte : magic)
    if (*at++ != byte) return false;
  return true;
}

Error malformed(std::string message) { return {ErrorKind::malformed, std::move(message)}; }

Kind kind_of(std::uint16_t number, std::uint64_t flags) noexcept {
  if (number == 8 || (flags & kLto) != 0) return Kind::lto;
  if (number == 1) return Kind::ptx;
  return number == 2 ? Kind::machine_code : Kind::other;
}

// Reads the entries of one container and appends them. `all` holds the bytes of the container.
class ContainerReader {
 public:
  ContainerReader(Bytes all, std::vector<Entry>& entries) : all_(all), entries_(entries) {}

  std::string run() {
    for (at_ = load<std::uint16_t>(all_.data(), 6); at_ < all_.size();) {
      if (auto problem = entry(); !problem.empty())
        return fmt::format("a fat binary with a damaged entry at byte {}: {}", at_, problem);
    }
    return {};
  }

 private:
  // Layout of an entry, offsets in bytes: 0 u16 kind, 4 u32 header size, 8 u64 payload size with padding,
  // 16 u32 size of a compressed payload, 28 u32 target, 40 u64 flags, 56 u64 decompressed size.
  std::string entry() {
    auto const rest = all_.subspan(at_);
    if (rest.size() < kEntryHeader) return fmt::format("{} bytes are left for its header of at least 64", rest.size());
    auto const* const base = rest.data();
    auto const header = load<std::uint32_t>(base, 4);
    auto const padded = load<std::uint64_t>(base, 8);
    auto const flags = load<std::uint64_t>(base, 40);
    if (header < kEntryHeader || header > rest.size()) return fmt::format("its header has {} bytes", header);
    if (padded > rest.size() - header)
      return fmt::format("it has {} bytes where {} are left", padded, rest.size() - header);
    Entry made;
    made.kind = kind_of(load<std::uint16_t>(base), flags);
    made.arch = static_cast<int>(load<std::uint32_t>(base, 28) & 0xffff);
    if ((flags & kArchSpecific) != 0) made.suffix = 'a';
    if ((flags & kFamilySpecific) != 0) made.suffix = 'f';
    made.payload = rest.subspan(header, padded);
    made.text_bytes = padded;
    if ((flags & (kLz4 | kZstd)) != 0) {
      auto const size = load<std::uint32_t>(base, 16);
      if (size > padded) return fmt::format("{} compressed bytes where it has {}", size, padded);
      made.compression = (flags & kZstd) != 0 ? Compression::zstd : Compression::lz4;
      made.payload = made.payload.first(size);
      made.text_bytes = load<std::uint64_t>(base, 56);
    }
    entries_.push_back(made);
    at_ += header + padded;
    return {};
  }

  Bytes all_;
  std::vector<Entry>& entries_;
  std::size_t at_ = 0;
};

// Returns the size of the container that `bytes` begin with, or an error if they begin with something else.
Result<std::size_t> container_size(Bytes bytes) {
  if (bytes.size() < kContainerHeader || !is_container(bytes.data()))
    return malformed("not a fat binary: expected the bytes 50 ed 55 ba and a header of 16 bytes");
  auto const version = load<std::uint16_t>(bytes.data(), 4);
  auto const header = load<std::uint16_t>(bytes.data(), 6);
  auto const size = load<std::uint64_t>(bytes.data(), 8);
  if (version != kContainerVersion) return malformed(fmt::format("a fat binary of version {}; expected 1", version));
  if (header < kContainerHeader) return malformed(fmt::format("a fat binary with a header of {} bytes", header));
  if (header > bytes.size() || size > bytes.size() - header)
    return malformed(fmt::format("a fat binary of {} bytes; expected {}", bytes.size(), std::uint64_t{header} + size));
  return header + static_cast<std::size_t>(size);
}

}  // namespace

std::string Entry::target() const {
  std::string text = kind == Kind::machine_code ? "sm_" : "compute_";
  text += std::to_string(arch);
  if (suffix != '\0') text += suffix;
  return text;
}

bool is_container(void const* image) noexcept { return begins_with(image, kContainerMagic); }
bool is_wrapper(void const* image) noexcept { return begins_with(image, kWrapperMagic); }

Bytes container_at(void const* image) noexcept {
  auto const size = load<std::uint64_t>(image, 8);
  auto const limit = std::numeric_limits<std::uintptr_t>::max() - reinterpret_cast<std::uintptr_t>(image) - 65536;
  // A size that exceeds the address space comes from a damaged header: return 16 bytes, which read() reports as such.
  return {static_cast<std::byte const*>(image), size > limit ? 16 : load<std::uint16_t>(image, 6) + size};
}

// Layout of a wrapper: 0 u32 magic, 4 u32 version, 8 pointer to a container, 16 pointer to a null-terminated array of
// pointers to containers, for version 2 only.
Result<std::vector<Bytes>> containers_of(void const* wrapper) {
  if (!is_wrapper(wrapper)) return malformed("not a wrapper of a fat binary: expected the bytes b1 43 62 46");
  auto const version = load<std::uint32_t>(wrapper, 4);
  if (version != 1 && version != 2)
    return malformed(fmt::format("a wrapper of a fat binary of version {}; expected 1 or 2", version));
  std::vector<void const*> images;
  if (auto const* const* units = version == 2 ? load<void const* const*>(wrapper, 16) : nullptr) {
    for (; *units != nullptr && images.size() < kMaxContainers; ++units) images.push_back(*units);
  } else if (auto const* const image = load<void const*>(wrapper, 8)) {
    images.push_back(image);
  }
  std::vector<Bytes> containers;
  for (auto const* const image : images) {
    if (!is_container(image)) return malformed("a wrapper that refers to something that is not a fat binary");
    containers.push_back(container_at(image));
  }
  return containers;
}

Result<std::vector<Entry>> read(Bytes bytes) {
  std::vector<Entry> entries;
  do {
    auto const size = container_size(bytes);
    if (auto const* const error = std::get_if<Error>(&size)) return *error;
    auto problem = ContainerReader(bytes.first(std::get<0>(size)), entries).run();
    if (!problem.empty()) return malformed(std::move(problem));
    bytes = bytes.subspan(std::get<0>(size));
  } while (bytes.size() >= kContainerHeader && is_container(bytes.data()));
  return entries;
}

Result<std::string> text_of(Entry const& entry) {
  auto const where = [&] { return "the PTX for " + entry.target(); };
  if (entry.kind != Kind::ptx) return Error{ErrorKind::no_ptx, "code for " + entry.target() + " that is not PTX"};
  if (entry.text_bytes > kMaxText)
    return malformed(fmt::format("{} has {} bytes; expected at most 256 MiB", where(), entry.text_bytes));
  std::string text;
  if (entry.compression == Compression::none) {
    text.assign(reinterpret_cast<char const*>(entry.payload.data()), entry.payload.size());
  } else {
    bool const is_lz4 = entry.compression == Compression::lz4;
    if (is_lz4 ? !has_lz4() : !has_zstd())
      return Error{ErrorKind::unsupported,
                   fmt::format("{} is compressed by {}, which this build of testlog lacks; build it with {} or the "
                               "program with nvcc --no-compress",
                               where(), is_lz4 ? "LZ4" : "zstd", is_lz4 ? "liblz4-dev" : "libzstd-dev")};
    auto const size = static_cast<std::size_t>(entry.text_bytes);
    if (!(is_lz4 ? decompress_lz4(entry.payload, size, text) : decompress_zstd(entry.payload, size, text)))
      return malformed(where() + " cannot be decompressed");
  }
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

}  // namespace cuda_cpu::fatbin
