// Implements atom and red by the host's atomic read-modify-writes, one lane after the other.
#include <type_traits>

#include "cuda_cpu/executor/steps/map.h"
#include "cuda_cpu/executor/steps/numbers.h"

namespace cuda_cpu {
namespace {

enum class Operation { bit_and, bit_or, bit_xor, exch, cas, add, inc, dec, min, max };

// Returns the new value in memory. T is the type of the form, Bits the unsigned integer of its size.
template <Operation kOperation, class T, class Bits>
Bits changed(Bits old, Bits value) {
  T const a = std::bit_cast<T>(old), b = std::bit_cast<T>(value);
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<Bits>(bits_of(a + b));
  } else {
    switch (kOperation) {
      case Operation::bit_and: return old & value;
      case Operation::bit_or: return old | value;
      case Operation::bit_xor: return old ^ value;
      case Operation::add: return old + value;
      case Operation::inc: return old >= value ? 0 : old + 1;
      case Operation::dec: return old == 0 || old > value ? value : old - 1;
      case Operation::min: return a < b ? old : value;
      case Operation::max: return a < b ? value : old;
      case Operation::exch:
      case Operation::cas: break;
    }
    return value;
  }
}

std::uint16_t half_sum(std::uint16_t a, std::uint16_t b) {
  return double_to_half(static_cast<double>(half_to_float(a)) + static_cast<double>(half_to_float(b)),
                        Rounding::nearest);
}
std::uint16_t bfloat_sum(std::uint16_t a, std::uint16_t b) {
  return double_to_bfloat(static_cast<double>(bfloat_to_float(a)) + static_cast<double>(bfloat_to_float(b)),
                          Rounding::nearest);
}
struct Half {
  std::uint16_t bits;
};
struct HalfPair {
  std::uint32_t bits;
};
struct Bfloat {
  std::uint16_t bits;
};
struct BfloatPair {
  std::uint32_t bits;
};
template <std::uint16_t (*kSum)(std::uint16_t, std::uint16_t)>
std::uint32_t sum_of_pairs(std::uint32_t a, std::uint32_t b) {
  auto const low = kSum(static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b));
  return std::uint32_t{kSum(static_cast<std::uint16_t>(a >> 16), static_cast<std::uint16_t>(b >> 16))} << 16 | low;
}
template <>
std::uint16_t changed<Operation::add, Half, std::uint16_t>(std::uint16_t a, std::uint16_t b) {
  return half_sum(a, b);
}
template <>
std::uint32_t changed<Operation::add, HalfPair, std::uint32_t>(std::uint32_t a, std::uint32_t b) {
  return sum_of_pairs<half_sum>(a, b);
}
template <>
std::uint16_t changed<Operation::add, Bfloat, std::uint16_t>(std::uint16_t a, std::uint16_t b) {
  return bfloat_sum(a, b);
}
template <>
std::uint32_t changed<Operation::add, BfloatPair, std::uint32_t>(std::uint32_t a, std::uint32_t b) {
  return sum_of_pairs<bfloat_sum>(a, b);
}

// Sums in single precision flush denormals in global memory, but not in shared memory.
bool is_shared(Block const& block, void const* place) {
  return reinterpret_cast<std::uintptr_t>(place) - reinterpret_cast<std::uintptr_t>(block.shared) <
         block.launch.shared_bytes;
}

template <Operation kOperation, class T>
bool atomic(Warp& warp, Step const& step, Mask lanes) {
  using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
  for (; lanes != 0; lanes &= lanes - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(lanes));
    auto* const place = reinterpret_cast<Bits*>(warp.block.quick<ptx::Space::global>(warp, step, lane, sizeof(Bits)));
    if (place == nullptr) return false;
    Bits const value = warp.at<Bits>(step.source[0])[lane];
    Bits old;
    if constexpr (kOperation == Operation::exch) {
      old = __atomic_exchange_n(place, value, __ATOMIC_ACQ_REL);
    } else if constexpr (kOperation == Operation::cas) {
      old = value;
      __atomic_compare_exchange_n(place, &old, warp.at<Bits>(step.source[1])[lane], false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE);
    } else {
      bool const flushes = std::is_same_v<T, float> && !is_shared(warp.block, place);
      auto const next = [&](Bits now) {
        if constexpr (std::is_same_v<T, float>) {
          if (flushes) return bits_of(flushed(as_float(bits_of(flushed(as_float(now)) + flushed(as_float(value))))));
        }
        return changed<kOperation, T, Bits>(now, value);
      };
      old = __atomic_load_n(place, __ATOMIC_RELAXED);
      while (!__atomic_compare_exchange_n(place, &old, next(old), true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
      }
    }
    if (step.destination[0] != kNowhere) warp.at<Bits>(step.destination[0])[lane] = old;
  }
  return true;
}

// Adds each element of a vector separately, as devices do.
template <class T>
bool add_vector(Warp& warp, Step const& step, Mask lanes) {
  using Bits = std::uint32_t;
  for (; lanes != 0; lanes &= lanes - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(lanes));
    auto* const place = reinterpret_cast<Bits*>(
        warp.block.quick<ptx::Space::global>(warp, step, lane, static_cast<std::uint32_t>(sizeof(Bits)) * step.count));
    if (place == nullptr) return false;
    Bits old[4] = {};
    for (unsigned i = 0; i < step.count; ++i) {
      Bits const value = warp.at<Bits>(step.source[i])[lane];
      old[i] = __atomic_load_n(place + i, __ATOMIC_RELAXED);
      auto const next = [value](Bits now) {
        if constexpr (std::is_same_v<T, float>)
          return bits_of(flushed(flushed(as_float(now)) + flushed(as_float(value))));
        else
          return changed<Operation::add, T, Bits>(now, value);
      };
      while (!__atomic_compare_exchange_n(place + i, &old[i], next(old[i]), true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
      }
    }
    for (unsigned i = 0; i < step.count; ++i)
      if (step.destination[i] != kNowhere) warp.at<Bits>(step.destination[i])[lane] = old[i];
  }
  return true;
}

template <class T>
Handler select_integer_operation(Form const& form) {
  if (form.has("and")) return atomic<Operation::bit_and, T>;
  if (form.has("or")) return atomic<Operation::bit_or, T>;
  if (form.has("xor")) return atomic<Operation::bit_xor, T>;
  if (form.has("exch")) return atomic<Operation::exch, T>;
  if (form.has("cas")) return atomic<Operation::cas, T>;
  if (form.has("add")) return atomic<Operation::add, T>;
  if (form.has("inc")) return atomic<Operation::inc, T>;
  if (form.has("dec")) return atomic<Operation::dec, T>;
  if (form.has("min")) return atomic<Operation::min, T>;
  return atomic<Operation::max, T>;
}

}  // namespace

Handler select_atomic(Form const& form, Step& step) {
  if (form.opcode() != "atom" && form.opcode() != "red") return nullptr;
  step.writes = true;
  if (form.vector_size > 1) {
    step.count = static_cast<std::uint8_t>(form.vector_size);
    if (form.type == Type::f32) return add_vector<float>;
    return form.type == Type::f16x2 ? add_vector<HalfPair> : add_vector<BfloatPair>;
  }
  switch (form.type) {
    case Type::f32: return atomic<Operation::add, float>;
    case Type::f64: return atomic<Operation::add, double>;
    case Type::f16: return atomic<Operation::add, Half>;
    case Type::f16x2: return atomic<Operation::add, HalfPair>;
    case Type::bf16: return atomic<Operation::add, Bfloat>;
    case Type::bf16x2: return atomic<Operation::add, BfloatPair>;
    case Type::b16: return atomic<Operation::cas, std::uint16_t>;
    case Type::b32:
    case Type::u32: return select_integer_operation<std::uint32_t>(form);
    case Type::s32: return select_integer_operation<std::int32_t>(form);
    case Type::b64:
    case Type::u64: return select_integer_operation<std::uint64_t>(form);
    case Type::s64: return select_integer_operation<std::int64_t>(form);
    default: return nullptr;
  }
}

}  // namespace cuda_cpu
