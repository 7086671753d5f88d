#define NVTX_NO_IMPL
#include "tracing_core/bridge/nvtx/testdata/fake_tool.h"

#include <nvtx3/nvToolsExt.h>

#include <cstdlib>
#include <fstream>
#include <list>
#include <map>
#include <mutex>
#include <utility>

namespace tracing_test {
namespace {

struct Domain {
  std::string name;
  std::map<uint32_t, std::string> categories{};
};

struct Tool {
  std::mutex mutex{};
  std::list<Domain> domains{};
  std::list<std::string> strings{};
  std::vector<std::string> calls{};
};

Tool& tool() {
  static auto& tool = *new Tool;
  return tool;
}

// REQUIRES: the lock is held. The file FAKE_NVTX_OUTPUT gets the calls, too.
void add(std::string call) {
  if (char const* const file = std::getenv("FAKE_NVTX_OUTPUT")) std::ofstream(file, std::ios::app) << call << "\n";
  tool().calls.push_back(std::move(call));
}

std::string text_of(nvtxDomainHandle_t handle, nvtxEventAttributes_t const& attributes) {
  auto const* const domain = reinterpret_cast<Domain const*>(handle);
  std::string text = domain->name + ": ";
  if (attributes.messageType == NVTX_MESSAGE_TYPE_REGISTERED) {
    text += "reg:" + *reinterpret_cast<std::string const*>(attributes.message.registered);
  } else {
    text += attributes.message.ascii;
  }
  auto const category = domain->categories.find(attributes.category);
  return category == domain->categories.end() ? text : text + " (" + category->second + ")";
}

void mark(nvtxDomainHandle_t domain, nvtxEventAttributes_t const* attributes) {
  std::lock_guard const lock(tool().mutex);
  add("mark " + text_of(domain, *attributes));
}
int push(nvtxDomainHandle_t domain, nvtxEventAttributes_t const* attributes) {
  std::lock_guard const lock(tool().mutex);
  add("push " + text_of(domain, *attributes));
  return 0;
}
int pop(nvtxDomainHandle_t domain) {
  std::lock_guard const lock(tool().mutex);
  add("pop " + reinterpret_cast<Domain const*>(domain)->name);
  return 0;
}
void name_category(nvtxDomainHandle_t domain, uint32_t category, char const* name) {
  std::lock_guard const lock(tool().mutex);
  reinterpret_cast<Domain*>(domain)->categories[category] = name;
}
nvtxStringHandle_t register_string(nvtxDomainHandle_t, char const* text) {
  std::lock_guard const lock(tool().mutex);
  return reinterpret_cast<nvtxStringHandle_t>(&tool().strings.emplace_back(text));
}
nvtxDomainHandle_t create_domain(char const* name) {
  std::lock_guard const lock(tool().mutex);
  return reinterpret_cast<nvtxDomainHandle_t>(&tool().domains.emplace_back(Domain{name}));
}

}  // namespace

std::vector<std::string> take_nvtx_calls() {
  std::lock_guard const lock(tool().mutex);
  return std::exchange(tool().calls, {});
}

std::size_t count_registered_nvtx_strings() {
  std::lock_guard const lock(tool().mutex);
  return tool().strings.size();
}

}  // namespace tracing_test

extern "C" [[gnu::visibility("default")]] int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  using namespace tracing_test;
  auto const* const callbacks = static_cast<NvtxExportTableCallbacks const*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
  if (std::getenv("FAKE_NVTX_IGNORES_ALL") != nullptr) {  // for measurements: a domain, and calls that do nothing
    *table[NVTX_CBID_CORE2_DomainCreateA] = reinterpret_cast<NvtxFunctionPointer>(create_domain);
    return 1;
  }
  auto const set = [&](unsigned id, auto* function) { *table[id] = reinterpret_cast<NvtxFunctionPointer>(function); };
  set(NVTX_CBID_CORE2_DomainMarkEx, mark);
  set(NVTX_CBID_CORE2_DomainRangePushEx, push);
  set(NVTX_CBID_CORE2_DomainRangePop, pop);
  set(NVTX_CBID_CORE2_DomainNameCategoryA, name_category);
  set(NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  set(NVTX_CBID_CORE2_DomainCreateA, create_domain);
  return 1;
}
