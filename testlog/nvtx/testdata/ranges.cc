// A library with NVTX ranges, as its author writes them, without a word of testlog.
#include <nvtx3/nvToolsExt.h>

extern "C" void use_ranges(void (*in_range)()) {
  static nvtxDomainHandle_t const domain = nvtxDomainCreateA("CCCL");
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  attributes.payload.llValue = 100;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA(domain, "cub::DeviceReduce::Sum");
  nvtxDomainRangePushEx(domain, &attributes);
  in_range();
  nvtxMarkA("halfway");
  nvtxDomainRangePop(domain);
}
