#include <algorithm>

#include "cuda_cpu/executor/reference/reference.h"

namespace cuda_cpu::reference {

bool is_nan(Format const& format, Bits bits) {
  return (bits & ~format.sign) > (format.infinity != 0 ? format.infinity : format.greatest);
}
bool is_infinite(Format const& format, Bits bits) {
  return format.infinity != 0 && (bits & ~format.sign) == format.infinity;
}

Exact scaled(Exact value, int exponent) {
  for (; exponent > 0; --exponent) value *= 2;
  for (; exponent < 0; ++exponent) value /= 2;
  return value;
}

Exact value_of(Format const& format, Bits bits) {
  Bits const magnitude = bits & ~format.sign;
  Bits const fraction = magnitude & ((Bits{1} << format.fraction_bits) - 1);
  auto const exponent = static_cast<int>(magnitude >> format.fraction_bits);
  Exact const significand = static_cast<Exact>(exponent == 0 ? fraction : fraction | Bits{1} << format.fraction_bits);
  Exact const value = scaled(significand, (exponent == 0 ? 1 : exponent) - format.bias - format.fraction_bits);
  return (bits & format.sign) != 0 ? -value : value;
}

std::vector<Exact> const& all_values(Format const& format) {
  static std::map<Bits, std::vector<Exact>> tables;  // keyed by the greatest code
  auto& table = tables[format.greatest];
  if (table.empty())
    for (Bits bits = 0; bits <= format.greatest + 1; ++bits) table.push_back(value_of(format, bits));
  return table;
}

Bits rounded(Format const& format, Exact exact, std::string_view mode, bool clamps) {
  bool const negative = exact < 0;
  Exact const magnitude = negative ? -exact : exact;
  auto const& values = all_values(format);
  Bits const below =
      static_cast<Bits>(std::upper_bound(values.begin(), values.end() - 1, magnitude) - values.begin()) - 1;
  Exact const down = magnitude - values[below], up = values[below + 1] - magnitude;
  bool goes_up = up < down || (up == down && (below & 1) != 0);
  if (mode == "rz") goes_up = false;
  if (mode == "rm") goes_up = negative && down != 0;
  if (mode == "rp") goes_up = !negative && down != 0;
  Bits result = below + (goes_up ? 1 : 0);
  if (result > format.greatest) result = clamps ? format.greatest : format.infinity;
  return result | (negative ? format.sign : 0);
}

// If the addends are far apart, rounding depends only on which side of the greater addend the sum is.
Exact sum(Exact a, Exact b) {
  Exact const magnitude = a < 0 ? -a : a, other = b < 0 ? -b : b;
  if (magnitude < other) return sum(b, a);
  if (b == 0 || magnitude < scaled(other, 60)) return a + b;
  return a + (b < 0 ? -1 : 1) * scaled(magnitude, -60);
}

}  // namespace cuda_cpu::reference
