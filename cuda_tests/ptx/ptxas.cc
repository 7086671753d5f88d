#include "cuda_tests/ptx/ptxas.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

namespace cuda_tests::ptx {
namespace {

std::filesystem::path work_file(std::string const& name) {
  return std::filesystem::temp_directory_path() / ("cuda_tests_ptx_" + std::to_string(getpid()) + "_" + name);
}

// The "sm_90" of ".target sm_90", or one of ours where there is none.
std::string target_of(std::string const& text) {
  auto const begin = text.find("sm_");
  if (begin == text.npos) return "sm_90";
  return text.substr(begin, text.find_first_not_of("0123456789af", begin + 3) - begin);
}

}  // namespace

bool has_ptxas() { return std::string_view(TESTLOG_PTXAS) != ""; }

std::string complaint(std::string const& text) {
  auto const source = work_file("in.ptx"), log = work_file("log");
  std::ofstream(source) << text;
  std::string const command = std::string(TESTLOG_PTXAS) + " -c -O0 -arch=" + target_of(text) + " " + source.string() +
                              " -o /dev/null >" + log.string() + " 2>&1";
  int const status = std::system(command.c_str());
  std::ifstream file(log);
  std::string said{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(source);
  std::filesystem::remove(log);
  if (status == 0) return "";
  // These say nothing about the text itself.
  for (std::string_view const other :
       {"Segmentation fault", "Memory allocation failure", "Unresolved extern function", "used in function_name attribute"})
    if (said.find(other) != said.npos) return "";
  return "ptxas: " + said;
}

}  // namespace cuda_tests::ptx
