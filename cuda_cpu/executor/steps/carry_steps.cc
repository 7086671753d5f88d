// Implements sums and products with a carry: add.cc, addc, sub.cc, subc, mad.cc, madc. The carry is a predicate in each
// frame and the second destination of a step. A subtraction is x + ~y + 1, as on a device: it writes 1 if it does not
// borrow, and subc reads the carry in place of that 1. nvcc relies on it where an addc follows a sub.cc (division of
// __int128).
#include <type_traits>

#include "cuda_cpu/executor/steps/map.h"

namespace cuda_cpu {
namespace {

enum class Operation { add, sub, low, high };  // low and high add that half of a product

constexpr std::uint8_t kReads = 1, kWrites = 2;  // bits of Step::choice

// T is the type of the form.
template <class T>
std::make_unsigned_t<T> upper_half(std::make_unsigned_t<T> a, std::make_unsigned_t<T> b) {
  __extension__ using Signed = __int128;
  __extension__ using Unsigned = unsigned __int128;
  using Product = std::conditional_t<std::is_signed_v<T>, Signed, Unsigned>;
  return static_cast<std::make_unsigned_t<T>>((Product{static_cast<T>(a)} * Product{static_cast<T>(b)}) >>
                                              (sizeof(T) * 8));
}

template <class T, Operation kOperation>
bool with_carry(Warp& warp, Step const& step, Mask lanes) {
  using Bits = std::make_unsigned_t<T>;
  constexpr bool kProduct = kOperation == Operation::low || kOperation == Operation::high;
  bool const reads_carry = (step.choice & kReads) != 0;
  Bits const *const a = warp.at<Bits>(step.source[0]), *const b = warp.at<Bits>(step.source[1]);
  Bits const* const c = kProduct ? warp.at<Bits>(step.source[2]) : nullptr;
  Bits* const to = warp.at<Bits>(step.destination[0]);
  Mask const before = warp.predicate(step.destination[1]);
  Mask after = 0;
  each_lane(lanes, [&](unsigned i) {
    constexpr bool kSubtract = kOperation == Operation::sub;
    Bits const carry = reads_carry ? before >> i & 1 : Bits{kSubtract};
    Bits x = a[i], y = kSubtract ? static_cast<Bits>(~b[i]) : b[i];
    if constexpr (kProduct) {
      x = kOperation == Operation::low ? static_cast<Bits>(x * y) : upper_half<T>(x, y);
      y = c[i];
    }
    Bits const result = static_cast<Bits>(x + y + carry);
    after |= Mask{result < x || (result == x && carry != 0)} << i;
    to[i] = result;
  });
  if ((step.choice & kWrites) != 0) warp.set_predicate(step.destination[1], after, lanes);
  return true;
}

template <class T>
Handler select(Form const& form) {
  if (form.opcode().starts_with("add")) return with_carry<T, Operation::add>;
  if (form.opcode().starts_with("sub")) return with_carry<T, Operation::sub>;
  return form.has("lo") ? with_carry<T, Operation::low> : with_carry<T, Operation::high>;
}

}  // namespace

Handler select_carry(Form const& form, Step& step) {
  std::string_view const op = form.opcode();
  bool const reads = op == "addc" || op == "subc" || op == "madc";
  bool const writes = form.has("cc");
  if (!reads && !writes) return nullptr;
  step.choice = static_cast<std::uint8_t>((reads ? kReads : 0) | (writes ? kWrites : 0));
  step.destination[1] = 0;
  switch (form.type) {
    case Type::u32: return select<U32>(form);
    case Type::s32: return select<std::int32_t>(form);
    case Type::u64: return select<U64>(form);
    case Type::s64: return select<std::int64_t>(form);
    default: return nullptr;
  }
}

}  // namespace cuda_cpu
