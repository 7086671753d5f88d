// testlog::nvtx: lends tracing::nvtx to the session, and makes an NVTX range of each test.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "testlog/googletest.h"
#include "testlog/outputs/nvtx.h"
#include "testlog/session.h"
#include "tracing_core/bridge/nvtx.h"

// Constant-initialised, since the session starts before other initialisers.
extern "C" {
extern constinit testlog::internal::NvtxFunctions const testlog_nvtx_functions{tracing::bridge::receive_nvtx,
                                                                               tracing::bridge::nvtx_layer};
extern int const testlog_nvtx_keep_linked;
int const testlog_nvtx_keep_linked = 1;
}

namespace testlog { inline namespace v1 { namespace {

class NvtxListener final : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(testing::TestInfo const& test) override {
    range_.emplace(std::string(test.test_suite_name()) + "." + test.name());
  }
  void OnTestEnd(testing::TestInfo const&) override { range_.reset(); }

 private:
  std::optional<tracing::bridge::NvtxRange> range_{};
};

[[maybe_unused]] bool const installed = [] {
  internal::install_listeners();
  Session* const session = Session::get();
  if (session == nullptr) return false;
  Nvtx const direction = session->environment().nvtx;
  if (direction == Nvtx::off || direction == Nvtx::in) return false;
  testing::UnitTest::GetInstance()->listeners().Append(new NvtxListener);
  return true;
}();

}}}  // namespace testlog::v1
