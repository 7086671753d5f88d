// Implements ld, st and fences. Memory that other threads may access at the same time is accessed by relaxed atomics of
// the size of the access.
#include <atomic>
#include <cstring>
#include <type_traits>

#include "cuda_cpu/executor/steps/map.h"

#if defined(__GNUC__) && !defined(__clang__) && defined(__SANITIZE_THREAD__)
#pragma GCC diagnostic ignored "-Wtsan"  // the fences order only atomics, which the sanitizer understands without them
#endif

namespace cuda_cpu {
namespace {

constexpr std::uint8_t kAcquire = 1, kRelease = 2;  // values of Step::choice

// Shared and local memory are used by one host thread at a time, so they need no atomics.
template <class T, bool kAtomic>
T load_one(std::byte const* from, int order) {
  if constexpr (kAtomic) return __atomic_load_n(reinterpret_cast<T const*>(from), order);
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T, bool kAtomic>
void store_one(std::byte* to, T value, int order) {
  if constexpr (kAtomic)
    __atomic_store_n(reinterpret_cast<T*>(to), value, order);
  else
    std::memcpy(to, &value, sizeof value);
}

// Lanes go in halves of a warp through wide_access(): the rows of a tile of 16 columns are two halves.
constexpr unsigned kHalf = kLanes / 2;

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool kThreadSanitizer = true;
#else
constexpr bool kThreadSanitizer = false;
#endif
#elif defined(__SANITIZE_THREAD__)
constexpr bool kThreadSanitizer = true;
#else
constexpr bool kThreadSanitizer = false;
#endif

// A vector of the compiler's: the loops over half a warp are so short that it unrolls them instead of vectorizing them.
constexpr unsigned kVectorBytes = 32;
template <class T>
struct VectorOf {
  typedef T type [[gnu::vector_size(kVectorBytes)]];
  static constexpr unsigned kElements = kVectorBytes / sizeof(T);
};

// Returns true if the values of half a warp are values[0], values[0] + kStride, ...
template <unsigned kStride, class T>
[[gnu::always_inline]] inline bool is_row(T const* values) {
  using Vector = typename VectorOf<T>::type;
  constexpr unsigned kElements = VectorOf<T>::kElements;
  Vector expected{};
  for (unsigned i = 0; i < kElements; ++i) expected[i] = i * kStride;  // a constant
  expected += values[0];
  Vector differs{};
  for (unsigned i = 0; i < kHalf; i += kElements) {
    Vector loaded;
    std::memcpy(&loaded, values + i, sizeof loaded);
    differs |= loaded ^ expected;
    expected += static_cast<T>(kElements * kStride);
  }
  U64 parts[kVectorBytes / sizeof(U64)];
  std::memcpy(parts, &differs, sizeof parts);
  return (parts[0] | parts[1] | parts[2] | parts[3]) == 0;
}

template <class T>
[[gnu::always_inline]] inline void fill_half(T* to, T value) {
  using Vector = typename VectorOf<T>::type;
  Vector const all = Vector{} + value;
  for (unsigned i = 0; i < kHalf; i += VectorOf<T>::kElements) std::memcpy(to + i, &all, sizeof all);
}

// Copies half a warp of elements, which may have another size at their target.
template <class To, class From>
[[gnu::always_inline]] inline void copy_half(To* to, From const* from) {
  if constexpr (sizeof(To) == sizeof(From)) {
    std::memcpy(to, from, kHalf * sizeof(To));
  } else {
    CUDA_CPU_EACH_LANE
    for (unsigned i = 0; i < kHalf; ++i) to[i] = static_cast<To>(from[i]);
  }
}

// The addresses of half a warp.
struct Spread {
  U64 first = 0;
  bool is_uniform = false;     // all equal to `first`
  bool is_contiguous = false;  // elements one after the other
};

// `base`: the register of the addresses; null if they are constant. The first two addresses say which of the two the
// others may be.
template <unsigned kBytes, class Base>
[[gnu::always_inline]] inline Spread spread_of(Step const& step, Base const* base) {
  if (base == nullptr) return {step.bits, true, false};
  auto const first = static_cast<Base>(step.bits + base[0]);
  auto const stride = static_cast<Base>(base[1] - base[0]);
  if (stride == 0) return {first, is_row<0>(base), false};
  return {first, false, stride == kBytes && is_row<kBytes>(base)};
}

// Returns the host address of memory that half a warp may access without further checks, or null.
template <Space kSpace>
[[gnu::always_inline]] inline std::byte* checked_once(Block& block, Step const& step, U64 address, U64 bytes,
                                                      unsigned element) {
  if ((address & (element - 1)) != 0) return nullptr;
  if constexpr (kSpace == Space::shared) {
    std::uint32_t const size = block.launch.quick_shared_bytes;
    return address < size && bytes <= size - address ? block.shared + address : nullptr;
  } else {
    CachedRange const& range = block.ranges[step.range];
    U64 const offset = address - range.begin;
    return offset < range.bytes && bytes <= range.bytes - offset ? reinterpret_cast<std::byte*>(address) : nullptr;
  }
}

// Loads or stores an element for each lane of a half whose addresses are equal or one after the other, with one check.
// Returns false if the half needs a check for each lane. Processors do not tear elements of aligned vectors, so other
// threads see whole elements, as with relaxed atomics.
template <class T, class Register, Space kSpace, bool kLoads, class Base>
[[gnu::always_inline]] inline bool access_half(Warp& warp, Step const& step, Base const* base, Register* its) {
  Spread const spread = spread_of<sizeof(T)>(step, base);
  if (!spread.is_uniform && !spread.is_contiguous) return false;
  U64 const bytes = spread.is_uniform ? sizeof(T) : kHalf * sizeof(T);
  std::byte* const place = checked_once<kSpace>(warp.block, step, spread.first, bytes, sizeof(T));
  if (place == nullptr) return false;
  T* const memory = reinterpret_cast<T*>(place);
  if (spread.is_uniform && kLoads) {
    fill_half(its, static_cast<Register>(load_one<T, kSpace == Space::global>(place, __ATOMIC_RELAXED)));
  } else if (spread.is_uniform) {  // the last lane wins
    store_one<T, kSpace == Space::global>(place, static_cast<T>(its[kHalf - 1]), __ATOMIC_RELAXED);
  } else if (kLoads) {
    copy_half(its, memory);
  } else {
    copy_half(memory, its);
  }
  return true;
}

// Accesses memory for all lanes of a warp; returns the lanes that are left to do.
template <class T, class Register, Space kSpace, bool kLoads>
[[gnu::always_inline]] inline Mask access_halves(Warp& warp, Step const& step, Register* its) {
  Mask left = 0;
  for (unsigned half = 0; half < kLanes; half += kHalf) {
    bool done = false;
    if (step.base == kNowhere || step.base_width == 8) {
      U64 const* const base = step.base == kNowhere ? nullptr : warp.at<U64>(step.base) + half;
      done = access_half<T, Register, kSpace, kLoads>(warp, step, base, its + half);
    } else {
      done = access_half<T, Register, kSpace, kLoads>(warp, step, warp.at<U32>(step.base) + half, its + half);
    }
    if (!done) left |= Mask{0xffff} << half;
  }
  return left;
}

// The fast path of loads and stores of one element by all lanes; returns the lanes that are left to do.
template <class T, Space kSpace, bool kLoads>
[[gnu::always_inline]] inline Mask wide_access(Warp& warp, Step const& step) {
  if (kThreadSanitizer && kSpace == Space::global) return kAllLanes;  // it asks for atomics
  Location const location = kLoads ? step.destination[0] : step.source[0];
  std::uint8_t const width = kLoads ? step.width[0] : step.source_width[0];
  bool const is_plain = step.count == 1 && step.choice == 0 && !step.frame_relative && location != kNowhere;
  if (kSpace == Space::local || !is_plain) return kAllLanes;
  using Unsigned = std::make_unsigned_t<T>;
  if (width == sizeof(T))
    return access_halves<Unsigned, Unsigned, kSpace, kLoads>(warp, step, warp.at<Unsigned>(location));
  if (width == 4) return access_halves<T, U32, kSpace, kLoads>(warp, step, warp.at<U32>(location));
  return width == 2 ? access_halves<T, U16, kSpace, kLoads>(warp, step, warp.at<U16>(location)) : kAllLanes;
}

template <class T, Space kSpace>
bool load_lanes(Warp& warp, Step const& step, Mask lanes) {
  auto const bytes = static_cast<std::uint32_t>(sizeof(T)) * step.count;
  for (; lanes != 0; lanes &= lanes - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(lanes));
    std::byte const* const from = warp.block.quick<kSpace>(warp, step, lane, bytes);
    if (from == nullptr) return false;
    for (unsigned i = 0; i < step.count; ++i) {
      int const order = step.choice == kAcquire ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED;
      write_register<T>(warp, step, i, lane, load_one<T, kSpace == Space::global>(from + i * sizeof(T), order));
    }
  }
  return true;
}

template <class T, Space kSpace>
bool store_lanes(Warp& warp, Step const& step, Mask lanes) {
  using Bits = std::make_unsigned_t<T>;
  auto const bytes = static_cast<std::uint32_t>(sizeof(T)) * step.count;
  for (; lanes != 0; lanes &= lanes - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(lanes));
    Bits values[4] = {};
    for (unsigned i = 0; i < step.count; ++i) values[i] = read_register<Bits>(warp, step, i, lane);
    std::byte* const to = warp.block.quick<kSpace>(warp, step, lane, bytes);
    if (to == nullptr) return false;
    for (unsigned i = 0; i < step.count; ++i) {
      store_one<Bits, kSpace == Space::global>(to + i * sizeof(T), values[i],
                                               step.choice == kRelease ? __ATOMIC_RELEASE : __ATOMIC_RELAXED);
    }
  }
  return true;
}

template <class T, Space kSpace>
bool load_basic(Warp& warp, Step const& step, Mask lanes) {
  if (lanes == kAllLanes) lanes = wide_access<T, kSpace, true>(warp, step);
  return load_lanes<T, kSpace>(warp, step, lanes);
}
template <class T, Space kSpace>
CUDA_CPU_WIDE bool load_wide(Warp& warp, Step const& step, Mask lanes) {
  if (lanes == kAllLanes) lanes = wide_access<T, kSpace, true>(warp, step);
  return lanes == 0 || load_lanes<T, kSpace>(warp, step, lanes);
}
template <class T, Space kSpace>
bool store_basic(Warp& warp, Step const& step, Mask lanes) {
  if (lanes == kAllLanes) lanes = wide_access<T, kSpace, false>(warp, step);
  return store_lanes<T, kSpace>(warp, step, lanes);
}
template <class T, Space kSpace>
CUDA_CPU_WIDE bool store_wide(Warp& warp, Step const& step, Mask lanes) {
  if (lanes == kAllLanes) lanes = wide_access<T, kSpace, false>(warp, step);
  return lanes == 0 || store_lanes<T, kSpace>(warp, step, lanes);
}

bool fence(Warp&, Step const&, Mask) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return true;
}

bool check_parameter(Warp& warp, Step const& step, unsigned lane, U64 at, U64 bytes) {
  U64 const size = warp.block.launch.parameters.size();
  if (at > size || bytes > size - at) {
    return warp.block.fail(warp, step, Mask{1} << lane, FaultKind::illegal_address, "an access beyond the parameters",
                           at);
  }
  return at % bytes == 0 || warp.block.fail(warp, step, Mask{1} << lane, FaultKind::misaligned_address,
                                            "a misaligned access to a parameter", at);
}

// Writes an element to the same register of each lane. Extends a signed T by its sign in a wider register.
template <class T>
void broadcast(Warp& warp, Step const& step, unsigned i, T value, Mask lanes) {
  Location const to = step.destination[i];
  if (to == kNowhere) return;
  switch (step.width[i]) {
    case 2: fill_lanes(warp.at<U16>(to), static_cast<U16>(value), lanes); break;
    case 4: fill_lanes(warp.at<U32>(to), static_cast<U32>(value), lanes); break;
    default: fill_lanes(warp.at<U64>(to), static_cast<U64>(value), lanes);
  }
}

// Loads from the parameter buffer of the launch: once for the warp if the address is constant.
template <class T>
bool load_parameter(Warp& warp, Step const& step, Mask lanes) {
  std::byte const* const parameters = warp.block.launch.parameters.data();
  auto const bytes = sizeof(T) * step.count;
  if (step.base == kNowhere) {
    U64 const at = address_of(warp, step, 0);
    if (!check_parameter(warp, step, static_cast<unsigned>(std::countr_zero(lanes)), at, bytes)) return false;
    for (unsigned i = 0; i < step.count; ++i)
      broadcast<T>(warp, step, i, load_one<T, false>(parameters + at + i * sizeof(T), 0), lanes);
    return true;
  }
  for (; lanes != 0; lanes &= lanes - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(lanes));
    U64 const at = address_of(warp, step, lane);
    if (!check_parameter(warp, step, lane, at, bytes)) return false;
    for (unsigned i = 0; i < step.count; ++i)
      write_register<T>(warp, step, i, lane, load_one<T, false>(parameters + at + i * sizeof(T), 0));
  }
  return true;
}

template <class T, Space kSpace>
Handler select_direction(Form const& form) {
  if (form.opcode() == "st") return Versions<&store_basic<T, kSpace>, &store_wide<T, kSpace>>();
  return Versions<&load_basic<T, kSpace>, &load_wide<T, kSpace>>();
}

// Generic and constant addresses are handled like global addresses.
template <class T>
Handler select_width(Form const& form, Step const& step) {
  if (step.space == Space::param) return form.opcode() == "st" ? nullptr : Handler{load_parameter<T>};
  if (step.space == Space::shared) return select_direction<T, Space::shared>(form);
  return step.space == Space::local ? select_direction<T, Space::local>(form)
                                    : select_direction<T, Space::global>(form);
}

}  // namespace

Handler select_memory(Form const& form, Step& step) {
  std::string_view const op = form.opcode();
  if (op == "membar" || op == "fence") {
    step.span = SpanKind::memory_fence;
    return fence;
  }
  if (op != "ld" && op != "st" && op != "ldu") return nullptr;
  bool const loads = op != "st";
  step.writes = !loads;
  if (form.space == Space::shared) step.span = loads ? SpanKind::lds : SpanKind::sts;
  if (form.space == Space::global || form.space == Space::generic) step.span = loads ? SpanKind::ldg : SpanKind::stg;
  step.count = static_cast<std::uint8_t>(form.vector_size);
  step.bytes = static_cast<std::uint8_t>(size_bytes(form.type) * form.vector_size);
  step.choice = form.has("acquire") ? kAcquire : form.has("release") ? kRelease : 0;
  switch (form.type) {
    case Type::s8: return select_width<std::int8_t>(form, step);
    case Type::s16: return select_width<std::int16_t>(form, step);
    case Type::s32: return select_width<std::int32_t>(form, step);
    case Type::s64: return select_width<std::int64_t>(form, step);
    default: break;
  }
  switch (size_bytes(form.type)) {
    case 1: return select_width<std::uint8_t>(form, step);
    case 2: return select_width<std::uint16_t>(form, step);
    case 4: return select_width<std::uint32_t>(form, step);
    default: return select_width<std::uint64_t>(form, step);
  }
}

}  // namespace cuda_cpu
