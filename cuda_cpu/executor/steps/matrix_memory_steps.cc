// Implements ldmatrix, stmatrix, movmatrix, wmma.load and wmma.store, which move matrices between memory and the
// registers of a warp.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "cuda_cpu/executor/steps/matrix.h"

namespace cuda_cpu {
namespace {

constexpr std::uint32_t kRowBytes = 16;

using Rows = std::array<std::byte*, 8>;  // rows of a matrix of 8 x 8 elements of 16 bits

// Returns the rows of matrix `i`, whose addresses are in the eight lanes from 8 * i.
std::optional<Rows> rows_of(Warp& warp, Step const& step, unsigned i) {
  Rows rows{};
  for (unsigned row = 0; row < 8; ++row) {
    rows[row] = warp.block.resolve_shared(warp, step, 8 * i + row, kRowBytes);
    if (rows[row] == nullptr) return std::nullopt;
  }
  return rows;
}

// Returns the place of the low or high half of a lane's register.
template <bool kTransposed>
std::byte* place_of(Rows const& rows, unsigned lane, unsigned half) {
  unsigned const major = lane / 4, minor = lane % 4 * 2 + half;
  return kTransposed ? rows[minor] + 2 * major : rows[major] + 2 * minor;
}

template <bool kTransposed>
bool ldmatrix(Warp& warp, Step const& step, Mask lanes) {
  if (!is_whole_warp(warp, step, lanes)) return false;
  auto const& registers = step.many->registers[0];
  std::array<std::array<U32, kLanes>, 4> loaded;  // written at the end, because the addresses may be in these registers
  for (unsigned i = 0; i < registers.size(); ++i) {
    auto const rows = rows_of(warp, step, i);
    if (!rows) return false;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      U16 low, high;
      std::memcpy(&low, place_of<kTransposed>(*rows, lane, 0), sizeof low);
      std::memcpy(&high, place_of<kTransposed>(*rows, lane, 1), sizeof high);
      loaded[i][lane] = U32{high} << 16 | low;
    }
  }
  for (unsigned i = 0; i < registers.size(); ++i) std::memcpy(warp.at<U32>(registers[i]), &loaded[i], sizeof loaded[i]);
  return true;
}

template <bool kTransposed>
bool stmatrix(Warp& warp, Step const& step, Mask lanes) {
  if (!is_whole_warp(warp, step, lanes)) return false;
  auto const& registers = step.many->registers[0];
  for (unsigned i = 0; i < registers.size(); ++i) {
    auto const rows = rows_of(warp, step, i);
    if (!rows) return false;
    U32 const* const from = warp.at<U32>(registers[i]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      for (unsigned half = 0; half < 2; ++half) {
        auto const value = static_cast<U16>(from[lane] >> (16 * half));
        std::memcpy(place_of<kTransposed>(*rows, lane, half), &value, sizeof value);
      }
    }
  }
  return true;
}

bool movmatrix(Warp& warp, Step const& step, Mask lanes) {
  if (!is_whole_warp(warp, step, lanes)) return false;
  U16 matrix[8][8];
  U32 const* const from = warp.at<U32>(step.source[0]);
  U32* const to = warp.at<U32>(step.destination[0]);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned half = 0; half < 2; ++half)
      matrix[lane / 4][lane % 4 * 2 + half] = static_cast<U16>(from[lane] >> (16 * half));
  for (unsigned lane = 0; lane < kLanes; ++lane)
    to[lane] = U32{matrix[lane % 4 * 2 + 1][lane / 4]} << 16 | matrix[lane % 4 * 2][lane / 4];
  return true;
}

// Step::count of wmma.load.
enum class Fragment : std::uint8_t { a, b, c };

struct Size {
  unsigned rows;
  unsigned columns;
};
Size size_of(Step const& step) {
  auto const& shape = step.matrix;
  switch (static_cast<Fragment>(step.count)) {
    case Fragment::a: return {shape.m, shape.k};
    case Fragment::b: return {shape.k, shape.n};
    case Fragment::c: break;
  }
  return {shape.m, shape.n};
}

template <class T>
bool is_uniform(T const* values) {
  for (unsigned lane = 1; lane < kLanes; ++lane)
    if (values[lane] != values[0]) return false;
  return true;
}

// Returns the distance of two rows or columns in memory, in elements.
U64 stride_of(Warp& warp, Step const& step, Size size) {
  if (step.source[0] != kNowhere) return warp.at<U32>(step.source[0])[0];
  return step.matrix.by_column ? size.rows : size.columns;
}

bool check_addresses(Warp& warp, Step const& step, U64 address, U64 stride) {
  auto const fail = [&](FaultKind kind, char const* what) {
    return warp.block.fail(warp, step, kAllLanes, kind, what, address);
  };
  for (unsigned lane = 1; lane < kLanes; ++lane) {
    if (address_of(warp, step, lane) != address)
      return fail(FaultKind::illegal_address, "a matrix whose address differs between lanes");
  }
  bool const has_stride = step.source[0] != kNowhere;
  if (has_stride && !is_uniform(warp.at<U32>(step.source[0])))
    return fail(FaultKind::illegal_address, "a matrix whose stride differs between lanes");
  if (address % kRowBytes != 0 || (has_stride && stride * step.bytes % kRowBytes != 0))
    return fail(FaultKind::misaligned_address, "a matrix whose address or stride is not a multiple of 16 bytes");
  return true;
}

// Calls access(place, first, count) for pieces of the matrix in memory, of up to 16 bytes. A piece holds `count`
// elements from `first` on, in the order in memory. Returns false after a fault.
template <class Access>
bool each_piece(Warp& warp, Step const& step, Size size, Access const& access) {
  U64 const address = address_of(warp, step, 0);
  U64 const stride = stride_of(warp, step, size);
  if (!check_addresses(warp, step, address, stride)) return false;
  unsigned const length = step.matrix.by_column ? size.rows : size.columns;
  unsigned const lines = step.matrix.by_column ? size.columns : size.rows;
  unsigned const piece = std::min(length, kRowBytes / step.bytes);
  for (unsigned line = 0; line < lines; ++line) {
    for (unsigned at = 0; at < length; at += piece) {
      std::byte* const place =
          warp.block.resolve(warp, step, 0, address + (line * stride + at) * step.bytes, piece * step.bytes);
      if (place == nullptr) return false;
      access(place, line * length + at, piece);
    }
  }
  return true;
}

// Calls visit(place, lane, index) for each element of the fragment. `index` counts elements in the order in memory; a
// register holds the elements `each` * i to `each` * (i + 1) - 1.
template <class Visit>
void each_of_fragment(Step const& step, Size size, unsigned each, Visit const& visit) {
  auto const index = [&](unsigned row, unsigned column) {
    return step.matrix.by_column ? column * size.rows + row : row * size.columns + column;
  };
  auto const each_lane_of = [&](unsigned place, unsigned count, auto const& place_of) {
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (unsigned i = 0; i < count; ++i) visit(place + i, lane, place_of(lane / 4, lane % 4 * count + i));
  };
  switch (static_cast<Fragment>(step.count)) {
    case Fragment::a:
      return each_register_of_a(size.rows, size.columns, each, [&](unsigned i, unsigned row, unsigned column) {
        each_lane_of(i * each, each,
                     [&](unsigned major, unsigned minor) { return index(row + major, column + minor); });
      });
    case Fragment::b:
      return each_register_of_b(size.rows, size.columns, each, [&](unsigned i, unsigned row, unsigned column) {
        each_lane_of(i * each, each,
                     [&](unsigned major, unsigned minor) { return index(row + minor, column + major); });
      });
    case Fragment::c:
      return each_pair_of_c(size.rows, size.columns, [&](unsigned place, unsigned row, unsigned column) {
        each_lane_of(place, 2, [&](unsigned major, unsigned minor) { return index(row + major, column + minor); });
      });
  }
}

template <class T>
bool load_matrix(Warp& warp, Step const& step, Mask lanes) {
  if (!is_whole_warp(warp, step, lanes)) return false;
  Size const size = size_of(step);
  T loaded[kMaxElements];
  bool const good = each_piece(warp, step, size, [&](std::byte const* place, unsigned first, unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      loaded[first + i] = __atomic_load_n(reinterpret_cast<T const*>(place) + i, __ATOMIC_RELAXED);
  });
  if (!good) return false;
  using Register = std::conditional_t<sizeof(T) == 8, U64, U32>;
  constexpr unsigned kEach = sizeof(Register) / sizeof(T);
  auto const& registers = step.many->registers[0];
  unsigned used = 0;
  each_of_fragment(step, size, kEach, [&](unsigned place, unsigned lane, unsigned index) {
    unsigned const shift = place % kEach * 8 * static_cast<unsigned>(sizeof(T) % 8);
    Register& to = warp.at<Register>(registers[place / kEach])[lane];
    to = (shift == 0 ? Register{0} : to) | static_cast<Register>(Register{loaded[index]} << shift);
    used = std::max(used, place / kEach + 1);
  });
  for (unsigned i = used; i < registers.size(); ++i)
    std::memcpy(warp.at<Register>(registers[i]), warp.at<Register>(registers[i % used]), sizeof(Register) * kLanes);
  return true;
}

template <class T>
bool store_matrix(Warp& warp, Step const& step, Mask lanes) {
  if (!is_whole_warp(warp, step, lanes)) return false;
  Size const size = size_of(step);
  T values[kMaxElements];
  using Register = std::conditional_t<sizeof(T) == 8, U64, U32>;
  constexpr unsigned kEach = sizeof(Register) / sizeof(T);
  each_of_fragment(step, size, kEach, [&](unsigned place, unsigned lane, unsigned index) {
    unsigned const shift = place % kEach * 8 * static_cast<unsigned>(sizeof(T) % 8);
    values[index] = static_cast<T>(warp.at<Register>(step.many->registers[0][place / kEach])[lane] >> shift);
  });
  return each_piece(warp, step, size, [&](std::byte* place, unsigned first, unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      __atomic_store_n(reinterpret_cast<T*>(place) + i, values[first + i], __ATOMIC_RELAXED);
  });
}

template <class T>
Handler select_direction(Step& step) {
  step.bytes = sizeof(T);
  return step.writes ? store_matrix<T> : load_matrix<T>;
}

}  // namespace

Handler select_matrix_memory(Form const& form, Step& step) {
  std::string_view const op = form.opcode();
  if (op != "ldmatrix" && op != "stmatrix" && op != "movmatrix" && op != "wmma") return nullptr;
  step.kind = StepKind::collective;
  step.writes = op == "stmatrix" || form.has("store");
  if (op == "ldmatrix") return form.has("trans") ? ldmatrix<true> : ldmatrix<false>;
  if (op == "stmatrix") return form.has("trans") ? stmatrix<true> : stmatrix<false>;
  if (op == "movmatrix") return movmatrix;
  set_matrix(form, step);
  step.matrix.by_column = form.has("col");
  step.count = static_cast<std::uint8_t>(form.has("a") ? Fragment::a : form.has("b") ? Fragment::b : Fragment::c);
  switch (step.matrix.d) {
    case Element::s8:
    case Element::u8: return select_direction<std::uint8_t>(step);
    case Element::f16:
    case Element::bf16: return select_direction<U16>(step);
    case Element::f64: return select_direction<U64>(step);
    default: return select_direction<U32>(step);
  }
}

}  // namespace cuda_cpu
