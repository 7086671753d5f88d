// expect: an argument has a type that cannot be recorded
// expect: inside a class: friend TRACE_FIELDS
// note: Block
// errors: 1
#include "tracing_core/tracing.h"
class Block {
  int size_ = 1;
  TRACE_FIELDS(Block, size_)
};
void f(Block const& block) { TRACE_INFO("made", block); }
