// StackTrace: tells where a thread is, by the calls on its stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace testlog { inline namespace v1 {

/// The registers from which the calls on a stack are followed.
struct Registers {
  std::uintptr_t counter = 0;  ///< the next instruction
  std::uintptr_t stack = 0;
  std::uintptr_t frame = 0;  ///< kUnknown if only the members above are known
  std::uintptr_t link = 0;   ///< the return address, on machines that keep it in a register

  /// An address that cannot be read, so that the unwinder cannot follow it to a wrong frame.
  static constexpr std::uintptr_t kUnknown = sizeof(void*);

  /// `context` is the third argument of a signal handler.
  static Registers of(void const* context) noexcept;
  void store_to(void* context) const noexcept;
};

/// Async-signal-safe, except prepare(). Made by one thread at a time. The unwinder never begins at an address outside
/// of code. If it comes upon memory that cannot be read, the rest is guessed from frame pointers and from words that
/// look like return addresses. Without optimisation every call is a frame; functions that were inlined have no frame.
class StackTrace {
 public:
  static constexpr std::size_t kMaxFrames = 256;
  static constexpr std::size_t kNoGuess = ~std::size_t{0};

  /// Loads the unwinder, once.
  static void prepare() noexcept;

  /// Reads where code is. Called before stacks are followed.
  static void read_mappings() noexcept;

  /// Follows the calls of the code that a signal interrupted. Called in the handler, on the handler's stack. `context`,
  /// the handler's third argument, changes meanwhile.
  explicit StackTrace(void* context) noexcept : StackTrace(context, Registers::of(context)) {}
  /// Follows the calls on another stack, from `registers` on.
  StackTrace(void* context, Registers const& registers) noexcept;
  StackTrace(StackTrace const&) = delete;
  StackTrace& operator=(StackTrace const&) = delete;

  std::size_t size() const noexcept { return count_; }
  /// Returns an address inside the instruction of each frame, innermost first. For a call it is the last byte.
  std::span<std::uintptr_t const> addresses() const noexcept { return {addresses_, count_}; }
  /// Returns true if the first frame is an address outside of code to which the program jumped.
  bool begins_outside_of_code() const noexcept { return begins_outside_of_code_; }
  /// Returns the number of the first frame that is guessed, since the stack before it is damaged; kNoGuess if it is not
  /// damaged.
  std::size_t first_guess() const noexcept { return first_guess_; }

 private:
  void add(std::uintptr_t address) noexcept {
    if (count_ < kMaxFrames) addresses_[count_++] = address;
  }
  bool unwind(std::uintptr_t begin) noexcept;
  Registers guess_caller(std::uintptr_t counter, std::uintptr_t stack, std::uintptr_t frame) noexcept;

  std::uintptr_t addresses_[kMaxFrames];
  std::size_t count_ = 0;
  std::size_t first_guess_ = kNoGuess;
  std::uintptr_t last_stack_ = 0;  // of the last frame
  bool begins_outside_of_code_ = false;
};

}}  // namespace testlog::v1
