// The target is the namespace that users know.
#undef TRACE_TARGET
#define TRACE_TARGET "tracing::cuda::compile"

#include "tracing_core/cuda/compile.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "tracing_core/cuda/compile/compile_internal.h"
#include "tracing_core/cuda/stopwatch.h"
#include "tracing_core/emit/for_callers.h"
#include "tracing_core/support/short_text.h"

namespace tracing { inline namespace v1 { namespace cuda {

CompileError::CompileError(nvrtcResult code, std::string const& sentence, std::string log)
    : std::runtime_error(sentence), code_(code), log_(std::move(log)) {}

namespace internal {
namespace {

class Program {
 public:
  explicit Program(NvrtcApi const& nvrtc) : nvrtc_(nvrtc) {}
  Program(Program const&) = delete;
  Program& operator=(Program const&) = delete;
  ~Program() {
    if (program_ != nullptr) nvrtc_.destroy_program(&program_);
  }

  nvrtcResult create(CompileRequest const& request) {
    std::vector<char const*> names;
    std::vector<char const*> sources;
    for (MemoryHeader const& header : request.headers) {
      names.push_back(header.name.c_str());
      sources.push_back(header.source.c_str());
    }
    nvrtcResult code = nvrtc_.create_program(&program_, request.source.c_str(), request.name.c_str(),
                                             static_cast<int>(names.size()), sources.data(), names.data());
    for (std::string const& expression : request.name_expressions)
      if (code == NVRTC_SUCCESS) code = nvrtc_.add_name_expression(program_, expression.c_str());
    return code;
  }

  nvrtcResult compile(std::vector<std::string> const& options) {
    std::vector<char const*> texts;
    for (std::string const& option : options) texts.push_back(option.c_str());
    return nvrtc_.compile_program(program_, static_cast<int>(texts.size()), texts.data());
  }

  // Returns bytes that NVRTC gives by two calls: one for the size, one for the bytes. Returns nothing if a call fails.
  template <class Size, class Get>
  std::string read(Size size, Get get) const {
    std::size_t bytes = 0;
    if (program_ == nullptr || size(program_, &bytes) != NVRTC_SUCCESS || bytes == 0) return {};
    std::string text(bytes, '\0');
    if (get(program_, text.data()) != NVRTC_SUCCESS) return {};
    return text;
  }
  template <class Size, class Get>
  std::string read_text(Size size, Get get) const {
    std::string text = read(size, get);
    text.resize(std::min(text.find('\0'), text.size()));
    return text;
  }

  std::string lowered_name(std::string const& expression) const {
    char const* name = nullptr;
    nvrtcResult const code = nvrtc_.get_lowered_name(program_, expression.c_str(), &name);
    return code == NVRTC_SUCCESS && name != nullptr ? name : std::string();
  }

 private:
  NvrtcApi const& nvrtc_;
  nvrtcProgram program_ = nullptr;
};

// Returns the line with this number, from 1, without the blanks around it.
std::string_view line_of(std::string_view source, std::size_t line) {
  for (; line > 1; --line) {
    std::size_t const end = source.find('\n');
    if (end == source.npos) return {};
    source.remove_prefix(end + 1);
  }
  return tracing::support::trimmed(source.substr(0, source.find('\n')));
}

Value text_or_none(std::string_view text) { return text.empty() ? Value() : Value::of_text(text); }

// Emits a message with its line of source. The log has this line for most messages of NVRTC, but not for messages of
// ptxas, whose source is the PTX.
void emit(CompileMessage const& message, CompileRequest const& request, std::string_view ptx) {
  std::string_view source = message.source_text;
  if (source.empty() && message.line > 0) {
    if (message.file == request.name) source = line_of(request.source, message.line);
    if (message.file == "application ptx input") source = line_of(ptx, message.line);
  }
  Value const file = text_or_none(message.file);
  Value const line = message.line > 0 ? Value::of_u64(message.line) : Value();
  Value const text = text_or_none(source);
  Value const context = text_or_none(message.context);
#define TRACING_CUDA_EMIT(level)                                                                                  \
  TRACE_LOG(level, "{}", message.text, kv("source.file", file), kv("source.line", line), kv("source.text", text), \
            kv("source.context", context))
  switch (message.severity) {
    case Severity::error: TRACING_CUDA_EMIT(error); break;
    case Severity::warning: TRACING_CUDA_EMIT(warn); break;
    case Severity::remark: TRACING_CUDA_EMIT(info); break;
  }
#undef TRACING_CUDA_EMIT
}

std::string explanation(NvrtcApi const& nvrtc, nvrtcResult code) {
  char const* const name = nvrtc.get_error_string(code);
  std::string text = name == nullptr ? "NVRTC error" : name;
  text += " (" + std::to_string(static_cast<int>(code)) + ")";
  if (code == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE)
    text += ": libnvrtc-builtins must be beside libnvrtc or in a folder of LD_LIBRARY_PATH";
  return text;
}

// Emits the entries of the log and throws.
[[noreturn]] void fail(NvrtcApi const& nvrtc, nvrtcResult code, CompileRequest const& request, std::string log,
                       std::string_view ptx) {
  CompileLog const read = parse_compile_log(log);
  CompileMessage const* first = nullptr;
  std::size_t errors = 0;
  for (CompileMessage const& message : read.messages) {
    emit(message, request, ptx);
    if (message.severity == Severity::error && errors++ == 0) first = &message;
  }
  std::string sentence = "cannot compile " + request.name;
  if (first == nullptr || code != NVRTC_ERROR_COMPILATION) {
    std::string const reason = explanation(nvrtc, code);
    if (first == nullptr || code == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE) TRACE_ERROR("{}", reason);
    sentence += ": " + reason;
  }
  if (first != nullptr) {
    sentence += ": ";
    if (first->line > 0) sentence.append(first->file).append(":").append(std::to_string(first->line)).append(": ");
    sentence += first->text;
    if (errors > 1) sentence += " (and " + std::to_string(errors - 1) + " more)";
  }
  throw CompileError(code, sentence, std::move(log));
}

bool makes_cubin(CompileRequest const& request) {
  auto const links_later = [](std::string const& option) { return option == "-dlto" || option == "--dlink-time-opt"; };
  return request.arch.starts_with("sm_") && std::ranges::none_of(request.options, links_later);
}

std::vector<std::string> all_options(NvrtcApi const& nvrtc, CompileRequest const& request) {
  std::vector<std::string> options{"-arch=" + request.arch};
  for (std::string const& option : shown_options(request)) options.push_back(option);
  if (request.no_cache && version_of(nvrtc) >= NvrtcVersion{12, 9}) options.emplace_back("--no-cache");
  if (makes_cubin(request)) options.emplace_back("--ptxas-options=-v");
  return options;
}

template <class T>
std::optional<std::vector<T>> if_any(std::vector<T> texts) {
  return texts.empty() ? std::nullopt : std::optional(std::move(texts));
}

// The resources that the functions of a compiled kernel use, as fields. The sizes of machine code are empty without
// machine code.
struct Resources {
  explicit Resources(CompiledKernel const& kernel) : ptx_bytes(kernel.ptx.size()) {
    if (!kernel.cubin.empty()) cubin_bytes = kernel.cubin.size();
    if (kernel.usage.empty()) return;
    registers = shared_bytes = spill_bytes = 0;
    for (KernelUsage const& usage : kernel.usage) {
      registers = std::max(*registers, usage.registers);
      shared_bytes = std::max(*shared_bytes, usage.shared_bytes);
      *spill_bytes += usage.spill_store_bytes + usage.spill_load_bytes;
    }
  }

  std::size_t ptx_bytes;
  std::optional<std::size_t> cubin_bytes;
  std::optional<std::uint64_t> registers;
  std::optional<std::uint64_t> shared_bytes;
  std::optional<std::uint64_t> spill_bytes;
};

// Returns true if TRACE_CUDA_SOURCE asks for sources, which would fill a recording.
bool shows_source() noexcept {
  char const* const value = std::getenv("TRACE_CUDA_SOURCE");
  return value != nullptr && std::string_view(value) == "on";
}

Span make_compile_span(CompileRequest const& request, char const* cache) {
  std::vector<std::string_view> headers;
  for (MemoryHeader const& header : request.headers) headers.push_back(header.name);
  return TRACE_MAKE_SPAN(
      info, "compile", kv("kernel.name", request.kernel_name.empty() ? request.name : request.kernel_name),
      kv("arch", request.arch), kv("options", if_any(shown_options(request))), kv("headers", if_any(headers)),
      kv("no_cache", request.no_cache ? std::optional(true) : std::nullopt), kv("cache", cache),
      kv("duration_ms", empty), kv("lowered_names", empty), kv("ptx_bytes", empty), kv("cubin_bytes", empty),
      kv("registers", empty), kv("shared_bytes", empty), kv("spill_bytes", empty));
}

// Records the result in the span. Call it after the event, which would otherwise show the result twice.
void record_result(Span const& span, CompiledKernel const& kernel, Resources const& used) {
  if (!span) return;
  if (!kernel.lowered_names.empty()) span.record(kv("lowered_names", kernel.lowered_names));
  span.record(kv("ptx_bytes", used.ptx_bytes));
  if (used.cubin_bytes) span.record(kv("cubin_bytes", *used.cubin_bytes));
  if (used.registers)
    span.record(kv("registers", *used.registers), kv("shared_bytes", *used.shared_bytes),
                kv("spill_bytes", *used.spill_bytes));
}

}  // namespace

NvrtcVersion version_of(NvrtcApi const& nvrtc) {
  NvrtcVersion version;
  nvrtc.version(&version.major, &version.minor);
  return version;
}

std::vector<std::string> shown_options(CompileRequest const& request) {
  std::vector<std::string> options = request.options;
  for (std::string const& folder : request.include_folders) options.push_back("-I" + folder);
  return options;
}

void report_hit(CompileRequest const& request, CompiledKernel const& kernel, CacheUse const& cache) {
  Span const span = make_compile_span(request, cache.result);
  auto const inside = span.enter();
  bool const from_disk = std::string_view(cache.result) == "disk";
  TRACE_TRACE("{}", from_disk ? "Using second-line PTX cache" : "Using PTX cache", kv("cache_hits", cache.hits),
              kv("cache_misses", cache.misses));
  record_result(span, kernel, Resources(kernel));
}

CompiledKernel compile(NvrtcApi const& nvrtc, CompileRequest const& request, CacheUse const& cache) {
  Span const span = make_compile_span(request, cache.result);
  auto const inside = span.enter();
  TRACE_TRACE("Compiling kernel",
              kv("kernel.id", request.kernel_id.empty() ? Value() : Value::of_verbatim(request.kernel_id)));
  if (shows_source()) TRACE_TRACE("Kernel source:\n{}", tracing::support::trimmed(request.source, "\n"));
  Stopwatch const watch;
  Program program(nvrtc);
  nvrtcResult code = program.create(request);
  if (code == NVRTC_SUCCESS) code = program.compile(all_options(nvrtc, request));
  double const duration_ms = watch.ms();
  std::string log = program.read_text(nvrtc.get_program_log_size, nvrtc.get_program_log);
  CompiledKernel result;
  result.ptx = program.read_text(nvrtc.get_ptx_size, nvrtc.get_ptx);
  if (code != NVRTC_SUCCESS) fail(nvrtc, code, request, std::move(log), result.ptx);

  CompileLog read = parse_compile_log(log);
  for (CompileMessage const& message : read.messages) emit(message, request, result.ptx);
  result.cubin = program.read(nvrtc.get_cubin_size, nvrtc.get_cubin);
  for (std::string const& expression : request.name_expressions)
    result.lowered_names.push_back(program.lowered_name(expression));
  result.usage = std::move(read.usage);
  result.log = std::move(log);
  Resources const used(result);
  bool const has_cache = cache.result != nullptr;
  TRACE_DEBUG("compiled", duration_ms, kv("ptx_bytes", used.ptx_bytes), kv("cubin_bytes", used.cubin_bytes),
              kv("registers", used.registers), kv("shared_bytes", used.shared_bytes),
              kv("spill_bytes", used.spill_bytes),
              kv("cache_hits", has_cache ? std::optional(cache.hits) : std::nullopt),
              kv("cache_misses", has_cache ? std::optional(cache.misses) : std::nullopt));
  span.record(kv("duration_ms", duration_ms));
  record_result(span, result, used);
  return result;
}

}  // namespace internal

CompiledKernel compile(NvrtcApi const& nvrtc, CompileRequest const& request, Caller caller) {
  tracing::internal::CallerScope const called(caller, &nvrtc);
  return internal::compile(nvrtc, request, internal::CacheUse{});
}

}}}  // namespace tracing::v1::cuda
