#include "cuda_cpu/executor/checker.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "cuda_cpu/executor/map.h"
#include "cuda_cpu/executor/places.h"

namespace cuda_cpu {
namespace {

template <class T>
T* zeroed(std::size_t count) {
  void* const memory = std::calloc(std::max<std::size_t>(count, 1), sizeof(T));
  if (memory == nullptr) throw std::bad_alloc();
  return static_cast<T*>(memory);
}

std::string bytes_text(std::uint64_t count) { return std::to_string(count) + (count == 1 ? " byte" : " bytes"); }

}  // namespace

FormTraits FormTraits::of(Form const& form) {
  FormTraits traits;
  std::string_view const op = form.opcode();
  bool const is_atomic = op == "atom" || op == "red";
  traits.copies = op == "cp" && !form.has("mbarrier") && !form.has("bulk_group");
  traits.copies_back = op == "cp" && form.has("bulk_group");
  bool const reads_image = op == "tex" || op == "tld4" || op == "suld";
  traits.reads = op.starts_with("ld") || reads_image || (is_atomic && !form.has("exch")) ||
                 (op == "wmma" && form.has("load"));
  traits.writes = op.starts_with("st") || op == "sust" || is_atomic || (op == "wmma" && form.has("store"));
  traits.is_strong =
      is_atomic || form.has("volatile") || form.has("relaxed") || form.has("acquire") || form.has("release");
  // Bulk copies and arrivals after copies order them for the threads that wait at the mbarrier.
  bool const is_at_mbarrier = op == "mbarrier" || form.has("mbarrier") || form.has("mbarrier::complete_tx::bytes");
  traits.orders =
      op == "membar" || op == "fence" || is_atomic || is_at_mbarrier || form.has("acquire") || form.has("release");
  traits.meets = op == "bar" && form.has("warp");
  return traits;
}

BlockChecker::BlockChecker(Block& block)
    : block_(block), orders_(block.threads), warp_fences_((block.threads + kLanes - 1) / kLanes) {
  Checks const& checks = block.launch.options->checks;
  if (checks.race) shadows_.reset(zeroed<Shadow>(block.launch.reserved_shared_at));
  if (!checks.init_shared) return;
  written_.reset(zeroed<bool>(block.launch.shared_bytes));
  std::fill(written_.get() + block.launch.reserved_shared_at, written_.get() + block.launch.shared_bytes, true);
}

FormTraits const& BlockChecker::traits(Step const& step) const { return block_.launch.traits[step.form_index]; }

bool BlockChecker::access(Warp const& warp, Step const& step, unsigned lane, std::byte* place, std::uint32_t bytes,
                          WrittenBytes* written) {
  if (!after()) return false;  // of the previous lane
  ++now_;
  FormTraits const& its = traits(step);
  std::uint64_t const offset = static_cast<std::uint64_t>(place - block_.shared);
  bool const is_shared = offset < block_.launch.shared_bytes;
  bool const reads = its.reads || (is_shared ? its.copies_back : its.copies);
  bool const writes = its.writes || (is_shared ? its.copies : its.copies_back);
  if (is_shared && written_ != nullptr) {
    bool* const flags = written_.get() + offset;
    if (reads && std::none_of(flags, flags + bytes, [](bool is) { return is; }))
      return report_unwritten(warp, step, lane, shared_text(offset), offset, bytes);
    if (writes) std::fill_n(flags, bytes, true);
  } else if (written != nullptr) {
    auto const address = reinterpret_cast<std::uintptr_t>(place);
    if (reads && !written->any(address, bytes))
      return report_unwritten(warp, step, lane, block_.launch.memory->describe(address, bytes), address, bytes);
    if (writes) written->set(address, bytes);
  }
  // What cooperative groups do in the reserved part is no bug of the program.
  bool const is_watched = shadows_ != nullptr && offset < block_.launch.reserved_shared_at;
  bool const good = !is_watched || check_race(warp, step, lane, place, bytes, writes);
  if (its.orders) mark_fence(warp.thread(lane));
  return good;
}

bool BlockChecker::check_race(Warp const& warp, Step const& step, unsigned lane, std::byte* place, std::uint32_t bytes,
                              bool writes) {
  bool const is_strong = traits(step).is_strong;
  auto const thread = static_cast<std::uint16_t>(warp.thread(lane));
  auto const at = step.index;
  Access const now{now_, at, thread, is_strong};
  auto const conflicts = [&](Access const& other) {
    // Of lanes that write to the same place in one instruction, any may win.
    bool const is_same_instruction = other.step == at && other.thread / kLanes == thread / kLanes;
    return other.time > barrier_ && other.thread != thread && !(is_strong && other.is_strong) &&
           !(writes && is_same_instruction) && !may_be_ordered(other, thread);
  };
  bool good = true;
  for (std::uint32_t i = 0; i < bytes && good; ++i) {
    Shadow& shadow = shadows_[static_cast<std::size_t>(place + i - block_.shared)];
    Access const* other = conflicts(shadow.write) ? &shadow.write : nullptr;
    bool const other_wrote = other != nullptr;
    if (writes && other == nullptr) {
      auto const* const read = std::ranges::find_if(shadow.reads, conflicts);
      if (read != shadow.reads.end()) other = read;
    }
    if (other != nullptr && writes && bytes <= pending_.before.size()) {
      if (pending_.warp == nullptr) pending_ = {&warp, &step, lane, place, bytes, {}, *other, other_wrote};
      std::memcpy(pending_.before.data(), place, bytes);
    } else if (other != nullptr) {
      good = report_race(warp, step, lane, *other, other_wrote, writes, place, bytes);
    }
    if (writes) {
      if (other == nullptr) shadow.write = now;  // else it is a fault, or changes nothing and must not hide the other
    } else {
      if (shadow.reads[0].thread != thread) shadow.reads[1] = shadow.reads[0];
      shadow.reads[0] = now;
    }
  }
  return good;
}

// Whether something that both threads did since then might order the accesses, by whatever else they do: the rule errs
// on the side of silence.
bool BlockChecker::may_be_ordered(Access const& earlier, unsigned thread) const {
  Order const &theirs = orders_[earlier.thread], &ours = orders_[thread];
  bool const both_met = theirs.meeting > earlier.time && ours.meeting > earlier.time;
  if (both_met && earlier.thread / kLanes == thread / kLanes) return true;
  // A lane that meets others may also rely on their fences.
  auto const fenced = [&](Order const& order, unsigned of) {
    return order.fence > earlier.time || (order.meeting > earlier.time && warp_fences_[of / kLanes] > earlier.time);
  };
  return fenced(theirs, earlier.thread) && fenced(ours, thread);
}

void BlockChecker::mark_fence(unsigned thread) { orders_[thread].fence = warp_fences_[thread / kLanes] = ++now_; }

void BlockChecker::before(Warp& warp, Step const& step, Mask lanes) {
  FormTraits const& its = traits(step);
  bool const arrives = step.kind == StepKind::barrier && static_cast<BarrierKind>(step.choice) == BarrierKind::arrive;
  if (arrives || (its.orders && !its.reads && !its.writes))
    each_lane(lanes, [&](unsigned lane) { mark_fence(warp.thread(lane)); });
  if (!its.meets) return;
  // The lanes that arrive order all that they did before for all members, whether these are here or not.
  ++now_;
  Mask members = 0;
  each_lane(lanes, [&](unsigned lane) { members |= members_of(warp, step)[lane]; });
  each_lane(members, [&](unsigned lane) {
    if (warp.thread(lane) < orders_.size()) orders_[warp.thread(lane)].meeting = now_;
  });
}

bool BlockChecker::after() {
  Pending const was = std::exchange(pending_, {});
  if (was.warp == nullptr || std::memcmp(was.place, was.before.data(), was.bytes) == 0) return true;
  return report_race(*was.warp, *was.step, was.lane, was.other, was.other_wrote, true, was.place, was.bytes);
}

void BlockChecker::release(unsigned id) {
  Barrier const& barrier = block_.barriers[id];
  if (block_.launch.options->checks.sync && id == 0 && barrier.expected == 0) check_places(id);
  if (barrier.expected == 0 || barrier.expected >= block_.threads) {
    barrier_ = ++now_;
    return;
  }
  for (auto const& warp : block_.warps)
    each_lane(warp->waiting[id], [&](unsigned lane) { mark_fence(warp->thread(lane)); });
}

// __syncthreads() must be reached by all threads at the same place.
void BlockChecker::check_places(unsigned id) {
  Warp const* first = nullptr;
  for (auto const& warp : block_.warps) {
    if (warp->waiting[id] == 0) continue;
    if (first == nullptr) first = warp.get();
    Step const& step = block_.launch.kernel->steps[warp->waiting_at[id]];
    if (warp->waiting_at[id] == first->waiting_at[id] || !is_aligned(*block_.launch.kernel, step)) continue;
    block_.fail(*warp, step, warp->waiting[id], FaultKind::barrier,
                "a barrier that threads of a block reach at different places (" + places_of(block_).text + ")");
    return;
  }
}

bool BlockChecker::report_race(Warp const& warp, Step const& step, unsigned lane, Access const& other, bool other_wrote,
                               bool writes, std::byte const* place, std::uint32_t bytes) {
  auto const offset = static_cast<std::uint64_t>(place - block_.shared);
  auto const& kernel = *block_.launch.kernel;
  std::string what = "a race: thread " + thread_text(warp.thread(lane)) + (writes ? " writes " : " reads ") +
                     bytes_text(bytes) + " of " + shared_text(offset) + ", which thread " + thread_text(other.thread) +
                     (other_wrote ? " wrote at " : " read at ") + place_of(kernel, kernel.steps[other.step]) +
                     ", without a barrier between";
  return block_.fail(warp, step, Mask{1} << lane, FaultKind::race, std::move(what), offset);
}

bool BlockChecker::report_unwritten(Warp const& warp, Step const& step, unsigned lane, std::string const& where,
                                    std::uintptr_t address, std::uint32_t bytes) {
  return block_.fail(warp, step, Mask{1} << lane, FaultKind::uninitialized,
                     "a read of " + bytes_text(bytes) + " that were never written, " + where, address);
}

// "shared memory at byte 64 of scratch"
std::string BlockChecker::shared_text(std::uint64_t offset) const {
  auto const& kernel = *block_.launch.kernel;
  for (auto const& slot : kernel.function->shared) {
    auto const& variables = slot.function < 0
                                ? kernel.module->variables()
                                : kernel.module->functions()[static_cast<std::size_t>(slot.function)].variables;
    auto const& variable = variables[static_cast<std::size_t>(slot.variable)];
    bool const is_dynamic = variable.size_bytes == 0;
    if (offset < slot.offset_bytes || (!is_dynamic && offset - slot.offset_bytes >= variable.size_bytes)) continue;
    std::string const name = ptx::demangled(variable.name);
    std::size_t const scope = name.rfind("::");
    return "shared memory at byte " + std::to_string(offset - slot.offset_bytes) + " of " +
           (scope == name.npos ? name : name.substr(scope + 2));
  }
  return "shared memory at " + hexadecimal(offset);
}

std::string BlockChecker::thread_text(unsigned thread) const {
  auto const& shape = block_.launch.shape.block;
  return dimensions_text({thread % shape.x, thread / shape.x % shape.y, thread / shape.x / shape.y});
}

}  // namespace cuda_cpu
