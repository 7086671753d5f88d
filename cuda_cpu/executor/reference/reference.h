// For tests: a second implementation of scalar PTX, written from the manual and not from the executor: one thread at a
// time, one instruction at a time, by the simplest computation that is right. It shares only the parser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cuda_cpu/ptx/forms.h"
#include "cuda_cpu/ptx/module.h"

namespace cuda_cpu::reference {

using Bits = std::uint64_t;
__extension__ using Int = __int128;
__extension__ using Unsigned = unsigned __int128;
__extension__ using Exact = __float128;

/// The results that an instruction computes from its sources, which are in the order of the form's operands.
struct Outcome {
  Bits value = 0;
  bool first = false;  // destination predicates
  bool second = false;
  std::optional<bool> carry = std::nullopt;
};

/// Returns the outcome of a form of any family, or nothing if the reference does not know the form. `carry`: the carry
/// of the instruction before.
std::optional<Outcome> outcome_of(ptx::Form const& form, std::span<Bits const> sources, bool carry);
/// Return the outcome of a form of one family, or nothing if the form belongs to another family.
std::optional<Outcome> integer_outcome(ptx::Form const& form, std::span<Bits const> sources, bool carry);
std::optional<Outcome> float_outcome(ptx::Form const& form, std::span<Bits const> sources);
std::optional<Outcome> conversion_outcome(ptx::Form const& form, std::span<Bits const> sources);
std::optional<Outcome> comparison_outcome(ptx::Form const& form, std::span<Bits const> sources);

/// Returns the value of an integer of that type. `bits` may have further bits above it.
Int integer(Bits bits, ptx::Type type);
/// Returns the operands of a form that are sources, in order.
std::vector<ptx::OperandSpec> sources_of(ptx::Form const& form);

// Floating-point formats of at most 16 bits, by the definition of their bits.

/// A format whose values without a sign are the codes from zero to `greatest`, in order.
struct Format {
  int fraction_bits;
  int bias;
  Bits greatest;
  Bits infinity;  // zero: the format has none
  Bits nan;       // the canonical NaN
  Bits sign;
};
constexpr Format kBfloat{7, 127, 0x7f7f, 0x7f80, 0x7fff, 0x8000};
constexpr Format kHalf{10, 15, 0x7bff, 0x7c00, 0x7fff, 0x8000};
constexpr Format kE4m3{3, 7, 0x7e, 0, 0x7f, 0x80};
constexpr Format kE5m2{2, 15, 0x7b, 0x7c, 0x7f, 0x80};

bool is_nan(Format const& format, Bits bits);
bool is_infinite(Format const& format, Bits bits);
/// Returns value * 2^exponent.
Exact scaled(Exact value, int exponent);
/// Returns the value of a finite number; for an infinity, the next power of two beyond the greatest number.
Exact value_of(Format const& format, Bits bits);
/// Returns all values of a format without a sign, and the next power of two.
std::vector<Exact> const& all_values(Format const& format);
/// Rounds by bisection of all values: to nearest with ties to even, or by "rz", "rm" and "rp". Values that are too
/// large become the greatest number with `clamps`, otherwise an infinity. The result of zero has no sign.
Bits rounded(Format const& format, Exact exact, std::string_view mode = "rn", bool clamps = false);
/// Returns a sum that rounds to few bits as the exact sum does, which may not fit into 113 bits.
Exact sum(Exact a, Exact b);

/// Returns true if run_thread() runs instructions of this form.
bool supports(ptx::Form const& form);

/// A range of memory, by its address in the executor's run.
struct Region {
  Bits begin = 0;
  std::vector<std::byte> bytes;
};
struct Thread {
  std::uint32_t index = 0;       // %tid.x
  std::vector<Bits> parameters;  // parameters of the entry, eight bytes each
  Region* global = nullptr;
  std::vector<std::byte> shared, local;  // private to the thread: threads use different parts of shared memory
};

/// Runs a thread of an entry to its end; returns the number of instructions, including instructions whose guard was
/// false. Throws std::logic_error for an instruction that is not supported or an access beyond the memory.
std::uint64_t run_thread(ptx::Function const& entry, Thread& thread);

}  // namespace cuda_cpu::reference
