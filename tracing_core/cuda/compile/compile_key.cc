#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "tracing_core/cuda/compile/compile_internal.h"
#include "tracing_core/cuda/compile/digest.h"

namespace tracing { inline namespace v1 { namespace cuda { namespace internal {
namespace {

// Options that read or write files that included_files() does not find.
constexpr std::string_view kFileOptions[] = {
    "-include",
    "--pre-include",
    "-pre-include",
    "--preinclude",
    "-pch",
    "--pch",
    "-create-pch",
    "--create-pch",
    "-use-pch",
    "--use-pch",
    "-time",
    "--time",
    "-fdevice-time-trace",
    "--fdevice-time-trace",
    "-device-time-trace",
    "--device-time-trace",
};

// Environment variables that add options and include folders.
constexpr char const* kVariables[] = {"NVRTC_PREPEND_FLAGS", "NVRTC_APPEND_FLAGS", "CPPCX_INCLUDE_PATH"};

// Returns why the result depends on files that cannot be known; empty if it does not.
std::string why_unknown(CompileRequest const& request) {
  for (std::string const& option : request.options) {
    auto const begins = [&](std::string_view prefix) { return option.starts_with(prefix); };
    if (option == "-I" || option == "--include-path" || std::ranges::any_of(kFileOptions, begins))
      return "the option " + option + " reads or writes files";
  }
  for (char const* const variable : kVariables)
    if (char const* const value = std::getenv(variable); value != nullptr && *value != '\0')
      return std::string(variable) + " is set";
  return {};
}

template <class Texts>
void add_all(Digest& digest, Texts const& texts) {
  digest.add(std::uint64_t{texts.size()});
  for (auto const& text : texts) digest.add(text);
}

// Builds of NVRTC differ within a version, so its file is part of the key.
void add_library(Digest& digest, NvrtcApi const& nvrtc) {
  NvrtcVersion const version = version_of(nvrtc);
  digest.add(static_cast<std::uint64_t>(version.major)).add(static_cast<std::uint64_t>(version.minor));
  Dl_info info{};
  struct stat status {};
  if (dladdr(reinterpret_cast<void*>(nvrtc.compile_program), &info) == 0 || info.dli_fname == nullptr) return;
  if (stat(info.dli_fname, &status) != 0) return;
  digest.add(static_cast<std::uint64_t>(status.st_size)).add(static_cast<std::uint64_t>(status.st_mtim.tv_sec));
}

}  // namespace

CompileKey compile_key(NvrtcApi const& nvrtc, CompileRequest const& request) {
  if (std::string why_not = why_unknown(request); !why_not.empty()) return {{}, std::move(why_not)};
  IncludedFiles const included = included_files(request);
  if (!included.why_unknown.empty()) return {{}, included.why_unknown};

  Digest digest;
  digest.add("testlog compiled kernel 2");
  add_library(digest, nvrtc);
  digest.add(request.name).add(request.source).add(request.arch);
  add_all(digest, request.options);
  add_all(digest, request.include_folders);
  add_all(digest, request.name_expressions);
  digest.add(std::uint64_t{request.headers.size()});
  for (MemoryHeader const& header : request.headers) digest.add(header.name).add(header.source);
  digest.add(std::uint64_t{included.files.size()});
  for (IncludedFile const& file : included.files) digest.add(file.path).add(file.content);
  return {digest.hex(), {}};
}

}}}}  // namespace tracing::v1::cuda::internal
