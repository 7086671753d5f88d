// A test program that links testlog::nvtx, for TRACE_NVTX.
#include <testlog/testlog.h>
#include <tracing_core/bridge/nvtx.h>

TEST(Nvtx, MakesNoLayerWithoutATool) { EXPECT_EQ(tracing::bridge::nvtx_layer(), nullptr); }
