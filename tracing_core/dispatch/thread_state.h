// Declares what the dispatcher keeps for each thread, and the functions that only this library calls.
#pragma once

#include "tracing_core/dispatch/subscriber.h"

namespace tracing::inline v1::internal {

struct ThreadState {
  Subscriber* subscriber = nullptr;  // where overridden, in place of the global one
  bool overridden = false;
  bool in_subscriber = false;  // what is emitted now comes from a subscriber: dropped
};

// Read on every record: found by one instruction also from a shared library, at the price of a few bytes of the loader's
// reserve for libraries opened later.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local ThreadState thread_state;

}  // namespace tracing::inline v1::internal
