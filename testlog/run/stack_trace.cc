#include "testlog/run/stack_trace.h"

#include <ucontext.h>
#include <unwind.h>

#include <algorithm>
#include <cstring>

#include "testlog/run/fault_guard.h"
#include "testlog/run/process_maps.h"

namespace testlog { inline namespace v1 {

// ---- registers ----

#if defined(__x86_64__)

Registers Registers::of(void const* context) noexcept {
  auto const& machine = static_cast<ucontext_t const*>(context)->uc_mcontext.gregs;
  auto const get = [&machine](int index) { return static_cast<std::uintptr_t>(machine[index]); };
  return {get(REG_RIP), get(REG_RSP), get(REG_RBP), 0};
}

void Registers::store_to(void* context) const noexcept {
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (frame == kUnknown) {
    for (int const other : {REG_RBX, REG_RDI, REG_R10, REG_R12, REG_R13, REG_R14, REG_R15}) machine[other] = kUnknown;
  }
  machine[REG_RIP] = static_cast<greg_t>(counter);
  machine[REG_RSP] = static_cast<greg_t>(stack);
  machine[REG_RBP] = static_cast<greg_t>(frame);
}

#elif defined(__aarch64__)

Registers Registers::of(void const* context) noexcept {
  auto const& machine = static_cast<ucontext_t const*>(context)->uc_mcontext;
  return {machine.pc, machine.sp, machine.regs[29], machine.regs[30]};
}

void Registers::store_to(void* context) const noexcept {
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  machine.pc = counter;
  machine.sp = stack;
  machine.regs[29] = frame;
  machine.regs[30] = link;
}

#else

Registers Registers::of(void const*) noexcept { return {}; }
void Registers::store_to(void*) const noexcept {}

#endif

namespace {

// ---- code ----

// Counts everything as code if there are too many ranges, or if they cannot be read.
class CodeRanges {
 public:
  void read() noexcept {
    count_ = 0;
    is_known_ = for_each_mapping([this](Mapping const& mapping) {
      if (!mapping.is_code) return false;
      if (count_ == kMax) return true;
      ranges_[count_++] = {mapping.begin, mapping.end};
      return false;
    });
    is_known_ = is_known_ && count_ < kMax;
  }
  bool contain(std::uintptr_t address) const noexcept {
    if (!is_known_) return true;
    Range const* const end = ranges_ + count_;
    Range const* const after =
        std::upper_bound(ranges_, end, address, [](std::uintptr_t a, Range const& range) { return a < range.end; });
    return after != end && address >= after->begin;
  }

 private:
  static constexpr std::size_t kMax = 1024;
  struct Range {
    std::uintptr_t begin, end;
  };
  Range ranges_[kMax] = {};
  std::size_t count_ = 0;
  bool is_known_ = false;
};
constinit CodeRanges code;  // not on a stack, which may be small

// ---- words of a stack ----

constexpr std::uintptr_t kWord = sizeof(std::uintptr_t);

// Reads words of other frames, too, and of other threads while they write, which sanitizers must not report.
__attribute__((no_sanitize("address", "thread"))) std::uintptr_t word_at(std::uintptr_t address) noexcept {
  return *reinterpret_cast<std::uintptr_t const volatile*>(address);
}

// Returns true if the address is in code and, on x86-64, follows a call instruction.
bool is_return_address(std::uintptr_t address) noexcept {
  if (!code.contain(address - 1)) return false;
#if defined(__x86_64__)
  auto const byte = [address](unsigned before) { return *reinterpret_cast<unsigned char const*>(address - before); };
  if (!code.contain(address - 7)) return false;
  if (byte(5) == 0xe8) return true;
  for (unsigned const size : {2u, 3u, 4u, 6u, 7u}) {
    if (byte(size) == 0xff && (byte(size - 1) >> 3 & 7) == 2) return true;
  }
  return false;
#else
  return true;
#endif
}

// The answer of what_was_called().
enum class Called : std::uint8_t { it, another, unknown };

// Says whether the call before a return address called the function that begins at `function`. Calls by a pointer, or
// through a jump in the procedure linkage table, are unknown.
Called what_was_called([[maybe_unused]] std::uintptr_t return_address,
                       [[maybe_unused]] std::uintptr_t function) noexcept {
#if defined(__x86_64__)
  auto const* const after = reinterpret_cast<unsigned char const*>(return_address);
  if (after[-5] != 0xe8) return Called::unknown;
  std::int32_t distance;
  std::memcpy(&distance, after - 4, sizeof(distance));
  auto const* target = after + distance;
  if (reinterpret_cast<std::uintptr_t>(target) == function) return Called::it;
  // The bytes before the address may only look like a call; its target may then be another thread's data.
  constexpr std::uintptr_t kBytesRead = 7;
  auto const begin = reinterpret_cast<std::uintptr_t>(target);
  if (!code.contain(begin) || !code.contain(begin + kBytesRead)) return Called::another;
  constexpr unsigned char kBranchTarget[] = {0xf3, 0x0f, 0x1e, 0xfa};
  if (std::memcmp(target, kBranchTarget, sizeof(kBranchTarget)) == 0) target += sizeof(kBranchTarget);
  if (*target == 0xf2) ++target;
  return target[0] == 0xff && target[1] == 0x25 ? Called::unknown : Called::another;
#else
  return Called::unknown;
#endif
}

// Returns true if `value`, stored at `at`, may be a frame pointer. A function that keeps a frame pointer stores the
// frame pointer of its caller below its return address.
bool may_be_frame_pointer(std::uintptr_t value, std::uintptr_t at) noexcept {
  constexpr std::uintptr_t kMaxFrame = 16 << 20;
  return value > at && value - at < kMaxFrame && value % kWord == 0;
}
bool is_frame_record(std::uintptr_t at) noexcept {
  return may_be_frame_pointer(word_at(at), at) && is_return_address(word_at(at + kWord));
}

// `at` is the place of the return address.
Registers caller_after_return(std::uintptr_t at, std::uintptr_t frame) noexcept {
  return {word_at(at) - 1, at + kWord, frame, 0};
}

// Finds the caller of the function that `counter` is in. Takes the next return address of a call of that function, or
// of an unknown call with a chain of frame pointers; if neither is found, takes the next return address. May be
// deceived by what earlier calls left.
Registers find_caller(std::uintptr_t counter, std::uintptr_t stack, std::uintptr_t frame) noexcept {
  constexpr std::uintptr_t kMaxWords = 8 << 10;
  std::uintptr_t const begin = (stack + kWord - 1) / kWord * kWord;
  Registers found, any;
  (void)run_guarded([&] {
    auto const function =
        reinterpret_cast<std::uintptr_t>(_Unwind_FindEnclosingFunction(reinterpret_cast<void*>(counter)));
    for (std::uintptr_t at = begin; at != begin + kMaxWords * kWord; at += kWord) {
      if (!is_return_address(word_at(at))) continue;
      std::uintptr_t const below = at == begin ? 0 : word_at(at - kWord);
      bool const has_frame = may_be_frame_pointer(below, at);
      Registers const caller = caller_after_return(at, has_frame ? below : frame);
      if (any.counter == 0) any = caller;
      Called const called = what_was_called(word_at(at), function);
      bool const is_chain = has_frame && (word_at(below) == 0 || is_frame_record(below));
      if (called == Called::another || (called == Called::unknown && !is_chain)) continue;
      found = caller;
      return;
    }
  });
  return found.counter != 0 ? found : any;
}

// Finds the caller of a function that has not run an instruction yet. Its counter is zero if the return address is not
// in code.
Registers caller_at_entry(Registers const& at) noexcept {
#if defined(__x86_64__)
  Registers caller;
  (void)run_guarded([&caller, &at] {
    if (is_return_address(word_at(at.stack))) caller = caller_after_return(at.stack, at.frame);
  });
  return caller;
#else
  return code.contain(at.link - 1) ? Registers{at.link - 1, at.stack, at.frame, at.link} : Registers{};
#endif
}

}  // namespace

void StackTrace::prepare() noexcept {
  (void)_Unwind_Backtrace([](_Unwind_Context*, void*) { return _URC_END_OF_STACK; }, nullptr);
}

namespace {

struct Walk {
  std::uintptr_t begin;  // of the first frame to visit; zero: all frames
  StackTrace& trace;
  void (*visit)(StackTrace& trace, std::uintptr_t address, std::uintptr_t stack);
};

_Unwind_Reason_Code visit_frame(_Unwind_Context* frame, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  int is_interrupted = 0;  // interrupted there, so not at a call
  std::uintptr_t const counter = _Unwind_GetIPInfo(frame, &is_interrupted);
  bool const is_first = counter == walk.begin;
  if (walk.begin != 0 && !is_first) return _URC_NO_REASON;
  walk.begin = 0;
  walk.visit(walk.trace, is_first || is_interrupted != 0 ? counter : counter - 1, _Unwind_GetCFA(frame));
  return walk.trace.size() == StackTrace::kMaxFrames ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

// Unwinds from this function, through the handler of the signal, to the frame `begin`, and adds the frames from there
// on. Returns false if memory could not be read.
bool StackTrace::unwind(std::uintptr_t begin) noexcept {
  Walk walk{begin, *this, [](StackTrace& trace, std::uintptr_t address, std::uintptr_t stack) {
              trace.add(address);
              trace.last_stack_ = stack;
            }};
  return run_guarded([&walk] { (void)_Unwind_Backtrace(visit_frame, &walk); });
}

void StackTrace::read_mappings() noexcept { code.read(); }

StackTrace::StackTrace(void* context, Registers const& registers) noexcept {
  mcontext_t& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  mcontext_t const before = machine;
  Registers at = registers;
  begins_outside_of_code_ = !code.contain(at.counter);
  if (begins_outside_of_code_) {
    add(at.counter);
    at = caller_at_entry(at);
    if (at.counter == 0) at = guess_caller(registers.counter, registers.stack, registers.frame);
  }
  while (at.counter != 0 && count_ < kMaxFrames) {
    last_stack_ = at.stack;
    at.store_to(context);
    if (unwind(at.counter)) break;
    at = guess_caller(count_ == 0 ? at.counter : addresses_[count_ - 1], last_stack_, at.frame);
  }
  machine = before;
}

// Returns the registers to go on with; their counter is zero if no caller is found.
Registers StackTrace::guess_caller(std::uintptr_t counter, std::uintptr_t stack, std::uintptr_t frame) noexcept {
  first_guess_ = std::min(first_guess_, count_);
  Registers at = find_caller(counter, stack, frame);
#if defined(__aarch64__)
  // Functions keep their frame record below what they store, so the unwinder cannot go on there.
  while (at.counter != 0 && count_ < kMaxFrames) {
    add(at.counter);
    Registers next;
    (void)run_guarded([&at, &next] {
      if (is_frame_record(at.frame)) next = caller_after_return(at.frame + kWord, word_at(at.frame));
    });
    at = next;
  }
#endif
  return at;
}

}}  // namespace testlog::v1
