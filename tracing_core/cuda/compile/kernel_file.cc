#include "tracing_core/cuda/compile/compile_internal.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "tracing_core/cuda/compile/digest.h"

namespace tracing { inline namespace v1 { namespace cuda { namespace internal {
namespace {

constexpr std::string_view kMagic = "testlog compiled kernel 2\n";
constexpr std::size_t kChecksumBytes = 32;

// Appends a text as its size in decimal, a line feed, and its bytes.
void append(std::string& bytes, std::string_view text) {
  bytes.append(std::to_string(text.size())).append("\n").append(text);
}

// Takes a text from the front. Returns false if the bytes do not begin with a text.
bool take(std::string_view& bytes, std::string& text) {
  std::size_t size = 0;
  auto const [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), size);
  std::size_t const digits = static_cast<std::size_t>(end - bytes.data());
  if (error != std::errc() || digits == bytes.size() || size > bytes.size() - digits - 1) return false;
  text = bytes.substr(digits + 1, size);
  bytes.remove_prefix(digits + 1 + size);
  return true;
}

std::string error_text() { return std::strerror(errno); }

}  // namespace

std::string to_bytes(CompiledKernel const& kernel) {
  std::string bytes(kMagic);
  for (std::string const& text : {kernel.ptx, kernel.cubin, kernel.log}) append(bytes, text);
  for (std::string const& name : kernel.lowered_names) append(bytes, name);
  return bytes + Digest().add(bytes).hex();
}

std::optional<CompiledKernel> from_bytes(std::string_view bytes) {
  if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + kChecksumBytes) return std::nullopt;
  std::string_view rest = bytes.substr(0, bytes.size() - kChecksumBytes);
  if (Digest().add(rest).hex() != bytes.substr(rest.size())) return std::nullopt;
  rest.remove_prefix(kMagic.size());
  CompiledKernel kernel;
  if (!take(rest, kernel.ptx) || !take(rest, kernel.cubin) || !take(rest, kernel.log)) return std::nullopt;
  for (std::string name; !rest.empty(); kernel.lowered_names.push_back(name))
    if (!take(rest, name)) return std::nullopt;
  kernel.usage = parse_compile_log(kernel.log).usage;
  return kernel;
}

std::optional<CompiledKernel> read_kernel(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  std::string const bytes{std::istreambuf_iterator<char>(file), {}};
  return from_bytes(bytes);
}

std::string write_kernel(std::string const& folder, std::string const& name, CompiledKernel const& kernel) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::string beside = folder + "/" + name + ".XXXXXX";
  int const file = mkstemp(beside.data());
  if (file < 0) return error_text();
  close(file);
  std::ofstream out(beside, std::ios::binary);
  out << to_bytes(kernel);
  out.close();
  if (out && std::rename(beside.c_str(), (folder + "/" + name).c_str()) == 0) return {};
  std::string const failure = error_text();
  unlink(beside.c_str());
  return failure;
}

}}}}  // namespace tracing::v1::cuda::internal
