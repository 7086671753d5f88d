#include "cuda_cpu/executor/machine/places.h"

#include <algorithm>
#include <charconv>

#include "cuda_cpu/executor/steps/map.h"
#include "tracing_core/support/cut_in_middle.h"

namespace cuda_cpu {
namespace {

// Returns "3" or "0-3".
std::string range_text(unsigned first, unsigned last) {
  return first == last ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(last);
}

// Lanes of a warp that are at the same step and in the same state: running, waiting at a barrier, or waiting for lanes.
struct Group {
  Mask lanes = 0;
  std::uint32_t at = 0;
  std::string verb;   // "wait": the plural form
  std::string where;  // "at barrier 0, softmax.cu:40, PTX line 61"
};

// Returns true if a step is in a loop, that is, between a branch back and its target.
bool is_in_loop(DecodedKernel const& kernel, std::uint32_t at) {
  return std::ranges::any_of(kernel.steps.begin() + at, kernel.steps.end(),
                             [at](Step const& step) { return step.kind == StepKind::branch && step.target <= at; });
}

std::string barrier_text(Block const& block, unsigned id) {
  std::uint32_t arrived = block.barriers[id].arrived;
  for (auto const& warp : block.warps) arrived += static_cast<std::uint32_t>(std::popcount(warp->waiting[id]));
  std::uint32_t const expected = block.barriers[id].expected;
  return "at barrier " + std::to_string(id) + " (" + std::to_string(arrived) + " of " +
         std::to_string(expected == 0 ? block.running : expected) + " threads)";
}

// Returns "in shfl.sync.bfly.b32 for lanes 4 to 7".
std::string collective_text(Warp& warp, Step const& step, Mask lanes, std::uint64_t key) {
  auto const& kernel = *warp.block.launch.kernel;
  select_frame(warp, kernel.depth - static_cast<std::uint32_t>(key >> 32));
  std::uint32_t const members = members_of(warp, step)[std::countr_zero(lanes)];
  std::string text = "in " + kernel.forms[step.form_index]->name;
  Mask const missing = members & warp.alive & ~lanes;
  return missing == 0 ? text : text + " for " + lanes_text(missing);
}

Group next_group(Warp& warp, Mask left) {
  auto const& kernel = *warp.block.launch.kernel;
  auto const first = static_cast<unsigned>(std::countr_zero(left));
  Mask const bit = Mask{1} << first;
  std::uint64_t const key = warp.key[first];
  Mask const alike = (warp.at_barrier & bit) != 0      ? warp.at_barrier
                     : (warp.in_collective & bit) != 0 ? warp.in_collective
                                                       : ~(warp.at_barrier | warp.in_collective);
  Group group;
  each_lane(left & alike, [&](unsigned lane) { group.lanes |= Mask{warp.key[lane] == key} << lane; });
  group.at = static_cast<std::uint32_t>(key);
  Step const& step = kernel.steps[group.at];
  group.verb = "wait";
  if ((warp.at_barrier & bit) != 0) {
    unsigned id = 0;
    while ((warp.waiting[id] & bit) == 0) ++id;
    group.where = barrier_text(warp.block, id) + ", ";
  } else if ((warp.in_collective & bit) != 0) {
    group.where = collective_text(warp, step, group.lanes, key) + ", ";
  } else {
    group.verb = is_in_loop(kernel, group.at) ? "loop" : "are";
    group.where = "at ";
  }
  group.where += place_of(kernel, step);
  return group;
}

std::string sentence(bool several, std::string const& subject, Group const& group) {
  std::string const verb = several ? group.verb : group.verb == "are" ? "is" : group.verb + "s";
  return subject + " " + verb + " " + group.where;
}

}  // namespace

std::string place_of(DecodedKernel const& kernel, Step const& step) {
  std::string const source = to_string(kernel.module->sources().lines_of(step.place));
  return source + (source.empty() ? "" : ", ") + "PTX line " + std::to_string(step.line);
}

std::string name_in_message(std::string const& symbol) {
  constexpr std::size_t kMaxBytes = 120;
  return tracing::support::cut_in_middle(ptx::demangled(symbol), kMaxBytes);
}

std::string dimensions_text(Dimensions const& at) {
  std::string text = "(";
  text.append(std::to_string(at.x)).append(",").append(std::to_string(at.y)).append(",").append(std::to_string(at.z));
  return text.append(")");
}

std::string lanes_text(Mask lanes) {
  std::string text = std::has_single_bit(lanes) ? "lane" : "lanes";
  char const* separator = " ";
  while (lanes != 0) {
    auto const first = static_cast<unsigned>(std::countr_zero(lanes));
    auto const count = static_cast<unsigned>(std::countr_one(lanes >> first));
    text += separator + std::to_string(first);
    if (count > 2) text += " to " + std::to_string(first + count - 1);
    lanes &= count > 2 ? ~static_cast<Mask>(((std::uint64_t{1} << count) - 1) << first) : lanes - 1;
    separator = ", ";
  }
  return text;
}

std::string hexadecimal(std::uintptr_t value) {
  char digits[16];
  auto const end = std::to_chars(digits, digits + sizeof digits, value, 16).ptr;
  return std::string("0x").append(digits, end);
}

Places places_of(Block& block) {
  Places places;
  bool loops = false;
  auto const add_text = [&](std::string const& more) { places.text += (places.text.empty() ? "" : "; ") + more; };
  auto const add = [&](bool several, std::string const& subject, Group const& group) {
    add_text(sentence(several, subject, group));
    if (places.step != nullptr && (loops || group.verb != "loop")) return;
    places.step = &block.launch.kernel->steps[group.at];
    loops = group.verb == "loop";
  };
  for (std::size_t i = 0; i < block.warps.size(); ++i) {
    Warp& warp = *block.warps[i];
    if (warp.alive == 0) continue;
    Group group = next_group(warp, warp.alive);
    if (group.lanes != warp.alive) {
      for (Mask left = warp.alive; left != 0; left &= ~group.lanes) {
        group = next_group(warp, left);
        add(!std::has_single_bit(group.lanes), lanes_text(group.lanes) + " of warp " + std::to_string(i), group);
      }
      continue;
    }
    std::size_t last = i;
    for (; last + 1 < block.warps.size(); ++last) {
      Warp& next = *block.warps[last + 1];
      if (next.alive == 0) break;
      Group const other = next_group(next, next.alive);
      if (other.lanes != next.alive || other.where != group.where || other.verb != group.verb) break;
    }
    std::string const warps = range_text(static_cast<unsigned>(i), static_cast<unsigned>(last));
    add(last != i, (last == i ? "warp " : "warps ") + warps, group);
    i = last;
  }
  if (block.running < block.threads) add_text(std::to_string(block.threads - block.running) + " threads have exited");
  return places;
}

}  // namespace cuda_cpu
