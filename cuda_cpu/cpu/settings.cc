#include "cuda_cpu/cpu/settings.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "tracing_core/environment/variables.h"
#include "tracing_core/support/short_text.h"

namespace cuda_cpu::cpu {
namespace {

using tracing::environment::VariableInput;

// Calls `read` with a variable that is set and not empty.
template <class Read>
void read_variable(std::string_view name, char const* (*get)(char const* name), std::string& reports,
                   Read const& read) {
  char const* const value = get(name.data());
  if (value == nullptr || *value == '\0') return;
  for (auto const& variable : tracing::environment::common_variables().variables)
    if (variable.name == name) read(VariableInput{variable, value, reports});
}

void read_timeout(CpuDriverOptions& options, VariableInput const& input) {
  if (auto const ns = input.read_seconds()) options.timeout = std::chrono::nanoseconds(*ns);
}

void read_frames(CpuDriverOptions& options, VariableInput const& input) {
  bool const is_good = input.value.size() == 1 && input.value[0] >= '0' && input.value[0] <= '8';
  if (!is_good) return input.reject(input.value, "not a valid number");
  options.frames = static_cast<unsigned>(input.value[0] - '0');
}

void read_switch(bool& option, VariableInput const& input) {
  if (input.value != "on" && input.value != "off") return input.reject(input.value);
  option = input.value == "on";
}

// For a test that testlog_discover_tests() made: the variable is set to four fifths of the test's TIMEOUT. testlog
// reports a bad value.
void read_time_of_test(CpuDriverOptions& options, char const* (*get)(char const* name)) {
  char const* const value = get("TRACE_HANG_AFTER_DEFAULT");
  if (value == nullptr || *value == '\0') return;
  constexpr tracing::environment::Variable kVariable{"TRACE_HANG_AFTER_DEFAULT", "seconds", "", "", nullptr};
  std::string ignored;
  if (auto const ns = VariableInput{kVariable, value, ignored}.read_seconds())
    options.timeout = std::chrono::nanoseconds(*ns);
}

bool set_check(CpuDriverOptions& options, std::string_view word) {
  if (word == "all") {  // but for init_shared, which finds reads in correct kernels
    options.checks.race = options.checks.init = options.checks.sync = true;
    options.stale_shuffle = StaleShuffle::fault;
    return options.leak_check = true;
  }
  if (word == "race") return options.checks.race = true;
  if (word == "init") return options.checks.init = true;
  if (word == "init_shared") return options.checks.init_shared = true;
  if (word == "sync") return options.checks.sync = true;
  if (word == "leak") return options.leak_check = true;
  if (word == "shuffle")
    options.stale_shuffle = StaleShuffle::fault;
  else if (word == "zero_shuffle")
    options.stale_shuffle = StaleShuffle::zero;
  else
    return false;
  return true;
}

void read_checks(CpuDriverOptions& options, VariableInput const& input) {
  for (std::string_view list = input.value; !list.empty();) {
    std::size_t const comma = std::min(list.find(','), list.size());
    std::string_view const word = tracing::support::trimmed(list.substr(0, comma));
    if (!set_check(options, word)) input.reject(word);  // the other words still count
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

}  // namespace

CpuDriverOptions with_environment(CpuDriverOptions options, char const* (*get)(char const* name),
                                  std::string& reports) {
  if (options.timeout == std::chrono::nanoseconds(0)) read_time_of_test(options, get);
  read_variable("TRACE_CUDA_TIMEOUT", get, reports, [&](auto const& input) { read_timeout(options, input); });
  read_variable("TRACE_CUDA_CHECK", get, reports, [&](auto const& input) { read_checks(options, input); });
  read_variable("TRACE_CUDA_MEMORY", get, reports,
                [&](auto const& input) { options.memory_bytes = input.read_size().value_or(options.memory_bytes); });
  read_variable("TRACE_CUDA_FRAMES", get, reports, [&](auto const& input) { read_frames(options, input); });
  read_variable("TRACE_CUDA_STATUS", get, reports,
                [&](auto const& input) { read_switch(options.changes_status, input); });
  return options;
}

}  // namespace cuda_cpu::cpu
