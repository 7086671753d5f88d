// Implements logic, shifts and bit fields.
#include <algorithm>
#include <type_traits>

#include "cuda_cpu/executor/steps/map.h"

namespace cuda_cpu {
namespace {

template <class T>
T bit_and(T a, T b) {
  return static_cast<T>(a & b);
}
template <class T>
T bit_or(T a, T b) {
  return static_cast<T>(a | b);
}
template <class T>
T bit_xor(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <class T>
T bit_not(T a) {
  return static_cast<T>(~a);
}
template <class T>
T is_zero(T a) {
  return a == 0 ? 1 : 0;
}

// Shifts by more than the width give zero or, in arithmetic right shifts, the sign.
template <class T>
T shl(T a, U32 n) {
  return n < sizeof(T) * 8 ? static_cast<T>(a << n) : T{0};
}
template <class T>
T shr(T a, U32 n) {
  return n < sizeof(T) * 8 ? static_cast<T>(a >> n) : T{0};
}
template <class T>
T shr_signed(T a, U32 n) {
  return static_cast<T>(static_cast<std::make_signed_t<T>>(a) >> std::min<U32>(n, sizeof(T) * 8 - 1));
}

template <bool kLeft, bool kWrap>
U32 funnel(U32 low, U32 high, U32 n) {
  U64 const both = U64{high} << 32 | low;
  n = kWrap ? n & 31 : std::min<U32>(n, 32);
  return kLeft ? static_cast<U32>((both << n) >> 32) : static_cast<U32>(both >> n);
}

template <class T>
U32 population(T a) {
  return static_cast<U32>(std::popcount(a));
}
template <class T>
U32 leading_zeros(T a) {
  return static_cast<U32>(std::countl_zero(a));
}
template <class T>
T reversed(T a) {
  T result = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; ++i) result |= (a >> i & 1) << (sizeof(T) * 8 - 1 - i);
  return result;
}

// Returns the position of the highest bit that differs from the sign; with kShift, its distance from the top.
template <class T, bool kShift>
U32 find_bit(std::make_unsigned_t<T> a) {
  if (static_cast<T>(a) < 0) a = static_cast<decltype(a)>(~a);
  if (a == 0) return ~U32{0};
  auto const zeros = static_cast<U32>(std::countl_zero(a));
  return kShift ? zeros : static_cast<U32>(sizeof(T) * 8 - 1) - zeros;
}

template <class T>
std::make_unsigned_t<T> extract(std::make_unsigned_t<T> a, U32 position, U32 length) {
  using Bits = std::make_unsigned_t<T>;
  constexpr U32 kTop = sizeof(T) * 8 - 1;
  position &= 255;
  length &= 255;
  if (length == 0) return 0;
  bool const negative = std::is_signed_v<T> && (a >> std::min(position + length - 1, kTop) & 1) != 0;
  Bits const field = shr<Bits>(a, position);
  Bits const inside = length > kTop ? ~Bits{0} : static_cast<Bits>((Bits{1} << length) - 1);
  // Bits beyond the top are copies of the sign.
  Bits const there = position > kTop ? Bits{0} : static_cast<Bits>(~Bits{0} >> position);
  Bits const known = inside & there;
  return negative ? static_cast<Bits>(field | ~known) : static_cast<Bits>(field & known);
}

template <class T>
T insert(T field, T into, U32 position, U32 length) {
  position &= 255;
  length &= 255;
  T const ones = length >= sizeof(T) * 8 ? ~T{0} : static_cast<T>((T{1} << length) - 1);
  T const mask = shl<T>(ones, position);
  return static_cast<T>((into & ~mask) | (shl<T>(field, position) & mask));
}

template <bool kWrap>
U32 bit_mask(U32 position, U32 length) {
  if (kWrap) {
    position &= 31;
    length &= 31;
  }
  U32 const ones = length > 31 ? ~U32{0} : (U32{1} << length) - 1;
  return shl<U32>(ones, position);
}
template <class T, bool kWrap>
U32 extend(U32 a, U32 n) {
  if (kWrap) n &= 31;
  if (n > 31) return a;
  if (n == 0) return 0;
  U32 const shift = 32 - n;
  return static_cast<U32>(static_cast<T>(a << shift) >> shift);
}

// Returns the position of the n-th set bit, counted from `base` upwards, or downwards for a negative n. Returns all
// ones if no such bit exists. For n = 0 returns `base` if its bit is set.
U32 find_nth_set(U32 mask, U32 base, U32 n) {
  auto const count = static_cast<std::int32_t>(n);
  std::int64_t left = count > 0 ? std::int64_t{count} - 1 : -std::min<std::int64_t>(count + 1, 0);
  if (base > 31) return ~U32{0};
  if (count == 0) return (mask >> base & 1) != 0 ? base : ~U32{0};
  for (auto at = static_cast<std::int32_t>(base); at >= 0 && at<32; at += count> 0 ? 1 : -1) {
    if ((mask >> at & 1) == 0) continue;
    if (left-- == 0) return static_cast<U32>(at);
  }
  return ~U32{0};
}

U32 permute(U32 a, U32 b, U32 selector) {
  U64 const bytes = U64{b} << 32 | a;
  U32 result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    U32 const nibble = selector >> (4 * i) & 15;
    auto byte = static_cast<U32>(bytes >> (8 * (nibble & 7)) & 255);
    if ((nibble & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;  // the byte's sign in all bits
    result |= byte << (8 * i);
  }
  return result;
}
// In the other modes the lower two bits of c choose a selector.
template <U32 k0, U32 k1, U32 k2, U32 k3>
U32 permute_by(U32 a, U32 b, U32 c) {
  constexpr U32 kSelectors[] = {k0, k1, k2, k3};
  return permute(a, b, kSelectors[c & 3]);
}

bool lop3(Warp& warp, Step const& step, Mask lanes) {
  U32 const *const a = warp.at<U32>(step.source[0]), *const b = warp.at<U32>(step.source[1]),
                   *const c = warp.at<U32>(step.source[2]);
  U32* const to = warp.at<U32>(step.destination[0]);
  auto const table = static_cast<U32>(step.bits);
  each_lane(lanes, [&](unsigned i) {
    U32 result = 0;
    for (unsigned row = 0; row < 8; ++row) {
      if ((table >> row & 1) == 0) continue;
      result |= ((row & 4) != 0 ? a[i] : ~a[i]) & ((row & 2) != 0 ? b[i] : ~b[i]) & ((row & 1) != 0 ? c[i] : ~c[i]);
    }
    to[i] = result;
  });
  return true;
}

template <int kOperation>
bool predicate_logic(Warp& warp, Step const& step, Mask lanes) {
  Mask const a = warp.predicate_source(step, 0);
  [[maybe_unused]] Mask const b = kOperation < 3 ? warp.predicate_source(step, 1) : 0;
  Mask result = a;
  if constexpr (kOperation == 0) result &= b;
  if constexpr (kOperation == 1) result |= b;
  if constexpr (kOperation == 2) result ^= b;
  if constexpr (kOperation == 3) result = ~a;
  warp.set_predicate(step.destination[0], result, lanes);
  return true;
}

template <class T>
Handler select_logic(std::string_view op) {
  if (op == "and") return map<&bit_and<T>>;
  if (op == "or") return map<&bit_or<T>>;
  if (op == "xor") return map<&bit_xor<T>>;
  if (op == "not") return map<&bit_not<T>>;
  if (op == "cnot") return map<&is_zero<T>>;
  if (op == "shl") return map<&shl<T>>;
  if (op == "shr") return map<&shr<T>>;
  if constexpr (sizeof(T) >= 4) {
    if (op == "popc") return map<&population<T>>;
    if (op == "clz") return map<&leading_zeros<T>>;
    if (op == "brev") return map<&reversed<T>>;
    if (op == "bfi") return map<&insert<T>>;
    if (op == "bfe") return map<&extract<T>>;
  }
  return nullptr;
}

template <class T>
Handler select_found(Form const& form) {
  return form.has("shiftamt") ? map<&find_bit<T, true>> : map<&find_bit<T, false>>;
}

Handler select_permutation(Form const& form) {
  if (form.has("f4e")) return map<&permute_by<0x3210, 0x4321, 0x5432, 0x6543>>;
  if (form.has("b4e")) return map<&permute_by<0x5670, 0x6701, 0x7012, 0x0123>>;
  if (form.has("rc8")) return map<&permute_by<0x0000, 0x1111, 0x2222, 0x3333>>;
  if (form.has("ecl")) return map<&permute_by<0x3210, 0x3211, 0x3222, 0x3333>>;
  if (form.has("ecr")) return map<&permute_by<0x0000, 0x1110, 0x2210, 0x3210>>;
  if (form.has("rc16")) return map<&permute_by<0x1010, 0x3232, 0x1010, 0x3232>>;
  return map<&permute>;
}

// Selects operations that exist for 32 bits only.
Handler select_words(Form const& form) {
  std::string_view const op = form.opcode();
  if (op == "lop3") return lop3;
  if (op == "prmt") return select_permutation(form);
  if (op == "fns") return map<&find_nth_set>;
  if (op == "shf" && form.has("l")) return form.has("wrap") ? map<&funnel<true, true>> : map<&funnel<true, false>>;
  if (op == "shf") return form.has("wrap") ? map<&funnel<false, true>> : map<&funnel<false, false>>;
  if (op == "bmsk") return form.has("wrap") ? map<&bit_mask<true>> : map<&bit_mask<false>>;
  if (op != "szext") return nullptr;
  if (form.type == Type::s32)
    return form.has("wrap") ? map<&extend<std::int32_t, true>> : map<&extend<std::int32_t, false>>;
  return form.has("wrap") ? map<&extend<U32, true>> : map<&extend<U32, false>>;
}

}  // namespace

Handler select_bits(Form const& form, Step&) {
  std::string_view const op = form.opcode();
  if (Handler const handler = select_words(form)) return handler;
  bool const is_signed = ptx::is_signed(form.type);
  if (op == "shr" && is_signed) {
    return form.type == Type::s16   ? map<&shr_signed<U16>>
           : form.type == Type::s32 ? map<&shr_signed<U32>>
                                    : map<&shr_signed<U64>>;
  }
  if (op == "bfe" && is_signed)
    return form.type == Type::s32 ? map<&extract<std::int32_t>> : map<&extract<std::int64_t>>;
  if (op == "bfind") {
    if (is_signed) return form.type == Type::s32 ? select_found<std::int32_t>(form) : select_found<std::int64_t>(form);
    return form.type == Type::u32 ? select_found<U32>(form) : select_found<U64>(form);
  }
  if (form.type == Type::pred) {
    if (op == "and") return predicate_logic<0>;
    if (op == "or") return predicate_logic<1>;
    if (op == "xor") return predicate_logic<2>;
    if (op == "not") return predicate_logic<3>;
    return op == "mov" ? predicate_logic<4> : nullptr;
  }
  static constexpr std::string_view kOpcodes[] = {"and", "or",   "xor", "not",  "cnot", "shl",
                                                  "shr", "popc", "clz", "brev", "bfi",  "bfe"};
  if (std::ranges::find(kOpcodes, op) == std::end(kOpcodes)) return nullptr;
  switch (size_bytes(form.type)) {
    case 2: return select_logic<U16>(op);
    case 4: return select_logic<U32>(op);
    default: return select_logic<U64>(op);
  }
}

}  // namespace cuda_cpu
