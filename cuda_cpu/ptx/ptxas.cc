#include "cuda_cpu/ptx/ptxas.h"

#include <cstdlib>
#include <string_view>

#include "tests/support/temporary_folder.h"

namespace cuda_cpu::ptx {
namespace {

// Returns "sm_90" from ".target sm_90".
std::string target_of(std::string const& text) {
  auto const begin = text.find("sm_");
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

bool has_ptxas() { return std::string_view(TESTLOG_PTXAS) != ""; }

std::string ptxas_errors(std::string const& text) {
  tracing_test::TemporaryFolder const folder;
  std::string const source = folder.write("in.ptx", text), log = folder / "log";
  std::string const command = std::string(TESTLOG_PTXAS) + " -c -O0 -arch=" + target_of(text) + " " + source +
                              " -o /dev/null >" + log + " 2>&1";
  return std::system(command.c_str()) == 0 ? "" : "ptxas: " + folder.read("log");
}

}  // namespace cuda_cpu::ptx
