// Declares differences(), which tells where an answer is not what a case expects.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace conformance {

/// One line or more for each place where the two differ, with its path; empty where they agree. Keys on one side only are
/// differences. An expected object with the key "panic" agrees with any answer: the reference crashed there.
std::vector<std::string> differences(nlohmann::json const& expected, nlohmann::json const& got);

}  // namespace conformance
