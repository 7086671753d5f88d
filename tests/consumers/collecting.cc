// A program that collects what it emits.
#include <tracing_core/model/level.h>
#include <tracing_core/setup.h>
#include <tracing_core/tracing.h>

int main() { return tracing::parse_level("debug") == tracing::Level::debug ? 0 : 1; }
