// Compares an answer with the expected answer.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace conformance {

/// Returns a text for each difference, with its path; empty if the answers are equal. A key on one side only is a
/// difference. An expected object with the key "panic" is equal to any answer, as the reference crashed there.
std::vector<std::string> differences(nlohmann::json const& expected, nlohmann::json const& got);

}  // namespace conformance
