#include "suite.h"

namespace conformance {

std::span<Suite const> all_suites() {
  static Suite const suites[] = {kLevels,           kDatetime,        kTimingDisplay, kEnvFilterParse, kEnvFilterStatic,
                                 kEnvFilterDynamic, kEnvFilterValues, kTargets,       kFlame,          kFmtScenarios,
                                 kValues,           kChrome,          kInferno};
  return suites;
}

}  // namespace conformance
