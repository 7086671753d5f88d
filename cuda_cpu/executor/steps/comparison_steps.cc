// Implements setp, set, selp and slct.
#include <algorithm>

#include "cuda_cpu/executor/steps/map.h"
#include "cuda_cpu/executor/steps/numbers.h"

namespace cuda_cpu {
namespace {

// Two values have one of four relations; a comparison accepts some of these.
constexpr unsigned kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8;

struct Comparison {
  std::string_view name;
  unsigned accepts;
};
constexpr Comparison kComparisons[] = {{"eq", kEqual},
                                       {"ne", kLess | kGreater},
                                       {"lt", kLess},
                                       {"le", kLess | kEqual},
                                       {"gt", kGreater},
                                       {"ge", kGreater | kEqual},
                                       {"lo", kLess},
                                       {"ls", kLess | kEqual},
                                       {"hi", kGreater},
                                       {"hs", kGreater | kEqual},
                                       {"equ", kEqual | kUnordered},
                                       {"neu", kLess | kGreater | kUnordered},
                                       {"ltu", kLess | kUnordered},
                                       {"leu", kLess | kEqual | kUnordered},
                                       {"gtu", kGreater | kUnordered},
                                       {"geu", kGreater | kEqual | kUnordered},
                                       {"num", kLess | kEqual | kGreater},
                                       {"nan", kUnordered}};

constexpr std::uint8_t kCombines = 0x30;   // bits of Step::choice: 0x10 and, 0x20 or, 0x30 xor
constexpr std::uint8_t kTrueIsOne = 0x40;  // bit of Step::choice: set to a floating-point type

template <class T>
unsigned relation(T a, T b) {
  return (a < b ? kLess : 0) | (a == b ? kEqual : 0) | (a > b ? kGreater : 0) | (a != a || b != b ? kUnordered : 0);
}

// Returns the value of source `i` in a lane, as the form's type.
template <Type kType>
[[gnu::always_inline]] inline auto value_of(Warp& warp, Step const& step, unsigned i, unsigned lane,
                                            unsigned shift = 0) {
  Location const from = step.source[i];
  if constexpr (kType == Type::f32)
    return step.ftz ? flushed(as_float(warp.at<U32>(from)[lane])) : as_float(warp.at<U32>(from)[lane]);
  else if constexpr (kType == Type::f64)
    return as_double(warp.at<U64>(from)[lane]);
  else if constexpr (kType == Type::f16 || kType == Type::f16x2) {
    auto const half =
        kType == Type::f16 ? warp.at<U16>(from)[lane] : static_cast<U16>(warp.at<U32>(from)[lane] >> shift);
    return half_to_float(step.ftz ? flushed_half(half) : half);
  } else if constexpr (kType == Type::bf16)
    return bfloat_to_float(warp.at<U16>(from)[lane]);
  else if constexpr (kType == Type::bf16x2)
    return bfloat_to_float(static_cast<U16>(warp.at<U32>(from)[lane] >> shift));
  else if constexpr (kType == Type::s16)
    return static_cast<std::int16_t>(warp.at<U16>(from)[lane]);
  else if constexpr (kType == Type::s32)
    return static_cast<std::int32_t>(warp.at<U32>(from)[lane]);
  else if constexpr (kType == Type::s64)
    return static_cast<std::int64_t>(warp.at<U64>(from)[lane]);
  else if constexpr (kType == Type::u16)
    return warp.at<U16>(from)[lane];
  else if constexpr (kType == Type::u32)
    return warp.at<U32>(from)[lane];
  else
    return warp.at<U64>(from)[lane];
}

template <Type kType>
constexpr bool kPair = kType == Type::f16x2 || kType == Type::bf16x2;

template <Type kType>
Mask compared(Warp& warp, Step const& step, Mask lanes, unsigned shift = 0) {
  unsigned const accepts = step.choice & 15;
  Mask result = 0;
  each_lane(lanes, [&](unsigned i) {
    unsigned const holds = relation(value_of<kType>(warp, step, 0, i, shift), value_of<kType>(warp, step, 1, i, shift));
    result |= Mask{(accepts & holds) != 0} << i;
  });
  return result;
}

// As compared(), for all lanes: a loop without branches, which the compiler vectorizes.
template <Type kType>
[[gnu::always_inline]] inline Mask compared_all(Warp& warp, Step const& step) {
  unsigned const accepts = step.choice & 15;
  auto const accepted = [accepts](unsigned relation) { return static_cast<std::uint8_t>((accepts & relation) != 0); };
  std::uint8_t const less = accepted(kLess), equal = accepted(kEqual), greater = accepted(kGreater),
                     unordered = accepted(kUnordered);
  std::uint8_t flags[kLanes];
  CUDA_CPU_EACH_LANE
  for (unsigned i = 0; i < kLanes; ++i) {
    auto const a = value_of<kType>(warp, step, 0, i), b = value_of<kType>(warp, step, 1, i);
    auto const flag = static_cast<std::uint8_t>((a < b ? less : 0) | (a == b ? equal : 0) | (a > b ? greater : 0));
    flags[i] = static_cast<std::uint8_t>(flag | (a != a || b != b ? unordered : 0));
  }
  return packed(flags);
}

Mask combined(Warp& warp, Step const& step, Mask result) {
  switch (step.choice & kCombines) {
    case 0x10: return result & warp.predicate_source(step, 2);
    case 0x20: return result | warp.predicate_source(step, 2);
    case 0x30: return result ^ warp.predicate_source(step, 2);
    default: return result;
  }
}

template <Type kType>
[[gnu::always_inline]] inline bool setp_with(Warp& warp, Step const& step, Mask lanes) {
  Mask const result = lanes == kAllLanes ? compared_all<kType>(warp, step) : compared<kType>(warp, step, lanes);
  Mask const first = combined(warp, step, result);
  Mask const second =
      kPair<kType> ? combined(warp, step, compared<kType>(warp, step, lanes, 16)) : combined(warp, step, ~result);
  if (step.destination[0] != kNowhere) warp.set_predicate(step.destination[0], first, lanes);
  if (step.destination[1] != kNowhere) warp.set_predicate(step.destination[1], second, lanes);
  return true;
}

template <Type kType>
bool setp_basic(Warp& warp, Step const& step, Mask lanes) {
  return setp_with<kType>(warp, step, lanes);
}
template <Type kType>
CUDA_CPU_WIDE bool setp_wide(Warp& warp, Step const& step, Mask lanes) {
  return setp_with<kType>(warp, step, lanes);
}
template <Type kType>
constexpr Versions<&setp_basic<kType>, &setp_wide<kType>> setp{};

template <Type kType>
bool set(Warp& warp, Step const& step, Mask lanes) {
  Mask const result = combined(warp, step, compared<kType>(warp, step, lanes));
  bool const one = (step.choice & kTrueIsOne) != 0;
  constexpr U32 kOne16 = kType == Type::bf16 || kType == Type::bf16x2 ? 0x3f80 : 0x3c00;
  U32 const true16 = one ? kOne16 : 0xffff;
  if (step.width[0] == 2) {
    U16* const to = warp.at<U16>(step.destination[0]);
    each_lane(lanes, [&](unsigned i) { to[i] = static_cast<U16>((result >> i & 1) * true16); });
  } else if (kPair<kType>) {
    Mask const upper = combined(warp, step, compared<kType>(warp, step, lanes, 16));
    U32* const to = warp.at<U32>(step.destination[0]);
    each_lane(lanes, [&](unsigned i) { to[i] = (result >> i & 1) * true16 | (upper >> i & 1) * (true16 << 16); });
  } else {
    U32* const to = warp.at<U32>(step.destination[0]);
    each_lane(lanes, [&](unsigned i) { to[i] = (result >> i & 1) == 0 ? 0 : one ? 0x3f800000 : 0xffffffff; });
  }
  return true;
}

template <Type kType>
Handler select_typed(Form const& form) {
  return form.opcode() == "setp" ? Handler{setp<kType>} : Handler{set<kType>};
}

Handler select_comparing(Form const& form) {
  switch (form.type) {
    case Type::u16:
    case Type::b16: return select_typed<Type::u16>(form);
    case Type::u32:
    case Type::b32: return select_typed<Type::u32>(form);
    case Type::u64:
    case Type::b64: return select_typed<Type::u64>(form);
    case Type::s16: return select_typed<Type::s16>(form);
    case Type::s32: return select_typed<Type::s32>(form);
    case Type::s64: return select_typed<Type::s64>(form);
    case Type::f16: return select_typed<Type::f16>(form);
    case Type::f16x2: return select_typed<Type::f16x2>(form);
    case Type::bf16: return select_typed<Type::bf16>(form);
    case Type::bf16x2: return select_typed<Type::bf16x2>(form);
    case Type::f32: return select_typed<Type::f32>(form);
    case Type::f64: return select_typed<Type::f64>(form);
    default: return nullptr;
  }
}

template <class T>
[[gnu::always_inline]] inline bool selp_with(Warp& warp, Step const& step, Mask lanes) {
  T const *const a = warp.at<T>(step.source[0]), *const b = warp.at<T>(step.source[1]);
  T* const to = warp.at<T>(step.destination[0]);
  Mask const which = warp.predicate_source(step, 2);
  if (lanes == kAllLanes) {
    CUDA_CPU_EACH_LANE
    for (unsigned i = 0; i < kLanes; ++i) to[i] = (which >> i & 1) != 0 ? a[i] : b[i];
  } else {
    each_lane(lanes, [&](unsigned i) { to[i] = (which >> i & 1) != 0 ? a[i] : b[i]; });
  }
  return true;
}
template <class T>
bool selp_basic(Warp& warp, Step const& step, Mask lanes) {
  return selp_with<T>(warp, step, lanes);
}
template <class T>
CUDA_CPU_WIDE bool selp_wide(Warp& warp, Step const& step, Mask lanes) {
  return selp_with<T>(warp, step, lanes);
}
template <class T>
constexpr Versions<&selp_basic<T>, &selp_wide<T>> selp{};

// Chooses by the sign of the third source. Negative zero counts as positive, NaN as negative.
template <class T, bool kFloat>
bool slct(Warp& warp, Step const& step, Mask lanes) {
  T const *const a = warp.at<T>(step.source[0]), *const b = warp.at<T>(step.source[1]);
  U32 const* const c = warp.at<U32>(step.source[2]);
  T* const to = warp.at<T>(step.destination[0]);
  each_lane(lanes, [&](unsigned i) {
    bool first = static_cast<std::int32_t>(c[i]) >= 0;
    if (kFloat) first = (step.ftz ? flushed(as_float(c[i])) : as_float(c[i])) >= 0;
    to[i] = first ? a[i] : b[i];
  });
  return true;
}

template <class T>
Handler select_choice(Form const& form) {
  if (form.opcode() == "selp") return selp<T>;
  return form.type == Type::f32 ? slct<T, true> : slct<T, false>;
}

}  // namespace

Handler select_comparison(Form const& form, Step& step) {
  std::string_view const op = form.opcode();
  if (op == "selp" || op == "slct") {
    switch (size_bytes(form.first_type)) {
      case 2: return select_choice<U16>(form);
      case 4: return select_choice<U32>(form);
      default: return select_choice<U64>(form);
    }
  }
  if (op != "setp" && op != "set") return nullptr;
  step.choice = static_cast<std::uint8_t>(std::ranges::find(kComparisons, form.words[1], &Comparison::name)->accepts);
  if (form.has("and")) step.choice |= 0x10;
  if (form.has("or")) step.choice |= 0x20;
  if (form.has("xor")) step.choice |= 0x30;
  if (op == "set" && ptx::is_float(form.first_type)) step.choice |= kTrueIsOne;
  return select_comparing(form);
}

}  // namespace cuda_cpu
