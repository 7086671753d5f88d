// Compares an answer with the expected one.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace conformance {

/// Text for each difference, with its path; empty if there is none. A key on one side only is a difference. An expected
/// object with the key "panic" is equal to any answer, as the reference crashed there.
std::vector<std::string> differences(nlohmann::json const& expected, nlohmann::json const& got);

}  // namespace conformance
