// mma and wmma.mma: D = A * B + C.
//
// Integers are exact. Sums of doubles are fused multiply-adds in the order of k. For the narrower floating-point types
// products are exact and added in double precision, in the order of k, with one rounding at the end; a GPU, which adds
// in an order and with intermediate roundings of its own, differs in the last bits.
#include "cuda_cpu/executor/matrix.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "cuda_cpu/executor/numbers.h"

namespace cuda_cpu {
namespace {

constexpr unsigned kMaxResults = 256;  // elements of D

Element find_element(std::string_view word) {
  static constexpr std::pair<std::string_view, Element> kNames[] = {
      {"b1", Element::b1},   {"s4", Element::s4},     {"u4", Element::u4},     {"s8", Element::s8},
      {"u8", Element::u8},   {"s32", Element::s32},   {"e4m3", Element::e4m3}, {"e5m2", Element::e5m2},
      {"f16", Element::f16}, {"bf16", Element::bf16}, {"tf32", Element::tf32}, {"f32", Element::f32},
      {"f64", Element::f64}};
  auto const* const found = std::ranges::find(kNames, word, &std::pair<std::string_view, Element>::first);
  return found == std::end(kNames) ? Element::none : found->second;
}

// Four bits of exponent and three of fraction; no infinities, and one NaN.
double e4m3_to_double(U32 bits) {
  if ((bits & 0x7f) == 0x7f) return std::numeric_limits<double>::quiet_NaN();
  double const magnitude = static_cast<double>(as_float((bits & 0x7f) << 20) * 0x1p120f);
  return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

// The value of an element, given its bits.
template <Element kElement>
double value_of(U32 bits) {
  if constexpr (kElement == Element::f16)
    return static_cast<double>(half_to_float(static_cast<U16>(bits)));
  else if constexpr (kElement == Element::bf16)
    return static_cast<double>(as_float(bits << 16));
  else if constexpr (kElement == Element::tf32)
    return static_cast<double>(as_float(bits & 0xffffe000));
  else if constexpr (kElement == Element::e4m3)
    return e4m3_to_double(bits);
  else
    return static_cast<double>(half_to_float(static_cast<U16>(bits << 8)));  // e5m2
}
template <Element kElement>
std::int32_t integer_of(U32 bits) {
  if constexpr (kElement == Element::s8) return static_cast<std::int8_t>(bits);
  if constexpr (kElement == Element::s4) return static_cast<std::int32_t>(bits ^ 8) - 8;
  return static_cast<std::int32_t>(bits);
}

// Reads A or B from the registers of the warp into `to`, by row.
template <bool kIsB, Element kElement, class T>
void gather(Warp& warp, std::vector<Location> const& registers, unsigned rows, unsigned columns, T* to) {
  constexpr unsigned kEach = per_register(kElement);
  constexpr U32 kMask = kEach == 1 ? ~U32{0} : (U32{1} << (32 / kEach % 32)) - 1;
  auto const visit = [&](unsigned place, unsigned lane, unsigned row, unsigned column) {
    T& value = to[row * columns + column];
    if constexpr (kElement == Element::f64) {
      value = as_double(warp.at<U64>(registers[place])[lane]);
    } else {
      U32 const bits = warp.at<U32>(registers[place / kEach])[lane] >> (place % kEach * (32 / kEach)) & kMask;
      if constexpr (kElement == Element::b1)
        value = bits;
      else if constexpr (std::is_same_v<T, double>)
        value = value_of<kElement>(bits);
      else
        value = integer_of<kElement>(bits);
    }
  };
  if constexpr (kIsB)
    each_of_b(rows, columns, kEach, visit);
  else
    each_of_a(rows, columns, kEach, visit);
}

template <bool kIsB>
void gather_floats(Element element, Warp& warp, std::vector<Location> const& registers, unsigned rows, unsigned columns,
                   double* to) {
  switch (element) {
    case Element::f16:
      return gather<kIsB, Element::f16>(warp, registers, rows, columns, to);
    case Element::bf16:
      return gather<kIsB, Element::bf16>(warp, registers, rows, columns, to);
    case Element::tf32:
      return gather<kIsB, Element::tf32>(warp, registers, rows, columns, to);
    case Element::e4m3:
      return gather<kIsB, Element::e4m3>(warp, registers, rows, columns, to);
    case Element::e5m2:
      return gather<kIsB, Element::e5m2>(warp, registers, rows, columns, to);
    default:
      return gather<kIsB, Element::f64>(warp, registers, rows, columns, to);
  }
}
template <bool kIsB>
void gather_integers(Element element, Warp& warp, std::vector<Location> const& registers, unsigned rows,
                     unsigned columns, std::int32_t* to) {
  switch (element) {
    case Element::s4:
      return gather<kIsB, Element::s4>(warp, registers, rows, columns, to);
    case Element::u4:
      return gather<kIsB, Element::u4>(warp, registers, rows, columns, to);
    case Element::s8:
      return gather<kIsB, Element::s8>(warp, registers, rows, columns, to);
    default:
      return gather<kIsB, Element::u8>(warp, registers, rows, columns, to);
  }
}

// Calls add(sum, a, b) in the order of k, for all elements of D. Eight columns at once are independent.
template <class T, class Sum, class Add>
void multiply(MatrixShape const& shape, T const* a, T const* b, Sum* d, Add const& add) {
  for (unsigned row = 0; row < shape.m; ++row) {
    for (unsigned column = 0; column < shape.n; column += 8) {
      Sum* const sums = d + row * shape.n + column;
      for (unsigned k = 0; k < shape.k; ++k) {
        T const value = a[row * shape.k + k];
        T const* const others = b + k * shape.n + column;
        for (unsigned i = 0; i < 8; ++i) add(sums[i], value, others[i]);
      }
    }
  }
}

void read_c(Warp& warp, Step const& step, double* c) {
  auto const& registers = step.many->registers[3];
  each_of_c(step.matrix.m, step.matrix.n, [&](unsigned place, unsigned lane, unsigned row, unsigned column) {
    double& value = c[row * step.matrix.n + column];
    if (step.matrix.c == Element::f64) {
      value = as_double(warp.at<U64>(registers[place])[lane]);
    } else if (step.matrix.c == Element::f16) {
      value = value_of<Element::f16>(warp.at<U32>(registers[place / 2])[lane] >> (place % 2 * 16) & 0xffff);
    } else {
      value = static_cast<double>(as_float(warp.at<U32>(registers[place])[lane]));
    }
  });
}

void write_d(Warp& warp, Step const& step, double const* d) {
  auto const& registers = step.many->registers[0];
  each_of_c(step.matrix.m, step.matrix.n, [&](unsigned place, unsigned lane, unsigned row, unsigned column) {
    double const value = d[row * step.matrix.n + column];
    if (step.matrix.d == Element::f64) {
      warp.at<U64>(registers[place])[lane] = bits_of(value);
    } else if (step.matrix.d == Element::f16) {
      U32& pair = warp.at<U32>(registers[place / 2])[lane];
      U32 const half = double_to_half(value, Rounding::nearest);
      pair = place % 2 == 0 ? half : (pair & 0xffff) | half << 16;
    } else {
      warp.at<U32>(registers[place])[lane] = bits_of(static_cast<float>(value));
    }
  });
}

template <bool kFused>
bool multiply_floats(Warp& warp, Step const& step, Mask lanes) {
  if (!is_whole_warp(warp, step, lanes)) return false;
  auto const& shape = step.matrix;
  auto const& registers = step.many->registers;
  double a[kMaxElements], b[kMaxElements], d[kMaxResults];
  gather_floats<false>(shape.a, warp, registers[1], shape.m, shape.k, a);
  gather_floats<true>(shape.b, warp, registers[2], shape.k, shape.n, b);
  read_c(warp, step, d);
  if constexpr (kFused) {
    RoundingScope const scope(step.rounding);
    multiply(shape, a, b, d, [](double& sum, double x, double y) { sum = std::fma(x, y, sum); });
  } else {
    multiply(shape, a, b, d, [](double& sum, double x, double y) { sum += x * y; });
  }
  write_d(warp, step, d);
  return true;
}

void add_to_c(Warp& warp, Step const& step, std::int32_t const* sums) {
  auto const& registers = step.many->registers;
  each_of_c(step.matrix.m, step.matrix.n, [&](unsigned place, unsigned lane, unsigned row, unsigned column) {
    std::int64_t const c = static_cast<std::int32_t>(warp.at<U32>(registers[3][place])[lane]);
    std::int64_t result = c + sums[row * step.matrix.n + column];
    if (step.saturate) {
      result = std::clamp<std::int64_t>(result, std::numeric_limits<std::int32_t>::min(),
                                        std::numeric_limits<std::int32_t>::max());
    }
    warp.at<U32>(registers[0][place])[lane] = static_cast<U32>(result);
  });
}

bool multiply_integers(Warp& warp, Step const& step, Mask lanes) {
  if (!is_whole_warp(warp, step, lanes)) return false;
  auto const& shape = step.matrix;
  std::int32_t a[kMaxElements], b[kMaxElements], sums[kMaxResults] = {};
  gather_integers<false>(shape.a, warp, step.many->registers[1], shape.m, shape.k, a);
  gather_integers<true>(shape.b, warp, step.many->registers[2], shape.k, shape.n, b);
  multiply(shape, a, b, sums, [](std::int32_t& sum, std::int32_t x, std::int32_t y) { sum += x * y; });
  add_to_c(warp, step, sums);
  return true;
}

template <bool kXor>
bool multiply_bits(Warp& warp, Step const& step, Mask lanes) {
  if (!is_whole_warp(warp, step, lanes)) return false;
  auto const& shape = step.matrix;
  U32 a[kMaxElements], b[kMaxElements];
  std::int32_t sums[kMaxResults] = {};
  gather<false, Element::b1>(warp, step.many->registers[1], shape.m, shape.k, a);
  gather<true, Element::b1>(warp, step.many->registers[2], shape.k, shape.n, b);
  multiply(shape, a, b, sums, [](std::int32_t& sum, U32 x, U32 y) { sum += std::popcount(kXor ? x ^ y : x & y); });
  add_to_c(warp, step, sums);
  return true;
}

enum class Tf32Rounding : std::uint8_t { nearest_away, nearest, zero };

// Rounds to the ten stored bits of the significand of tf32; NaN is canonical.
template <Tf32Rounding kRounding, bool kRelu>
U32 to_tf32(U32 bits) {
  constexpr U32 kLow = 0x1fff;
  if ((bits & 0x7fffffff) > 0x7f800000) return kNan32;
  if (kRelu && (bits & 0x80000000) != 0) return 0;
  if ((bits & 0x7f800000) == 0x7f800000) return bits;
  if (kRounding == Tf32Rounding::nearest_away) bits += 0x1000;  // a carry into the exponent is right, too
  if (kRounding == Tf32Rounding::nearest) bits += 0xfff + (bits >> 13 & 1);
  return bits & ~kLow;
}

}  // namespace

void set_matrix(Form const& form, Step& step) {
  auto& matrix = step.matrix;
  std::vector<Element> types;
  for (auto const word : form.words) {
    unsigned m = 0, n = 0, k = 0;
    if (std::sscanf(std::string(word).c_str(), "m%un%uk%u", &m, &n, &k) == 3) {
      matrix.m = static_cast<std::uint8_t>(m);
      matrix.n = static_cast<std::uint8_t>(n);
      matrix.k = static_cast<std::uint8_t>(form.has("b1") ? k / 32 : k);
    }
    if (Element const element = find_element(word); element != Element::none) types.push_back(element);
  }
  if (types.size() == 4) {
    matrix.d = types[0];
    matrix.a = types[1];
    matrix.b = types[2];
    matrix.c = types[3];
  } else {  // wmma of halves names only D and C, and a load or store only its own type
    matrix.d = types.front();
    matrix.c = types.back();
    matrix.a = matrix.b = types.size() == 2 ? Element::f16 : types.front();
  }
}

bool is_whole_warp(Warp& warp, Step const& step, Mask lanes) {
  if (lanes == kAllLanes) return true;
  return warp.block.fail(
      warp, step, lanes, FaultKind::barrier,
      "an instruction of all 32 lanes of a warp, of which only " + std::to_string(std::popcount(lanes)) + " are there");
}

Handler select_matrix(Form const& form, Step& step) {
  std::string_view const op = form.opcode();
  if (op == "cvt" && form.has("tf32")) {
    if (form.has("rna")) return map<&to_tf32<Tf32Rounding::nearest_away, false>>;
    if (form.has("rn"))
      return form.has("relu") ? map<&to_tf32<Tf32Rounding::nearest, true>>
                              : map<&to_tf32<Tf32Rounding::nearest, false>>;
    return form.has("relu") ? map<&to_tf32<Tf32Rounding::zero, true>> : map<&to_tf32<Tf32Rounding::zero, false>>;
  }
  if (op != "mma" && (op != "wmma" || !form.has("mma"))) return nullptr;
  step.kind = StepKind::collective;
  step.saturate = form.has("satfinite");
  set_matrix(form, step);
  switch (step.matrix.a) {
    case Element::f64:
      return multiply_floats<true>;
    case Element::b1:
      return form.has("xor") ? multiply_bits<true> : multiply_bits<false>;
    case Element::s4:
    case Element::u4:
    case Element::s8:
    case Element::u8:
      return multiply_integers;
    default:
      return multiply_floats<false>;
  }
}

}  // namespace cuda_cpu
