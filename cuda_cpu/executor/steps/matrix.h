// Declares the layout of matrices in the registers of a warp. Each lane holds a fragment of a matrix.
//
// Fragments of mma are as in the PTX manual: the four lanes of a group hold a row of A, a column of B and a row of C.
// The manual leaves the fragments of wmma open; here they consist of tiles like the tiles of mma.m16n8, row by row. If
// a fragment of A or B has more registers than the matrix needs, the registers repeat.
#pragma once

#include <bit>
#include <cstdint>

#include "cuda_cpu/executor/steps/map.h"

namespace cuda_cpu {

/// Returns the number of elements in a register of 32 bits; 1 for f64. Single bits count as words of 32.
constexpr unsigned per_register(Element element) noexcept {
  switch (element) {
    case Element::s4:
    case Element::u4: return 8;
    case Element::s8:
    case Element::u8:
    case Element::e4m3:
    case Element::e5m2: return 4;
    case Element::f16:
    case Element::bf16: return 2;
    default: return 1;
  }
}

/// Calls visit(register, row, column) for each register of A. The register holds 8 rows of 4 * `each` elements from
/// that row and column on: each of its lanes holds `each` elements, row after row.
template <class Visit>
void each_register_of_a(unsigned rows, unsigned columns, unsigned each, Visit const& visit) {
  unsigned i = 0;
  for (unsigned tile = 0; tile < rows; tile += 16)
    for (unsigned column = 0; column < columns; column += 4 * each)
      for (unsigned row = tile; row < tile + 16 && row < rows; row += 8) visit(i++, row, column);
}

/// Calls visit(register, row, column) for each register of B. The register holds 8 columns of 4 * `each` elements from
/// that row and column on, column after column.
template <class Visit>
void each_register_of_b(unsigned rows, unsigned columns, unsigned each, Visit const& visit) {
  unsigned i = 0;
  for (unsigned column = 0; column < columns; column += 8)
    for (unsigned row = 0; row < rows; row += 4 * each) visit(i++, row, column);
}

/// Calls visit(place, row, column) for each 8 rows of 8 elements of C or D. Each lane holds two of these elements, row
/// after row: elements `place` and `place` + 1 of its fragment.
template <class Visit>
void each_pair_of_c(unsigned rows, unsigned columns, Visit const& visit) {
  unsigned place = 0;
  for (unsigned tile = 0; tile < rows; tile += 16)
    for (unsigned column = 0; column < columns; column += 8)
      for (unsigned row = tile; row < tile + 16 && row < rows; row += 8, place += 2) visit(place, row, column);
}

constexpr unsigned kMaxElements = 1024;  // limit for each matrix

/// Sets Step::matrix from the words of the form: m16n8k16, and the types of D, A, B and C.
void set_matrix(Form const& form, Step& step);

/// Returns false, after reporting the fault, if lanes of the warp are missing: then the result would be undefined.
bool is_whole_warp(Warp& warp, Step const& step, Mask lanes);

}  // namespace cuda_cpu
