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

/// What an instruction computes of its sources, which are in the order of the form's operands.
struct Outcome {
  Bits value = 0;
  bool first = false;  // destination predicates
  bool second = false;
  std::optional<bool> carry = std::nullopt;
};

/// Of a form of any family; none if the reference does not know it. `carry`: that of the instruction before.
std::optional<Outcome> outcome_of(ptx::Form const& form, std::span<Bits const> sources, bool carry);
/// By family; none if the form belongs to another.
std::optional<Outcome> integer_outcome(ptx::Form const& form, std::span<Bits const> sources, bool carry);
std::optional<Outcome> float_outcome(ptx::Form const& form, std::span<Bits const> sources);
std::optional<Outcome> conversion_outcome(ptx::Form const& form, std::span<Bits const> sources);
std::optional<Outcome> comparison_outcome(ptx::Form const& form, std::span<Bits const> sources);

/// The value of an integer of that type, whose bits may be followed by others.
Int integer(Bits bits, ptx::Type type);
/// The operands of a form that are sources, in order.
std::vector<ptx::OperandSpec> sources_of(ptx::Form const& form);

// Floating-point formats of 16 bits and less, by the definition of their bits.

/// A format whose values without a sign are the codes from zero to `greatest`, in order.
struct Format {
  int fraction_bits;
  int bias;
  Bits greatest;
  Bits infinity;  // zero: there is none
  Bits nan;       // canonical
  Bits sign;
};
constexpr Format kBfloat{7, 127, 0x7f7f, 0x7f80, 0x7fff, 0x8000};
constexpr Format kHalf{10, 15, 0x7bff, 0x7c00, 0x7fff, 0x8000};
constexpr Format kE4m3{3, 7, 0x7e, 0, 0x7f, 0x80};
constexpr Format kE5m2{2, 15, 0x7b, 0x7c, 0x7f, 0x80};

bool is_nan(Format const& format, Bits bits);
bool is_infinite(Format const& format, Bits bits);
/// value * 2^exponent
Exact scaled(Exact value, int exponent);
/// The value of a finite number; of an infinity the next power of two, beyond the greatest number.
Exact value_of(Format const& format, Bits bits);
/// All values of a format without a sign, and the next power of two.
std::vector<Exact> const& all_values(Format const& format);
/// Rounds by bisection of all values: to nearest with ties to even, or by "rz", "rm" and "rp". `clamps`: to the
/// greatest number, otherwise to an infinity. The result of zero has no sign.
Bits rounded(Format const& format, Exact exact, std::string_view mode = "rn", bool clamps = false);
/// A sum whose rounding to few bits is that of the exact sum, which 113 bits may not hold.
Exact sum(Exact a, Exact b);

/// Whether run_thread() runs instructions of this form.
bool supports(ptx::Form const& form);

/// Memory by its address in the executor's run.
struct Region {
  Bits begin = 0;
  std::vector<std::byte> bytes;
};
struct Thread {
  std::uint32_t index = 0;       // %tid.x
  std::vector<Bits> parameters;  // of the entry, eight bytes each
  Region* global = nullptr;
  std::vector<std::byte> shared, local;  // private: threads use different parts of shared memory
};

/// Runs a thread of an entry to its end; returns the number of instructions, including those whose guard was false.
/// Throws std::logic_error for an instruction that is not supported or an access beyond the memory.
std::uint64_t run_thread(ptx::Function const& entry, Thread& thread);

}  // namespace cuda_cpu::reference
