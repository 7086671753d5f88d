// Compiled as with -DTRACING_MAX_LEVEL=info, whatever the build's setting.
#undef TRACING_MAX_LEVEL
#define TRACING_MAX_LEVEL info
// GCC warned about every span above the maximum level: "'this' pointer is null".
#pragma GCC diagnostic error "-Wnonnull"

#include "tracing_core/tracing.h"

#include <gtest/gtest.h>

#include "tracing_core/collect/registry.h"

namespace tracing { namespace {

TEST(MaxLevel, SpansAboveItAreNotMade) {
  with_default(RegistryBuilder().build(), [] {
    int const field = 1;
    TRACE_SPAN(debug, "scope", field);
    EXPECT_TRUE(Span::current().is_none());
    EXPECT_TRUE(TRACE_MAKE_SPAN(debug, "handle", field).is_none());
  });
}

#if !defined(TRACING_DISABLED)
TEST(MaxLevel, SpansUpToItAreMade) {
  with_default(RegistryBuilder().build(), [] {
    TRACE_SPAN(info, "scope");
    EXPECT_FALSE(Span::current().is_none());
  });
}
TEST(MaxLevel, IsInTheMetadata) {
  with_default(RegistryBuilder().build(), [] {
    Span const span = TRACE_MAKE_SPAN(error, "handle");
    ASSERT_NE(span.metadata(), nullptr);
    EXPECT_EQ(span.metadata()->max_compiled_level(), LevelFilter::info);
  });
}
#endif

}}  // namespace tracing
