// An instrumented program: the emitting side alone.
#include <tracing_core/model/level.h>
#include <tracing_core/tracing.h>

int main() { return tracing::name(tracing::Level::info) == "INFO" ? 0 : 1; }
