#include "case_file.h"

#include <malloc.h>

#include <fstream>
#include <stdexcept>

#include "object_reader.h"

namespace conformance {
namespace {

Case read_case(Json const& json) {
  Case out;
  try {
    ObjectReader reader(json, "the case");
    out.id = reader.get<std::string>("id");
    out.tag = reader.get_or<std::string>("tag", "");
    out.input = reader.at("input").dump();
    Json const* const unicode = reader.find("expected_unicode_regex");  // our regular expressions support Unicode
    out.expected = (unicode != nullptr ? *unicode : reader.at("expected")).dump();
    reader.find("expected");
    out.any = reader.find("any") != nullptr;
    reader.finish();
  } catch (BadCase const& error) {
    out.problem = error.what();
  }
  return out;
}

std::vector<Case> parse_cases(std::filesystem::path const& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot be opened");
  Json const json = Json::parse(file);
  if (!json.is_array()) throw std::runtime_error("is not an array of cases");
  if (json.empty()) throw std::runtime_error("holds no case");
  std::vector<Case> cases;
  cases.reserve(json.size());
  for (Json const& one : json) cases.push_back(read_case(one));
  return cases;
}

}  // namespace

std::vector<Case> read_cases(std::filesystem::path const& path) {
  std::vector<Case> cases = parse_cases(path);
  malloc_trim(0);  // returns the memory of the parsed JSON, which would slow down each fork
  return cases;
}

}  // namespace conformance
