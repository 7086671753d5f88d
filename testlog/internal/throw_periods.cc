// While an exception passes, nothing says which one it is, and where one was caught nothing tells of that. But each exception
// carries, by the C++ ABI, the handlers that were set when it was thrown, and one of these nobody needs any more: the one for
// unexpected exceptions went with dynamic exception specifications in C++17. So the handlers set here, all of which do what
// the one before them did, number the periods in which exceptions are thrown.
#include "testlog/internal/throw_periods.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <exception>
#include <mutex>
#include <utility>

namespace testlog::inline v1::internal {

// What <exception> declares for older C++ alone. Where the library has it no more, no exception belongs to a period.
using UnexpectedHandler = void (*)();
[[gnu::weak]] UnexpectedHandler set_unexpected_handler(UnexpectedHandler handler) noexcept asm("_ZSt14set_unexpectedPFvvE");

namespace {

constexpr std::size_t kHandlers = 64;

constinit std::mutex beginning;  // so that no older handler follows a newer one
constinit std::atomic<std::uint64_t> periods{0};
constinit std::atomic<UnexpectedHandler> program_handler{nullptr};
constinit std::atomic<std::size_t> called{0};

// The number keeps the linker from making one function of all.
template <std::size_t kNumber>
void on_unexpected() {
  called = kNumber;
  if (UnexpectedHandler const handler = program_handler.load()) handler();
  std::terminate();
}

constexpr auto kOnUnexpected = []<std::size_t... kNumbers>(std::index_sequence<kNumbers...>) {
  return std::array<UnexpectedHandler, kHandlers>{&on_unexpected<kNumbers>...};
}(std::make_index_sequence<kHandlers>{});

// kHandlers where it is none of ours.
std::size_t number_of(UnexpectedHandler handler) noexcept {
  std::size_t number = 0;
  while (number < kHandlers && kOnUnexpected[number] != handler) ++number;
  return number;
}

// From the handler's place in __cxa_exception to the exception behind it; the same in libstdc++ and libc++abi where pointers
// have 64 bits: that handler, another one, a pointer, two ints, four pointers, and the unwinder's own 32 bytes.
constexpr std::size_t kHandlerBefore = 3 * sizeof(void*) + 2 * sizeof(int) + 4 * sizeof(void*) + 32;

UnexpectedHandler handler_of(void const* exception) noexcept {
  UnexpectedHandler handler = nullptr;
  std::memcpy(&handler, static_cast<char const*>(exception) - kHandlerBefore, sizeof(handler));
  return handler;
}

}  // namespace

void lock_throw_periods_for_fork() noexcept { beginning.lock(); }
void unlock_throw_periods_after_fork() noexcept { beginning.unlock(); }

std::uint64_t begin_throw_period() noexcept {
  std::lock_guard const lock(beginning);
  std::uint64_t const begun = ++periods;
  if (set_unexpected_handler == nullptr) return begun;
  UnexpectedHandler const before = set_unexpected_handler(kOnUnexpected[begun % kHandlers]);
  if (number_of(before) == kHandlers) program_handler = before;
  return begun;
}

std::uint64_t throw_period_of_handled() noexcept {
  if constexpr (sizeof(void*) != 8) return 0;
  std::exception_ptr const handled = std::current_exception();
  if (handled == nullptr) return 0;
  static_assert(sizeof(handled) == sizeof(void*));
  void const* exception = nullptr;
  std::memcpy(&exception, static_cast<void const*>(&handled), sizeof(exception));
  std::size_t const number = number_of(handler_of(exception));
  std::uint64_t const now = periods.load();
  std::uint64_t const age = (now - number) % kHandlers;
  return number == kHandlers || age >= now ? 0 : now - age;
}

}  // namespace testlog::inline v1::internal
