// StackTrace: where a thread is, by the calls on its stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace testlog::inline v1 {

/// What the calls on a stack are followed from.
struct Registers {
  std::uintptr_t counter = 0;  ///< the next instruction
  std::uintptr_t stack = 0;
  std::uintptr_t frame = 0;    ///< kUnknown if only those above are known
  std::uintptr_t link = 0;     ///< the return address where a register has it

  /// Where nothing can be read, so that the unwinder does not take it for something.
  static constexpr std::uintptr_t kUnknown = sizeof(void*);

  /// `context` is the third argument of the handler of a signal.
  static Registers of(void const* context) noexcept;
  void store_to(void* context) const noexcept;
};

/// Async-signal-safe, but for prepare(). Made by one thread at a time. The unwinder never begins at an address that is no code;
/// where it comes upon memory that cannot be read, the rest is guessed by frame pointers and what looks like a return address. Without optimisation every call is a
/// frame; functions that were inlined have none.
class StackTrace {
 public:
  static constexpr std::size_t kMaxFrames = 256;
  static constexpr std::size_t kNoGuess = ~std::size_t{0};

  /// Loads the unwinder, once.
  static void prepare() noexcept;

  /// Reads where code is. To be called before stacks are followed.
  static void read_mappings() noexcept;

  /// The calls of the code that a signal interrupted; to be called in its handler, on the same stack as that. `context`, its third
  /// argument, changes meanwhile.
  explicit StackTrace(void* context) noexcept : StackTrace(context, Registers::of(context)) {}
  /// The calls on another stack, followed in the same way.
  StackTrace(void* context, Registers const& registers) noexcept;
  StackTrace(StackTrace const&) = delete;
  StackTrace& operator=(StackTrace const&) = delete;

  std::size_t size() const noexcept { return count_; }
  /// From the innermost frame on, an address inside of the instruction: of a call, of its last byte.
  std::span<std::uintptr_t const> addresses() const noexcept { return {addresses_, count_}; }
  /// Whether the first frame is an address to which the program jumped although it is no code.
  bool begins_outside_of_code() const noexcept { return begins_outside_of_code_; }
  /// The frames from this one on may not be those of the calls, since the stack before them is damaged; kNoGuess if it is not.
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

}  // namespace testlog::inline v1
