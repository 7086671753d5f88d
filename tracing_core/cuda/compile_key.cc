#include "tracing_core/cuda/compile_key.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <cstdlib>
#include <string_view>

#include "tracing_core/cuda/compile_internal.h"
#include "tracing_core/cuda/digest.h"
#include "tracing_core/cuda/included_files.h"

namespace tracing::inline v1::cuda::internal {
namespace {

// Options that read or write other files than those that are included.
constexpr std::string_view kWithFiles[] = {
    "-pch", "--pch", "-create-pch", "--create-pch", "-use-pch", "--use-pch", "-time", "--time",
    "-fdevice-time-trace", "--fdevice-time-trace", "-device-time-trace", "--device-time-trace",
};

template <class Texts>
void add_all(Digest& digest, Texts const& texts) {
  digest.add(std::uint64_t{texts.size()});
  for (auto const& text : texts) digest.add(text);
}

// NVRTC's builds differ within a version.
void add_library(Digest& digest, NvrtcApi const& nvrtc) {
  NvrtcVersion const version = version_of(nvrtc);
  digest.add(static_cast<std::uint64_t>(version.major)).add(static_cast<std::uint64_t>(version.minor));
  Dl_info info{};
  struct stat status {};
  if (dladdr(reinterpret_cast<void*>(nvrtc.compile_program), &info) == 0 || info.dli_fname == nullptr) return;
  if (stat(info.dli_fname, &status) != 0) return;
  digest.add(static_cast<std::uint64_t>(status.st_size)).add(static_cast<std::uint64_t>(status.st_mtim.tv_sec));
}

void add_environment(Digest& digest, char const* variable) {
  char const* const value = std::getenv(variable);
  digest.add(value == nullptr ? std::string_view() : value);
}

}  // namespace

CompileKey compile_key(NvrtcApi const& nvrtc, CompileRequest const& request) {
  for (std::string const& option : request.options)
    for (std::string_view const with_file : kWithFiles)
      if (option == with_file || option.starts_with(std::string(with_file) + "="))
        return {{}, option + " reads or writes files"};
  IncludedFiles const included = included_files(request);
  if (!included.why_unknown.empty()) return {{}, included.why_unknown};

  Digest digest;
  digest.add("testlog compiled kernel 1");
  add_library(digest, nvrtc);
  add_environment(digest, "NVRTC_PREPEND_FLAGS");
  add_environment(digest, "NVRTC_APPEND_FLAGS");
  digest.add(request.name).add(request.source).add(request.arch).add(std::uint64_t{request.phase_times});
  add_all(digest, request.options);
  add_all(digest, request.include_folders);
  add_all(digest, request.name_expressions);
  digest.add(std::uint64_t{request.headers.size()});
  for (MemoryHeader const& header : request.headers) digest.add(header.name).add(header.source);
  digest.add(std::uint64_t{included.files.size()});
  for (IncludedFile const& file : included.files) digest.add(file.path).add(file.content);
  return {digest.hex(), {}};
}

}  // namespace tracing::inline v1::cuda::internal
