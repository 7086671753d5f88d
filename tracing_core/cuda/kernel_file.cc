#include "tracing_core/cuda/kernel_file.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "tracing_core/cuda/digest.h"

namespace tracing::inline v1::cuda::internal {
namespace {

constexpr std::string_view kMagic = "testlog compiled kernel 1\n";
constexpr std::size_t kChecksumBytes = 32;

class Writer {
 public:
  void number(std::uint64_t x) {
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(x >> shift & 255);
  }
  void text(std::string_view x) {
    number(x.size());
    bytes_ += x;
  }
  std::string bytes_{kMagic};
};

// After anything that cannot be read everything is empty.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number() {
    std::uint64_t x = 0;
    std::string_view const bytes = take(8);
    for (std::size_t i = 0; i < bytes.size(); ++i) x |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    return x;
  }
  std::string text() { return std::string(take(number())); }
  // How many things follow, of `least` bytes each.
  std::size_t count(std::size_t least) {
    std::uint64_t const n = number();
    if (n <= rest_.size() / least) return n;
    ok_ = false;
    return 0;
  }
  bool all_read() const { return ok_ && rest_.empty(); }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) ok_ = false;
    if (!ok_) return {};
    std::string_view const bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }

  std::string_view rest_;
  bool ok_ = true;
};

std::string error_text() { return std::strerror(errno); }

std::string write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t const written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return error_text();
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

std::string to_bytes(CompiledKernel const& kernel) {
  Writer to;
  to.text(kernel.ptx);
  to.text(kernel.cubin);
  to.text(kernel.log);
  to.number(kernel.lowered_names.size());
  for (std::string const& name : kernel.lowered_names) to.text(name);
  to.number(kernel.usage.size());
  for (KernelUsage const& usage : kernel.usage) {
    to.text(usage.name);
    for (std::uint64_t const n :
         {usage.registers, usage.shared_bytes, usage.stack_bytes, usage.spill_store_bytes, usage.spill_load_bytes})
      to.number(n);
  }
  to.number(kernel.phases.size());
  for (CompilePhase const& phase : kernel.phases) {
    to.text(phase.name);
    double const ms = phase.duration.count();
    std::uint64_t bits;
    std::memcpy(&bits, &ms, sizeof bits);
    to.number(bits);
  }
  return std::move(to.bytes_) + Digest().add(to.bytes_).hex();
}

std::optional<CompiledKernel> from_bytes(std::string_view bytes) {
  if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + kChecksumBytes) return std::nullopt;
  std::string_view const content = bytes.substr(0, bytes.size() - kChecksumBytes);
  if (Digest().add(content).hex() != bytes.substr(content.size())) return std::nullopt;
  Reader from(content.substr(kMagic.size()));
  CompiledKernel kernel;
  kernel.ptx = from.text();
  kernel.cubin = from.text();
  kernel.log = from.text();
  kernel.lowered_names.resize(from.count(8));
  for (std::string& name : kernel.lowered_names) name = from.text();
  kernel.usage.resize(from.count(8 * 6));
  for (KernelUsage& usage : kernel.usage) {
    usage.name = from.text();
    for (std::uint64_t* const n :
         {&usage.registers, &usage.shared_bytes, &usage.stack_bytes, &usage.spill_store_bytes, &usage.spill_load_bytes})
      *n = from.number();
  }
  kernel.phases.resize(from.count(8 * 2));
  for (CompilePhase& phase : kernel.phases) {
    phase.name = from.text();
    std::uint64_t const bits = from.number();
    double ms;
    std::memcpy(&ms, &bits, sizeof ms);
    phase.duration = std::chrono::duration<double, std::milli>(ms);
  }
  if (!from.all_read()) return std::nullopt;
  return kernel;
}

KernelFile read_kernel(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  std::string const bytes{std::istreambuf_iterator<char>(file), {}};
  auto kernel = from_bytes(bytes);
  if (!kernel) return {FileState::corrupt, {}};
  return {FileState::there, std::move(*kernel)};
}

std::string write_kernel(std::string const& folder, std::string const& name, CompiledKernel const& kernel) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::string beside = folder + "/" + name + ".XXXXXX";
  int const file = mkstemp(beside.data());
  if (file < 0) return error_text();
  std::string failure = write_all(file, to_bytes(kernel));
  if (close(file) != 0 && failure.empty()) failure = error_text();
  if (failure.empty() && std::rename(beside.c_str(), (folder + "/" + name).c_str()) != 0) failure = error_text();
  if (!failure.empty()) unlink(beside.c_str());
  return failure;
}

}  // namespace tracing::inline v1::cuda::internal
