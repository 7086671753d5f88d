// A library that NVTX_INJECTION64_PATH names, as that of an NVTX tool, whose functions do nothing.
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

namespace {

int push(nvtxDomainHandle_t, nvtxEventAttributes_t const*) { return 0; }
int pop(nvtxDomainHandle_t) { return 0; }
void mark(nvtxDomainHandle_t, nvtxEventAttributes_t const*) {}
char handle;
nvtxDomainHandle_t create_domain(char const*) { return reinterpret_cast<nvtxDomainHandle_t>(&handle); }
nvtxStringHandle_t register_string(nvtxDomainHandle_t, char const*) {
  return reinterpret_cast<nvtxStringHandle_t>(&handle);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  auto const* const callbacks = static_cast<NvtxExportTableCallbacks const*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
  auto const set = [&](unsigned id, auto* function) { *table[id] = reinterpret_cast<NvtxFunctionPointer>(function); };
  set(NVTX_CBID_CORE2_DomainRangePushEx, push);
  set(NVTX_CBID_CORE2_DomainRangePop, pop);
  set(NVTX_CBID_CORE2_DomainMarkEx, mark);
  set(NVTX_CBID_CORE2_DomainCreateA, create_domain);
  set(NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  return 1;
}
