// A plugin, whose exports are found by name.
#include <tracing_core/tracing.h>

extern "C" [[gnu::visibility("default")]] void plugin_run() {
  TRACE_SPAN(info, "in_plugin", tracing::kv("name", PLUGIN_NAME), tracing::kv("ratio", 0.5));
  TRACE_INFO("the plugin speaks");
  TRACE_DEBUG("in detail");
}

extern "C" [[gnu::visibility("default")]] int plugin_answer() { return 42; }
