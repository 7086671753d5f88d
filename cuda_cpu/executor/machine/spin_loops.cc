#include "cuda_cpu/executor/machine/spin_loops.h"

#include <algorithm>
#include <span>

namespace cuda_cpu {
namespace {

constexpr std::size_t kMaxSteps = 64;  // longer loops do more than wait

bool sees_other_threads(ptx::Form const& form) {
  if (form.opcode() == "atom" || (form.opcode() == "mbarrier" && (form.has("try_wait") || form.has("test_wait"))))
    return true;
  return form.opcode() == "ld" && (form.has("volatile") || form.has("relaxed") || form.has("acquire"));
}

class Tainted {
 public:
  bool has(Location location) const { return std::ranges::find(locations_, location) != locations_.end(); }
  bool has_any(std::span<Location const> locations) const {
    return std::ranges::any_of(locations, [&](Location location) { return location != kNowhere && has(location); });
  }
  void add_all(std::span<Location const> locations) {
    locations_.insert(locations_.end(), locations.begin(), locations.end());
  }

 private:
  std::vector<Location> locations_;
};

// Returns true if an iteration continues depending on a value read from other threads. Follows such values through the
// registers of one iteration.
bool is_spin_loop(DecodedKernel const& kernel, std::span<Step const> body) {
  Tainted tainted;
  for (Step const& step : body) {
    if (step.kind == StepKind::barrier) return false;
    bool const is_guarded = step.guard != kNowhere && tainted.has(step.guard);
    if (step.kind == StepKind::branch && is_guarded) return true;
    bool const reads = sees_other_threads(*kernel.forms[step.form_index]);
    if (reads || is_guarded || tainted.has_any(step.source)) tainted.add_all(step.destination);
  }
  return false;
}

}  // namespace

void mark_spin_loops(DecodedKernel& kernel) {
  for (std::size_t at = 0; at < kernel.steps.size(); ++at) {
    Step& step = kernel.steps[at];
    if (step.kind != StepKind::branch || step.target > at || at - step.target >= kMaxSteps) continue;
    step.waits = is_spin_loop(kernel, std::span(kernel.steps).subspan(step.target, at + 1 - step.target));
  }
}

}  // namespace cuda_cpu
