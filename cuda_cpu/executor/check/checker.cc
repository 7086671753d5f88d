#include "cuda_cpu/executor/check/checker.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cuda_cpu/executor/machine/places.h"
#include "cuda_cpu/executor/steps/map.h"
#include "tracing_core/support/short_text.h"

namespace cuda_cpu {
namespace {

using tracing::support::counted;

template <class T>
T* zeroed(std::size_t count) {
  void* const memory = std::calloc(std::max<std::size_t>(count, 1), sizeof(T));
  if (memory == nullptr) throw std::bad_alloc();
  return static_cast<T*>(memory);
}

// Returns "(1,0,0)", the position of a block in its grid or of a thread in its block.
std::string position_text(std::uint32_t index, Dimensions const& shape) {
  return dimensions_text({index % shape.x, index / shape.x % shape.y, index / shape.x / shape.y});
}

}  // namespace

FormTraits FormTraits::of(Form const& form) {
  FormTraits traits;
  std::string_view const op = form.opcode();
  bool const is_atomic = op == "atom" || op == "red";
  traits.copies = op == "cp" && !form.has("mbarrier") && !form.has("bulk_group");
  traits.copies_back = op == "cp" && form.has("bulk_group");
  bool const reads_image = op == "tex" || op == "tld4" || op == "suld";
  traits.reads =
      op.starts_with("ld") || reads_image || (is_atomic && !form.has("exch")) || (op == "wmma" && form.has("load"));
  traits.writes = op.starts_with("st") || op == "sust" || is_atomic || (op == "wmma" && form.has("store"));
  traits.is_atomic = is_atomic;
  traits.is_strong =
      is_atomic || form.has("volatile") || form.has("relaxed") || form.has("acquire") || form.has("release");
  // Old programs pass values between blocks with accesses that bypass all caches except the cache that the blocks
  // share.
  if (op == "ld" || op == "st") traits.is_strong |= form.has("cg") || form.has("cv") || form.has("wt");
  // Bulk copies and arrivals after copies order the copies for the threads that wait at the mbarrier.
  bool const is_at_mbarrier = op == "mbarrier" || form.has("mbarrier") || form.has("mbarrier::complete_tx::bytes");
  traits.orders =
      op == "membar" || op == "fence" || is_atomic || is_at_mbarrier || form.has("acquire") || form.has("release");
  traits.fences_blocks = (op == "membar" || op == "fence") && !form.has("cta");
  traits.meets = op == "bar" && form.has("warp");
  traits.loads = op == "ld" || op == "ldu";
  traits.passes_on = op == "st" || op == "mov";
  return traits;
}

BlockChecker::BlockChecker(Block& block)
    : block_(block),
      races_(block.launch.races.get()),
      orders_(block.threads),
      warp_fences_((block.threads + kLanes - 1) / kLanes),
      unwritten_(warp_fences_.size()) {
  auto const& [x, y, z] = block.index;
  auto const& grid = block.launch.shape.grid;
  number_ = static_cast<std::uint32_t>((std::uint64_t{z} * grid.y + y) * grid.x + x);
  Checks const& checks = block.launch.options->checks;
  if (checks.race) shadows_.reset(zeroed<Shadow>(block.launch.reserved_shared_at));
  if (!checks.init_shared) return;
  written_.reset(zeroed<bool>(block.launch.shared_bytes));
  std::fill(written_.get() + block.launch.reserved_shared_at, written_.get() + block.launch.shared_bytes, true);
}

FormTraits const& BlockChecker::traits(Step const& step) const { return block_.launch.traits[step.form_index]; }

bool BlockChecker::is_shared(std::byte const* place) const {
  return static_cast<std::uint64_t>(place - block_.shared) < block_.launch.shared_bytes;
}

bool BlockChecker::access(Warp const& warp, Step const& step, unsigned lane, std::byte* place, std::uint32_t bytes,
                          WrittenBytes* written) {
  if (!after()) return false;  // finishes the write of the previous lane
  FormTraits const& its = traits(step);
  bool const in_shared = is_shared(place);
  bool const reads = its.reads || (in_shared ? its.copies_back : its.copies);
  bool const writes = its.writes || (in_shared ? its.copies : its.copies_back);
  if (reads && !is_written(place, bytes, written)) {
    if (!its.loads || step.bytes != step.count) return report_unwritten(warp, step, lane, place, bytes);
    for (unsigned i = 0; i < step.count; ++i)
      unwritten_.mark(warp, step.destination[i], Mask{1} << lane, {step.index, place + i});
  }
  if (writes) mark_written(warp, step, lane, place, bytes, written);
  if (races_ == nullptr) return true;
  Access const now{.time = races_->tick() & kMaxTime,
                   .wrote = writes,
                   .is_strong = its.is_strong,
                   .is_atomic = its.is_atomic,
                   .thread = static_cast<std::uint16_t>(warp.thread(lane)),
                   .block = number_,
                   .step = step.index};
  if (writes && bytes <= pending_.before.size()) {
    pending_ = {&warp, lane, place, bytes, now, {}};
    std::memcpy(pending_.before.data(), place, bytes);
    return true;
  }
  bool const good = check_race(warp, lane, place, bytes, now, nullptr);
  mark_order(now, in_shared);
  return good;
}

// Returns false if none of the bytes was ever written.
bool BlockChecker::is_written(std::byte const* place, std::uint32_t bytes, WrittenBytes const* written) const {
  if (!is_shared(place)) return written == nullptr || written->any(reinterpret_cast<std::uintptr_t>(place), bytes);
  if (written_ == nullptr) return true;
  bool const* const flags = written_.get() + (place - block_.shared);
  return std::any_of(flags, flags + bytes, [](bool is) { return is; });
}

// Counts the bytes as written, except elements of one byte that are stored from an unwritten register.
void BlockChecker::mark_written(Warp const& warp, Step const& step, unsigned lane, std::byte const* place,
                                std::uint32_t bytes, WrittenBytes* written) {
  auto const mark = [&](std::byte const* at, std::uint32_t count, bool is) {
    if (!is_shared(at)) {
      if (written != nullptr) written->mark(reinterpret_cast<std::uintptr_t>(at), count, is);
    } else if (written_ != nullptr) {
      std::fill_n(written_.get() + (at - block_.shared), count, is);
    }
  };
  mark(place, bytes, true);
  if (unwritten_.empty(warp) || !traits(step).passes_on || step.bytes != step.count) return;
  for (unsigned i = 0; i < step.count; ++i)
    if (unwritten_.find(warp, step.source[i], Mask{1} << lane) != nullptr) mark(place + i, 1, false);
}

// Reports an unwritten register that the step uses. A mov passes it on; other registers that are written are known
// from then on.
bool BlockChecker::check_operands(Warp& warp, Step const& step, Mask lanes) {
  if (unwritten_.empty(warp)) return true;
  using Entry = UnwrittenRegisters::Entry;
  auto const report = [&](Entry const& entry) {
    auto const lane = static_cast<unsigned>(std::countr_zero(entry.lanes & lanes));
    return report_unwritten(warp, block_.launch.kernel->steps[entry.origin.step], lane, entry.origin.place, 1);
  };
  std::optional<Entry> passed;
  for (Location const source : step.source) {
    auto const* const entry = source == kNowhere ? nullptr : unwritten_.find(warp, source, lanes);
    if (entry == nullptr) continue;
    if (!traits(step).passes_on) return report(*entry);
    passed = *entry;
  }
  if (auto const* const entry = unwritten_.find(warp, step.base, lanes)) return report(*entry);
  for (Location const destination : step.destination) unwritten_.clear(warp, destination, lanes);
  if (step.many != nullptr)
    for (auto const& registers : step.many->registers)
      for (Location const location : registers) unwritten_.clear(warp, location, lanes);
  if (!passed || traits(step).writes) return true;
  for (Location const destination : step.destination)
    unwritten_.mark(warp, destination, passed->lanes & lanes, passed->origin);
  return true;
}

// Reports a race of `now` with an earlier access. `before`: the bytes that a write replaced; null if they are unknown.
bool BlockChecker::check_race(Warp const& warp, unsigned lane, std::byte const* place, std::uint32_t bytes,
                              Access const& now, std::byte const* before) {
  bool const in_shared = is_shared(place);
  auto const visit = [&](Shadow& shadow, std::uint32_t at, std::uint32_t count) {
    // Nobody can notice a write of the value that is already there. If another write changes the value, the order of
    // the two writes matters.
    bool const changes = now.wrote && (before == nullptr || std::memcmp(place + at, before + at, count) != 0);
    if (changes || !now.wrote) {
      Access const* const other = find_conflict(shadow, now, in_shared);
      if (other != nullptr) return report_race(warp, lane, now, *other, place, bytes);
    }
    Access const* const hidden = changes ? nullptr : find_hidden(shadow, now, in_shared);
    if (hidden != nullptr) note_hidden(warp, lane, now, *hidden, place, bytes);
    if (changes) {
      shadow.write = now;
    } else {
      auto& [last, previous] = shadow.reads;
      if (last.block != now.block || last.thread != now.thread) previous = last;
      last = now;
    }
    return true;
  };
  if (!in_shared) return races_->each_shadow(reinterpret_cast<std::uintptr_t>(place), bytes, visit);
  auto const offset = static_cast<std::size_t>(place - block_.shared);
  // Accesses of cooperative groups to the reserved part are not a bug of the program.
  if (offset >= block_.launch.reserved_shared_at) return true;
  for (std::uint32_t at = 0; at < bytes; ++at)
    if (!visit(shadows_[offset + at], at, 1)) return false;
  return true;
}

// Returns an earlier access to the same bytes that races with `now`: the two conflict, and nothing between them could
// have ordered them. Null if there is none.
Access const* BlockChecker::find_conflict(Shadow const& shadow, Access const& now, bool in_shared) const {
  if (conflict(now, shadow.write, in_shared)) return &shadow.write;
  if (!now.wrote) return nullptr;
  auto const* const read =
      std::ranges::find_if(shadow.reads, [&](Access const& other) { return conflict(now, other, in_shared); });
  return read == shadow.reads.end() ? nullptr : read;
}

// Returns an earlier access that would race with `now` if the write among the two had changed the value.
Access const* BlockChecker::find_hidden(Shadow const& shadow, Access const& now, bool in_shared) const {
  if (block_.launch.kernel->has_noted_race.load(std::memory_order_relaxed)) return nullptr;
  auto const* const other = std::ranges::find_if(shadow.reads, [&](Access const& before) {
    return before.wrote != now.wrote && conflict(now, before, in_shared);
  });
  return other == shadow.reads.end() ? nullptr : other;
}

bool BlockChecker::conflict(Access const& now, Access const& other, bool in_shared) const {
  if (other.time == 0 || (now.is_strong && other.is_strong)) return false;
  // The loop of a compare-and-swap often begins with a plain read.
  if (!in_shared && (now.wrote ? now.is_atomic && !other.wrote : other.is_atomic)) return false;
  if (other.block != number_) return !races_->may_be_ordered(other, number_);
  // If lanes write to one place in one instruction, any of them may win.
  bool const is_same_instruction = other.step == now.step && other.thread / kLanes == now.thread / kLanes;
  return other.time > barrier_ && other.thread != now.thread && !(now.wrote && is_same_instruction) &&
         !may_be_ordered(other, now.thread);
}

// Returns true if both threads of the block have, since `earlier`, done something that might order the two accesses.
// Does not look for the operation that did order them: a race may go unreported.
bool BlockChecker::may_be_ordered(Access const& earlier, unsigned thread) const {
  Order const &theirs = orders_[earlier.thread], &ours = orders_[thread];
  auto const both = [&](Time Order::*last) { return theirs.*last > earlier.time && ours.*last > earlier.time; };
  // Shuffles or matrices may have brought the value that was read to the writing lane.
  bool const in_warp = both(&Order::meeting) || (!earlier.wrote && both(&Order::exchange));
  if (in_warp && earlier.thread / kLanes == thread / kLanes) return true;
  // A lane that meets other lanes may also rely on their fences.
  auto const fenced = [&](Order const& order, unsigned of) {
    return order.fence > earlier.time || (order.meeting > earlier.time && warp_fences_[of / kLanes] > earlier.time);
  };
  return fenced(theirs, earlier.thread) && fenced(ours, thread);
}

void BlockChecker::mark_order(Access const& access, bool in_shared) {
  bool const orders = traits(block_.launch.kernel->steps[access.step]).orders;
  if (orders) mark_fence(access.thread);
  if (!in_shared && access.is_strong) races_->mark_block(number_, orders);
}

void BlockChecker::mark_fence(unsigned thread) {
  orders_[thread].fence = warp_fences_[thread / kLanes] = races_->tick();
}

bool BlockChecker::before(Warp& warp, Step const& step, Mask lanes) {
  if (races_ != nullptr) note_order(warp, step, lanes);
  return check_operands(warp, step, lanes);
}

// Notes the events of a step that may order the accesses of its threads.
void BlockChecker::note_order(Warp& warp, Step const& step, Mask lanes) {
  FormTraits const& its = traits(step);
  bool const arrives = step.kind == StepKind::barrier && static_cast<BarrierKind>(step.choice) == BarrierKind::arrive;
  if (arrives || (its.orders && !its.reads && !its.writes))
    each_lane(lanes, [&](unsigned lane) { mark_fence(warp.thread(lane)); });
  if (its.fences_blocks) races_->mark_block(number_, true);
  if (step.kind != StepKind::collective) return;
  // The arriving lanes order their earlier accesses for all members of the mask, including members that have not
  // arrived yet.
  Time const now = races_->tick();
  Mask members = 0;
  each_lane(lanes, [&](unsigned lane) { members |= members_of(warp, step)[lane]; });
  each_lane(members, [&](unsigned lane) {
    if (warp.thread(lane) >= orders_.size()) return;
    Order& order = orders_[warp.thread(lane)];
    (its.meets ? order.meeting : order.exchange) = now;
  });
}

bool BlockChecker::finish_pending() {
  Warp const& warp = *std::exchange(pending_.warp, nullptr);
  bool const good =
      check_race(warp, pending_.lane, pending_.place, pending_.bytes, pending_.access, pending_.before.data());
  mark_order(pending_.access, is_shared(pending_.place));
  return good;
}

void BlockChecker::release(unsigned id) {
  Barrier const& barrier = block_.barriers[id];
  if (block_.launch.options->checks.sync && id == 0 && barrier.expected == 0) check_places(id);
  if (races_ == nullptr) return;
  if (barrier.expected == 0 || barrier.expected >= block_.threads) {
    barrier_ = races_->tick();
    return;
  }
  for (auto const& warp : block_.warps)
    each_lane(warp->waiting[id], [&](unsigned lane) { mark_fence(warp->thread(lane)); });
}

// Reports threads that reach a __syncthreads() at different places.
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

// Returns "thread (1,0,0) reads 4 bytes of shared memory at byte 0 of sums, which thread (0,0,0) wrote at a.cu:9,
// without a barrier between".
std::string BlockChecker::race_text(unsigned index, Access const& now, Access const& other, std::byte const* place,
                                    std::uint32_t bytes) const {
  auto const address = reinterpret_cast<std::uintptr_t>(place);
  bool const in_shared = is_shared(place);
  bool const is_same_block = other.block == number_;
  auto const& kernel = *block_.launch.kernel;
  auto const thread = [&](unsigned of, std::uint32_t block) {
    std::string const text = "thread " + position_text(of, block_.launch.shape.block);
    return is_same_block ? text : text + " of block " + position_text(block, block_.launch.shape.grid);
  };
  return thread(index, number_) + (now.wrote ? " writes " : " reads ") + counted(bytes, "byte") +
         (in_shared ? " of " : " ") +
         (in_shared ? shared_text(static_cast<std::uint64_t>(place - block_.shared))
                    : block_.launch.memory->describe(address, bytes)) +
         ", which " + thread(other.thread, other.block) + (other.wrote ? " wrote at " : " read at ") +
         place_of(kernel, kernel.steps[other.step]) +
         (is_same_block ? ", without a barrier between" : ", without fences or atomic accesses between");
}

bool BlockChecker::report_race(Warp const& warp, unsigned lane, Access const& now, Access const& other,
                               std::byte const* place, std::uint32_t bytes) {
  std::string what = "a race: " + race_text(warp.thread(lane), now, other, place, bytes);
  return block_.fail(
      warp, block_.launch.kernel->steps[now.step], Mask{1} << lane, FaultKind::race, std::move(what),
      is_shared(place) ? static_cast<std::uint64_t>(place - block_.shared) : reinterpret_cast<std::uintptr_t>(place));
}

void BlockChecker::note_hidden(Warp const& warp, unsigned lane, Access const& now, Access const& other,
                               std::byte const* place, std::uint32_t bytes) {
  auto const& kernel = *block_.launch.kernel;
  if (block_.launch.options->note == nullptr || kernel.has_noted_race.exchange(true)) return;
  std::string const text = "a race that these values hide, because the value that was written was there already: " +
                           race_text(warp.thread(lane), now, other, place, bytes) + ": kernel " +
                           name_in_message(kernel.name) + ", " + place_of(kernel, kernel.steps[now.step]) + ", block " +
                           dimensions_text(block_.index);
  block_.launch.note(text);
}

bool BlockChecker::report_unwritten(Warp const& warp, Step const& step, unsigned lane, std::byte const* place,
                                    std::uint32_t bytes) {
  auto const offset = static_cast<std::uint64_t>(place - block_.shared);
  auto const address = is_shared(place) ? offset : reinterpret_cast<std::uintptr_t>(place);
  std::string const where = is_shared(place) ? shared_text(offset) : block_.launch.memory->describe(address, bytes);
  return block_.fail(warp, step, Mask{1} << lane, FaultKind::uninitialized,
                     "a read of " + counted(bytes, "byte") + " that were never written, " + where, address);
}

namespace {

// Returns the name of a shared variable as the source has it. If all indices of an array are constants, the compiler
// makes a separate variable of each used element, such as "_ZZ4sortPiE6counts_$_1": this function returns "counts, part
// 1".
std::string shared_variable_text(std::string_view name) {
  std::string part;
  for (std::size_t at = name.rfind("_$_"); at != name.npos; at = name.rfind("_$_")) {
    part = std::string(name.substr(at + 3)) + (part.empty() ? "" : "." + part);
    name = name.substr(0, at);
  }
  std::string const whole = ptx::demangled(std::string(name));
  std::size_t const scope = whole.rfind("::");
  return (scope == whole.npos ? whole : whole.substr(scope + 2)) + (part.empty() ? "" : ", part " + part);
}

}  // namespace

// Returns "shared memory at byte 64 of scratch".
std::string BlockChecker::shared_text(std::uint64_t offset) const {
  auto const& kernel = *block_.launch.kernel;
  for (auto const& slot : kernel.function->shared) {
    auto const& variables = slot.function < 0
                                ? kernel.module->variables()
                                : kernel.module->functions()[static_cast<std::size_t>(slot.function)].variables;
    auto const& variable = variables[static_cast<std::size_t>(slot.variable)];
    bool const is_dynamic = variable.size_bytes == 0;
    if (offset < slot.offset_bytes || (!is_dynamic && offset - slot.offset_bytes >= variable.size_bytes)) continue;
    return "shared memory at byte " + std::to_string(offset - slot.offset_bytes) + " of " +
           shared_variable_text(variable.name);
  }
  return "shared memory at " + hexadecimal(offset);
}

}  // namespace cuda_cpu
