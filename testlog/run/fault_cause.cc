#include "testlog/run/fault_cause.h"

#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <string_view>

#include "testlog/run/stack_trace.h"

namespace testlog { inline namespace v1 {
namespace {

enum class Access : std::uint8_t { unknown, read, write, jump };

Access access_of(std::uintptr_t address, [[maybe_unused]] void const* context) noexcept {
  if (Registers::of(context).counter == address) return Access::jump;
#if defined(__x86_64__)
  // The error code of a page fault.
  constexpr greg_t kWrite = 2, kFetch = 16;
  greg_t const error = static_cast<ucontext_t const*>(context)->uc_mcontext.gregs[REG_ERR];
  return (error & kFetch) != 0 ? Access::jump : (error & kWrite) != 0 ? Access::write : Access::read;
#else
  return Access::unknown;
#endif
}

std::string_view before_address(Access access) noexcept {
  switch (access) {
    case Access::read: return "read of address ";
    case Access::write: return "write to address ";
    case Access::jump: return "jump to address ";
    case Access::unknown: break;
  }
  return "access to address ";
}

std::string_view forbidden(Access access) noexcept {
  switch (access) {
    case Access::read: return "mapped, but not readable";
    case Access::write: return "mapped, but not writable";
    case Access::jump: return "mapped, but not executable";
    case Access::unknown: break;
  }
  return "mapped, but without the permission";
}

// Returns true if the address is near the stack pointer: in the used part of the stack, or a little below it.
bool is_on_stack(std::uintptr_t address, void const* context) noexcept {
  constexpr std::uintptr_t kNear = 64 << 10;
  return address - (Registers::of(context).stack - kNear) < 2 * kNear;
}

// Returns true if no memory can have the address. On x86-64 the signal then has no address, and is SIGBUS
// if the access used the stack pointer or the frame pointer.
bool is_impossible_address([[maybe_unused]] siginfo_t const& info) noexcept {
#if defined(__x86_64__)
  return info.si_code == SI_KERNEL;
#else
  return false;
#endif
}
constexpr std::string_view kImpossibleAddress =
    "access to an address that no process can have, as by an overwritten pointer";

void add_segmentation_fault(CrashLine& line, siginfo_t const& info, void const* context) noexcept {
  constexpr std::uintptr_t kNull = 4096;
  if (info.si_code != SEGV_MAPERR && info.si_code != SEGV_ACCERR) {
    if (is_impossible_address(info)) line << kImpossibleAddress;
    return;
  }
  auto const address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  Access const access = access_of(address, context);
  line << before_address(access);
  line.add_hexadecimal(address);
  line << ": ";
  if (address == 0) {
    line << "a null pointer";
  } else if (address < kNull) {
    line << "a null pointer and an offset";
  } else if (access != Access::jump && is_on_stack(address, context)) {
    line << "the stack has overflowed";
  } else {
    line << (info.si_code == SEGV_ACCERR ? forbidden(access) : "not mapped");
  }
}

void add_bus_error(CrashLine& line, siginfo_t const& info, void const* context) noexcept {
  if (is_impossible_address(info)) return void(line << kImpossibleAddress);
  auto const address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  line << before_address(access_of(address, context));
  line.add_hexadecimal(address);
  switch (info.si_code) {
    case BUS_ADRALN: line << ": not aligned"; break;
    case BUS_ADRERR: line << ": behind the end of a mapped file, or no memory or disk space is left for it"; break;
    case BUS_MCEERR_AR:
    case BUS_MCEERR_AO: line << ": the memory is broken"; break;
    default: break;
  }
}

std::string_view arithmetic_error(int code) noexcept {
  switch (code) {
    case FPE_INTDIV: return "integer division by zero, or of the least integer by -1";
    case FPE_INTOVF: return "integer overflow";
    case FPE_FLTDIV: return "floating-point division by zero";
    case FPE_FLTOVF: return "floating-point overflow";
    case FPE_FLTUND: return "floating-point underflow";
    case FPE_FLTRES: return "inexact floating-point result";
    case FPE_FLTINV: return "invalid floating-point operation";
    default: return {};
  }
}

}  // namespace

void add_fault_cause(CrashLine& line, siginfo_t const& info, void const* context) noexcept {
  if (info.si_code <= 0) {
    if (info.si_pid == getpid() || info.si_pid == 0) return;
    line << "sent by process " << static_cast<std::uint64_t>(info.si_pid);
    return;
  }
  switch (info.si_signo) {
    case SIGSEGV: return add_segmentation_fault(line, info, context);
    case SIGBUS: return add_bus_error(line, info, context);
    case SIGFPE: line << arithmetic_error(info.si_code); return;
    case SIGILL: line << "no valid instruction, or a trap such as that of __builtin_trap()"; return;
    default: return;
  }
}

}}  // namespace testlog::v1
