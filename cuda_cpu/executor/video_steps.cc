// The video instructions, without selectors of parts: vadd, vsub, vabsdiff, vmin and vmax of words, of two halves of a
// word or of its four bytes, the averages and comparisons of halves and bytes. Their types say how parts are extended.
#include <algorithm>

#include "cuda_cpu/executor/map.h"

namespace cuda_cpu {
namespace {

enum class Operation { add, sub, average, difference, min, max, compare };

// Bits of Step::choice.
constexpr std::uint8_t kSignedA = 1, kSignedB = 2, kSignedResult = 4, kSum = 8;
// Step::bits of a comparison: which relations it accepts.
constexpr U64 kLess = 1, kEqual = 2, kGreater = 4;

constexpr std::int64_t part_of(U32 value, unsigned bits, unsigned i, bool is_signed) {
  U64 const part = value >> (i * bits) & ((U64{1} << bits) - 1);
  return static_cast<std::int64_t>(part) - (is_signed && (part >> (bits - 1)) != 0 ? std::int64_t{1} << bits : 0);
}

template <Operation kOperation>
std::int64_t compute(std::int64_t a, std::int64_t b, U64 accepts) {
  switch (kOperation) {
    case Operation::add:
      return a + b;
    case Operation::sub:
      return a - b;
    case Operation::average:
      return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case Operation::difference:
      return a < b ? b - a : a - b;
    case Operation::min:
      return std::min(a, b);
    case Operation::max:
      return std::max(a, b);
    case Operation::compare:
      return (accepts & (a < b ? kLess : a == b ? kEqual : kGreater)) != 0 ? 1 : 0;
  }
  return 0;
}

template <Operation kOperation, unsigned kParts>
bool video(Warp& warp, Step const& step, Mask lanes) {
  constexpr unsigned kBits = 32 / kParts;
  bool const is_signed = (step.choice & kSignedResult) != 0, sums = (step.choice & kSum) != 0;
  std::int64_t const least = is_signed ? -(std::int64_t{1} << (kBits - 1)) : 0;
  std::int64_t const greatest = (std::int64_t{1} << (is_signed ? kBits - 1 : kBits)) - 1;
  U32 const *const a = warp.at<U32>(step.source[0]), *const b = warp.at<U32>(step.source[1]);
  U32 const* const c = sums ? warp.at<U32>(step.source[2]) : nullptr;
  U32* const to = warp.at<U32>(step.destination[0]);
  each_lane(lanes, [&](unsigned lane) {
    U64 sum = sums ? c[lane] : 0, parts = 0;
    for (unsigned i = 0; i < kParts; ++i) {
      std::int64_t result = compute<kOperation>(part_of(a[lane], kBits, i, (step.choice & kSignedA) != 0),
                                                part_of(b[lane], kBits, i, (step.choice & kSignedB) != 0), step.bits);
      if (step.saturate) result = std::clamp(result, least, greatest);
      sum += static_cast<U64>(result);
      parts |= (static_cast<U64>(result) & ((U64{1} << kBits) - 1)) << (i * kBits);
    }
    to[lane] = static_cast<U32>(sums ? sum : parts);
  });
  return true;
}

template <unsigned kParts>
Handler select(std::string_view op) {
  if (op == "vadd") return video<Operation::add, kParts>;
  if (op == "vsub") return video<Operation::sub, kParts>;
  if (op == "vavrg") return video<Operation::average, kParts>;
  if (op == "vabsdiff") return video<Operation::difference, kParts>;
  if (op == "vmin") return video<Operation::min, kParts>;
  if (op == "vmax") return video<Operation::max, kParts>;
  return op == "vset" ? video<Operation::compare, kParts> : nullptr;
}

U64 accepted(std::string_view comparison) {
  if (comparison == "eq") return kEqual;
  if (comparison == "ne") return kLess | kGreater;
  if (comparison == "lt") return kLess;
  if (comparison == "le") return kLess | kEqual;
  return comparison == "gt" ? kGreater : kGreater | kEqual;
}

}  // namespace

Handler select_video(Form const& form, Step& step) {
  std::string_view op = form.opcode();
  if (!op.starts_with('v') || op == "vote") return nullptr;
  char const last = op.back();
  if (last == '2' || last == '4') op.remove_suffix(1);
  // The words are the opcode, its types and its modifiers. A comparison has no type of its own.
  std::size_t const types = op == "vset" ? 1 : 2;
  if (types == 2 && form.words[1] == "s32") step.choice |= kSignedResult;
  if (form.words[types] == "s32") step.choice |= kSignedA;
  if (form.words[types + 1] == "s32") step.choice |= kSignedB;
  if (form.has("add")) step.choice |= kSum;
  if (op == "vset") step.bits = accepted(form.words[3]);
  return last == '2' ? select<2>(op) : last == '4' ? select<4>(op) : select<1>(op);
}

}  // namespace cuda_cpu
