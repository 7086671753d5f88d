// WorkerState: tells what the thread that writes an output is doing.
#pragma once

namespace tracing { inline namespace v1 { namespace internal {

enum class WorkerState : unsigned char {
  running,  // writes, or was woken in order to write
  polling,  // looks for work again after an interval
  parked,   // does nothing until it is woken
};

}}}  // namespace tracing::v1::internal
