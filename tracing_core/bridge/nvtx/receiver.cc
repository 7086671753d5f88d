// The receiver: the functions that NVTX calls in place of its own, which do nothing.
//
// At its first call, each part of a program that is linked for itself (the executable, each shared library) asks
// InitializeInjectionNvtx2() of the library that NVTX_INJECTION64_PATH names for its functions. Without the variable,
// it asks InitializeInjectionNvtx2_fnptr, if a static library defines it there. NVTX documents both in
// nvtxDetail/nvtxInit.h.
#define NVTX_NO_IMPL  // the types alone
#include <nvtx3/nvToolsExt.h>

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>

#include <atomic>
#include <string>

#include "tracing_core/bridge/nvtx.h"
#include "tracing_core/bridge/nvtx/event_attributes.h"
#include "tracing_core/support/loaded_object.h"

namespace tracing { inline namespace v1 { namespace bridge {
namespace nvtx { namespace {

constexpr char const* kVariable = "NVTX_INJECTION64_PATH";

constinit std::atomic<bool> receives{false};

// ---- what NVTX calls ----

// Calls f(), and returns `otherwise` if memory runs out.
template <class Result, class F>
Result guarded(Result otherwise, F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    return otherwise;
  }
}

// A range or mark as one of NVTX's three forms passes it.
template <class Result, class F>
Result with_attributes(Result otherwise, Domain const& domain, nvtxEventAttributes_t const* attributes, F f) noexcept {
  return guarded(otherwise, [&] {
    std::string storage;
    return f(read_attributes(domain, attributes, storage));
  });
}
template <class Result, class F>
Result with_text(Result otherwise, char const* text, F f) noexcept {
  return guarded(otherwise, [&] { return f(RangeData{.domain = Domain::default_domain(), .text = bounded(text)}); });
}
template <class Result, class F>
Result with_wide_text(Result otherwise, wchar_t const* text, F f) noexcept {
  if (text == nullptr) return with_text(otherwise, nullptr, f);
  return guarded(otherwise, [&] {
    std::string const storage = to_utf8(text);
    return f(RangeData{.domain = Domain::default_domain(), .text = storage});
  });
}

Domain& domain_of(nvtxDomainHandle_t handle) noexcept {
  return handle == nullptr ? Domain::default_domain() : *reinterpret_cast<Domain*>(handle);
}

constexpr nvtxRangeId_t kNotStarted = 0;
int mark(RangeData const& data) noexcept { return emit_mark(data), 0; }

int push_attributes(nvtxEventAttributes_t const* a) noexcept {
  return with_attributes(kNoRange, Domain::default_domain(), a, push_range);
}
int push_text(char const* text) noexcept { return with_text(kNoRange, text, push_range); }
int push_wide(wchar_t const* text) noexcept { return with_wide_text(kNoRange, text, push_range); }
int pop() noexcept { return pop_range(Domain::default_domain()); }
nvtxRangeId_t start_attributes(nvtxEventAttributes_t const* a) noexcept {
  return with_attributes(kNotStarted, Domain::default_domain(), a, start_range);
}
nvtxRangeId_t start_text(char const* text) noexcept { return with_text(kNotStarted, text, start_range); }
nvtxRangeId_t start_wide(wchar_t const* text) noexcept { return with_wide_text(kNotStarted, text, start_range); }
void end(nvtxRangeId_t id) noexcept { end_range(id); }
void mark_attributes(nvtxEventAttributes_t const* a) noexcept { with_attributes(0, Domain::default_domain(), a, mark); }
void mark_text(char const* text) noexcept { with_text(0, text, mark); }
void mark_wide(wchar_t const* text) noexcept { with_wide_text(0, text, mark); }

int push_in_domain(nvtxDomainHandle_t domain, nvtxEventAttributes_t const* a) noexcept {
  return with_attributes(kNoRange, domain_of(domain), a, push_range);
}
int pop_in_domain(nvtxDomainHandle_t domain) noexcept { return pop_range(domain_of(domain)); }
nvtxRangeId_t start_in_domain(nvtxDomainHandle_t domain, nvtxEventAttributes_t const* a) noexcept {
  return with_attributes(kNotStarted, domain_of(domain), a, start_range);
}
void end_in_domain(nvtxDomainHandle_t, nvtxRangeId_t id) noexcept { end_range(id); }
void mark_in_domain(nvtxDomainHandle_t domain, nvtxEventAttributes_t const* a) noexcept {
  with_attributes(0, domain_of(domain), a, mark);
}

void name_category_in(nvtxDomainHandle_t domain, uint32_t id, char const* name) noexcept {
  if (name == nullptr) return;
  guarded(0, [&] { return domain_of(domain).name_category(id, bounded(name)), 0; });
}
void name_category_in_wide(nvtxDomainHandle_t domain, uint32_t id, wchar_t const* name) noexcept {
  if (name == nullptr) return;
  guarded(0, [&] { return domain_of(domain).name_category(id, to_utf8(name)), 0; });
}
void name_category(uint32_t id, char const* name) noexcept { name_category_in(nullptr, id, name); }
void name_category_wide(uint32_t id, wchar_t const* name) noexcept { name_category_in_wide(nullptr, id, name); }

nvtxStringHandle_t register_text(nvtxDomainHandle_t domain, char const* text) noexcept {
  if (text == nullptr) return nullptr;
  return guarded(nvtxStringHandle_t{}, [&] {
    RangeName const* const name = register_string(domain_of(domain), bounded(text));
    return reinterpret_cast<nvtxStringHandle_t>(const_cast<RangeName*>(name));
  });
}
nvtxStringHandle_t register_wide(nvtxDomainHandle_t domain, wchar_t const* text) noexcept {
  if (text == nullptr) return nullptr;
  return guarded(nvtxStringHandle_t{}, [&] { return register_text(domain, to_utf8(text).c_str()); });
}

// The domain of our own ranges is no domain, so that nvtx_layer() finds no tool and spans do not come back as spans.
nvtxDomainHandle_t create_domain(char const* name) noexcept {
  if (name == nullptr || bounded(name) == kNvtxDomain) return nullptr;
  return guarded(nvtxDomainHandle_t{},
                 [&] { return reinterpret_cast<nvtxDomainHandle_t>(&Domain::named(bounded(name))); });
}
nvtxDomainHandle_t create_domain_wide(wchar_t const* name) noexcept {
  if (name == nullptr) return nullptr;
  return guarded(nvtxDomainHandle_t{}, [&] { return create_domain(to_utf8(name).c_str()); });
}

// ---- attaching ----

struct Binding {
  NvtxCallbackModule module;
  unsigned id;
  NvtxFunctionPointer function;
};

template <class F>
Binding bind(NvtxCallbackModule module, unsigned id, F* function) noexcept {
  return {module, id, reinterpret_cast<NvtxFunctionPointer>(function)};
}
Binding core(unsigned id, auto* function) noexcept { return bind(NVTX_CB_MODULE_CORE, id, function); }
Binding core2(unsigned id, auto* function) noexcept { return bind(NVTX_CB_MODULE_CORE2, id, function); }

void attach(NvtxExportTableCallbacks const& callbacks) noexcept {
  Binding const bindings[] = {
      core(NVTX_CBID_CORE_MarkEx, mark_attributes),
      core(NVTX_CBID_CORE_MarkA, mark_text),
      core(NVTX_CBID_CORE_MarkW, mark_wide),
      core(NVTX_CBID_CORE_RangeStartEx, start_attributes),
      core(NVTX_CBID_CORE_RangeStartA, start_text),
      core(NVTX_CBID_CORE_RangeStartW, start_wide),
      core(NVTX_CBID_CORE_RangeEnd, end),
      core(NVTX_CBID_CORE_RangePushEx, push_attributes),
      core(NVTX_CBID_CORE_RangePushA, push_text),
      core(NVTX_CBID_CORE_RangePushW, push_wide),
      core(NVTX_CBID_CORE_RangePop, pop),
      core(NVTX_CBID_CORE_NameCategoryA, name_category),
      core(NVTX_CBID_CORE_NameCategoryW, name_category_wide),
      core2(NVTX_CBID_CORE2_DomainMarkEx, mark_in_domain),
      core2(NVTX_CBID_CORE2_DomainRangeStartEx, start_in_domain),
      core2(NVTX_CBID_CORE2_DomainRangeEnd, end_in_domain),
      core2(NVTX_CBID_CORE2_DomainRangePushEx, push_in_domain),
      core2(NVTX_CBID_CORE2_DomainRangePop, pop_in_domain),
      core2(NVTX_CBID_CORE2_DomainNameCategoryA, name_category_in),
      core2(NVTX_CBID_CORE2_DomainNameCategoryW, name_category_in_wide),
      core2(NVTX_CBID_CORE2_DomainRegisterStringA, register_text),
      core2(NVTX_CBID_CORE2_DomainRegisterStringW, register_wide),
      core2(NVTX_CBID_CORE2_DomainCreateA, create_domain),
      core2(NVTX_CBID_CORE2_DomainCreateW, create_domain_wide),
  };
  for (Binding const& binding : bindings) {
    NvtxFunctionTable table = nullptr;
    unsigned size = 0;
    if (callbacks.GetModuleFunctionTable(binding.module, &table, &size) == 0 || binding.id >= size) continue;
    if (table[binding.id] != nullptr) *table[binding.id] = binding.function;
  }
}

// Returns the path of the shared library that has this code; empty if the executable has it.
std::string path_of_this_library() {
  Dl_info info;
  link_map* map = nullptr;
  if (dladdr1(&receives, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return {};
  if (map == nullptr || map->l_name == nullptr || *map->l_name == 0) return {};
  char path[PATH_MAX];
  return realpath(map->l_name, path) == nullptr ? std::string() : path;
}

}}  // namespace nvtx

std::string receive_nvtx() {
  std::string const library = nvtx::path_of_this_library();
  char const* const set = getenv(nvtx::kVariable);
  if (set != nullptr && library != set)
    return std::string(nvtx::kVariable) + " names another receiver, " + set + ", which gets the ranges";
  nvtx::receives.store(true, std::memory_order_relaxed);
  if (!library.empty()) setenv(nvtx::kVariable, library.c_str(), 0);
  return {};
}

}}}  // namespace tracing::v1::bridge

extern "C" {

// Called by the loader of NVTX. Returns 0 if NVTX shall do nothing.
[[gnu::visibility("default")]] int NVTX_API InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  namespace nvtx = tracing::bridge::nvtx;
  if (!nvtx::receives.load(std::memory_order_relaxed)) return 0;
  auto const* const version = static_cast<NvtxExportTableVersionInfo const*>(get_table(NVTX_ETID_VERSIONINFO));
  if (version != nullptr && version->struct_size >= sizeof(*version)) version->SetInjectionNvtxVersion(NVTX_VERSION);
  auto const* const callbacks = static_cast<NvtxExportTableCallbacks const*>(get_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(*callbacks)) return 0;
  tracing::support::keep_loaded(&nvtx::receives);
  nvtx::attach(*callbacks);
  return 1;
}

// For NVTX calls that are linked together with this code. Hidden, as NVTX's own weak definition is.
[[gnu::visibility("hidden")]] NvtxInitializeInjectionNvtxFunc_t InitializeInjectionNvtx2_fnptr =
    &InitializeInjectionNvtx2;

}  // extern "C"
