// Implements mma and wmma.mma: D = A * B + C.
//
// Integers are exact. Sums of doubles are fused multiply-adds in the order of k. For the narrower floating-point types
// products are exact and added in double precision, in the order of k, with one rounding at the end. A GPU adds in a
// different order and rounds in between, so it differs in the last bits.
#include "cuda_cpu/executor/steps/matrix.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>

#include "cuda_cpu/executor/steps/numbers.h"

namespace cuda_cpu {
namespace {

constexpr unsigned kMaxResults = 256;  // number of elements in D

Element find_element(std::string_view word) {
  static constexpr std::pair<std::string_view, Element> kNames[] = {
      {"b1", Element::b1},   {"s4", Element::s4},     {"u4", Element::u4},     {"s8", Element::s8},
      {"u8", Element::u8},   {"s32", Element::s32},   {"e4m3", Element::e4m3}, {"e5m2", Element::e5m2},
      {"f16", Element::f16}, {"bf16", Element::bf16}, {"tf32", Element::tf32}, {"f32", Element::f32},
      {"f64", Element::f64}};
  auto const* const found = std::ranges::find(kNames, word, &std::pair<std::string_view, Element>::first);
  return found == std::end(kNames) ? Element::none : found->second;
}

// Converts a half without branches, so that the compiler vectorizes loops over it.
float half_value(U16 half) {
  U32 const magnitude = (half & 0x7fffu) << 13;
  U32 const finite = std::bit_cast<U32>(as_float(magnitude) * 0x1p112f);
  return as_float((magnitude >= 0x0f800000 ? magnitude | 0x7f800000 : finite) | U32{half & 0x8000u} << 16);
}

// Reads the elements that a register of the warp holds, lane after lane.
template <Element kElement, class T>
void unpack(Warp& warp, Location from, T* to) {
  U32 const* const words = warp.at<U32>(from);
  constexpr unsigned kCount = kLanes * per_register(kElement);
  if constexpr (kElement == Element::f64) {
    std::memcpy(to, words, kCount * sizeof(double));
  } else if constexpr (kElement == Element::b1) {
    std::memcpy(to, words, kCount * sizeof(U32));
  } else if constexpr (kElement == Element::tf32) {
    for (unsigned i = 0; i < kCount; ++i) to[i] = static_cast<double>(as_float(words[i] & 0xffffe000));
  } else if constexpr (kElement == Element::f16 || kElement == Element::bf16) {
    U16 halves[kCount];
    std::memcpy(halves, words, sizeof halves);
    for (unsigned i = 0; i < kCount; ++i) {
      to[i] = static_cast<double>(kElement == Element::f16 ? half_value(halves[i]) : as_float(U32{halves[i]} << 16));
    }
  } else if constexpr (kElement == Element::s4 || kElement == Element::u4) {
    for (unsigned i = 0; i < kCount; ++i) {
      auto const value = static_cast<std::int32_t>(words[i / 8] >> (i % 8 * 4) & 15);
      to[i] = kElement == Element::s4 ? (value ^ 8) - 8 : value;
    }
  } else {
    std::uint8_t bytes[kCount];
    std::memcpy(bytes, words, sizeof bytes);
    for (unsigned i = 0; i < kCount; ++i) {
      if constexpr (kElement == Element::e4m3)
        to[i] = static_cast<double>(half_value(e4m3_to_half(bytes[i])));
      else if constexpr (kElement == Element::e5m2)
        to[i] = static_cast<double>(half_value(static_cast<U16>(bytes[i] << 8)));
      else
        to[i] = kElement == Element::s8 ? static_cast<std::int8_t>(bytes[i]) : bytes[i];
    }
  }
}

// Reads A or B from the registers of the warp into `to`, by row.
template <bool kIsB, Element kElement, class T>
void gather(Warp& warp, std::vector<Location> const& registers, unsigned rows, unsigned columns, T* to) {
  constexpr unsigned kEach = per_register(kElement), kWidth = 4 * kEach;
  T values[8 * kWidth];
  auto const visit = [&](unsigned i, unsigned row, unsigned column) {
    unpack<kElement>(warp, registers[i], values);
    T* const first = to + row * columns + column;
    for (unsigned major = 0; major < 8; ++major) {
      T const* const from = values + major * kWidth;
      if constexpr (kIsB)
        for (unsigned minor = 0; minor < kWidth; ++minor) first[minor * columns + major] = from[minor];
      else
        std::copy_n(from, kWidth, first + major * columns);
    }
  };
  if constexpr (kIsB)
    each_register_of_b(rows, columns, kEach, visit);
  else
    each_register_of_a(rows, columns, kEach, visit);
}

template <bool kIsB>
void gather_floats(Element element, Warp& warp, std::vector<Location> const& registers, unsigned rows, unsigned columns,
                   double* to) {
  switch (element) {
    case Element::f16: return gather<kIsB, Element::f16>(warp, registers, rows, columns, to);
    case Element::bf16: return gather<kIsB, Element::bf16>(warp, registers, rows, columns, to);
    case Element::tf32: return gather<kIsB, Element::tf32>(warp, registers, rows, columns, to);
    case Element::e4m3: return gather<kIsB, Element::e4m3>(warp, registers, rows, columns, to);
    case Element::e5m2: return gather<kIsB, Element::e5m2>(warp, registers, rows, columns, to);
    default: return gather<kIsB, Element::f64>(warp, registers, rows, columns, to);
  }
}
template <bool kIsB>
void gather_integers(Element element, Warp& warp, std::vector<Location> const& registers, unsigned rows,
                     unsigned columns, std::int32_t* to) {
  switch (element) {
    case Element::s4: return gather<kIsB, Element::s4>(warp, registers, rows, columns, to);
    case Element::u4: return gather<kIsB, Element::u4>(warp, registers, rows, columns, to);
    case Element::s8: return gather<kIsB, Element::s8>(warp, registers, rows, columns, to);
    default: return gather<kIsB, Element::u8>(warp, registers, rows, columns, to);
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

// Calls visit(place, first) for each element of the fragments of C. The element of lane 0 is at `first` in the matrix,
// the element of another lane at `first` plus offset_of().
template <class Visit>
void each_lane_of_c(MatrixShape const& shape, Visit const& visit) {
  each_pair_of_c(shape.m, shape.n, [&](unsigned place, unsigned row, unsigned column) {
    for (unsigned i = 0; i < 2; ++i) visit(place + i, row * shape.n + column + i);
  });
}
unsigned offset_of(MatrixShape const& shape, unsigned lane) { return lane / 4 * shape.n + lane % 4 * 2; }

void read_c(Warp& warp, Step const& step, double* c) {
  auto const& registers = step.many->registers[3];
  auto const& shape = step.matrix;
  each_lane_of_c(shape, [&](unsigned place, unsigned first) {
    double* const to = c + first;
    if (shape.c == Element::f64) {
      U64 const* const from = warp.at<U64>(registers[place]);
      for (unsigned lane = 0; lane < kLanes; ++lane) to[offset_of(shape, lane)] = as_double(from[lane]);
    } else if (shape.c == Element::f16) {
      U32 const* const from = warp.at<U32>(registers[place / 2]);
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        to[offset_of(shape, lane)] = static_cast<double>(half_value(static_cast<U16>(from[lane] >> (place % 2 * 16))));
      }
    } else {
      U32 const* const from = warp.at<U32>(registers[place]);
      for (unsigned lane = 0; lane < kLanes; ++lane)
        to[offset_of(shape, lane)] = static_cast<double>(as_float(from[lane]));
    }
  });
}

void write_d(Warp& warp, Step const& step, double const* d) {
  auto const& registers = step.many->registers[0];
  auto const& shape = step.matrix;
  each_lane_of_c(shape, [&](unsigned place, unsigned first) {
    double const* const from = d + first;
    if (shape.d == Element::f64) {
      U64* const to = warp.at<U64>(registers[place]);
      for (unsigned lane = 0; lane < kLanes; ++lane) to[lane] = bits_of(from[offset_of(shape, lane)]);
    } else if (shape.d == Element::f16) {
      U32* const to = warp.at<U32>(registers[place / 2]);
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        U32 const half = double_to_half(from[offset_of(shape, lane)], Rounding::nearest);
        to[lane] = place % 2 == 0 ? half : (to[lane] & 0xffff) | half << 16;
      }
    } else {
      U32* const to = warp.at<U32>(registers[place]);
      for (unsigned lane = 0; lane < kLanes; ++lane)
        to[lane] = bits_of(static_cast<float>(from[offset_of(shape, lane)]));
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
  auto const& shape = step.matrix;
  each_lane_of_c(shape, [&](unsigned place, unsigned first) {
    U32 const* const c = warp.at<U32>(registers[3][place]);
    U32* const d = warp.at<U32>(registers[0][place]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      std::int64_t result = std::int64_t{static_cast<std::int32_t>(c[lane])} + sums[first + offset_of(shape, lane)];
      if (step.saturate) {
        result = std::clamp<std::int64_t>(result, std::numeric_limits<std::int32_t>::min(),
                                          std::numeric_limits<std::int32_t>::max());
      }
      d[lane] = static_cast<U32>(result);
    }
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
  if (op != "mma" && (op != "wmma" || !form.has("mma"))) return nullptr;
  step.kind = StepKind::collective;
  step.saturate = form.has("satfinite");
  set_matrix(form, step);
  switch (step.matrix.a) {
    case Element::f64: return multiply_floats<true>;
    case Element::b1: return form.has("xor") ? multiply_bits<true> : multiply_bits<false>;
    case Element::s4:
    case Element::u4:
    case Element::s8:
    case Element::u8: return multiply_integers;
    default: return multiply_floats<false>;
  }
}

}  // namespace cuda_cpu
