// CuptiApi: the calls of CUPTI as a table of function pointers, filled from the library by load_cupti(), or by hand.
// Nothing here needs CUPTI in order to link or to start.
#pragma once

#include <cupti.h>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 { namespace cuda {

// X(member, symbol)
#define TRACING_CUDA_CUPTI_CALLS(X)                              \
  X(get_result_string, cuptiGetResultString)                     \
  X(get_callback_name, cuptiGetCallbackName)                     \
  X(subscribe, cuptiSubscribe)                                   \
  X(unsubscribe, cuptiUnsubscribe)                               \
  X(enable_callback, cuptiEnableCallback)                        \
  X(activity_register_callbacks, cuptiActivityRegisterCallbacks) \
  X(activity_enable, cuptiActivityEnable)                        \
  X(activity_disable, cuptiActivityDisable)                      \
  X(activity_get_next_record, cuptiActivityGetNextRecord)        \
  X(activity_flush_all, cuptiActivityFlushAll)                   \
  X(activity_get_dropped, cuptiActivityGetNumDroppedRecords)

/// CUPTI's calls, each as documented in its headers. A plain value: copy it, replace single calls, or fill it by hand.
/// DeviceTimes needs all of them.
struct CuptiApi {
#define TRACING_CUDA_MEMBER(member, symbol) decltype(&::symbol) member = nullptr;
  TRACING_CUDA_CUPTI_CALLS(TRACING_CUDA_MEMBER)
#undef TRACING_CUDA_MEMBER
};

}}}  // namespace tracing::v1::cuda
