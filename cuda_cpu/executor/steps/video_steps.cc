// Implements the video instructions. Scalar instructions (vadd, vshl, vset, vmad ...) take words, bytes and halves: an
// operand may be a part of a register, and a secondary operation may follow. Instructions with 2 or 4 in their name
// (vadd2, vadd4 ...) compute on the two halves or four bytes of a word, without selectors. The types say how parts are
// extended.
#include <algorithm>

#include "cuda_cpu/executor/steps/map.h"

namespace cuda_cpu {
namespace {

__extension__ using Wide = __int128;

enum class Operation { add, sub, average, difference, min, max, compare, shift_left, shift_right };

// Bits of Step::choice.
constexpr std::uint8_t kSignedA = 1, kSignedB = 2, kSignedResult = 4, kSum = 8, kMin = 16, kMax = 32, kPlusOne = 64;
// The lowest byte of Step::bits: the relations that a comparison accepts, whether a shift takes five bits of its
// amount, or by how much vmad shifts its result.
constexpr U64 kLess = 1, kEqual = 2, kGreater = 4;
constexpr U64 kWraps = 1;
constexpr U64 kOption = 0xff;

struct Part {
  unsigned at;
  unsigned bits;
};

// Returns the part of the destination (0) or of a source (1, 2).
Part part(Step const& step, unsigned operand) {
  // Indexed by ptx::Part.
  static constexpr Part kParts[] = {{0, 32}, {0, 8}, {8, 8}, {16, 8}, {24, 8}, {0, 16}, {16, 16}};
  return kParts[step.bits >> (kPartShift * (operand + 1)) & kOption];
}

constexpr std::int64_t extended(U32 value, Part part, bool is_signed) {
  U64 const bits = value >> part.at & ((U64{1} << part.bits) - 1);
  return static_cast<std::int64_t>(bits) -
         (is_signed && (bits >> (part.bits - 1)) != 0 ? std::int64_t{1} << part.bits : 0);
}

// Clamps to the range of a part.
constexpr std::int64_t saturated(Wide value, unsigned bits, bool is_signed) {
  Wide const least = is_signed ? -(Wide{1} << (bits - 1)) : 0;
  Wide const greatest = (Wide{1} << (is_signed ? bits - 1 : bits)) - 1;
  return static_cast<std::int64_t>(std::clamp(value, least, greatest));
}

template <Operation kOperation>
constexpr Wide compute(std::int64_t a, std::int64_t b, U64 option) {
  std::int64_t const amount = (option & kWraps) != 0 ? b & 31 : std::min<std::int64_t>(b, 32);
  switch (kOperation) {
    case Operation::add: return a + b;
    case Operation::sub: return a - b;
    case Operation::average: return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case Operation::difference: return a < b ? b - a : a - b;
    case Operation::min: return std::min(a, b);
    case Operation::max: return std::max(a, b);
    case Operation::compare: return (option & (a < b ? kLess : a == b ? kEqual : kGreater)) != 0 ? 1 : 0;
    case Operation::shift_left: return Wide{a} * (Wide{1} << amount);
    case Operation::shift_right: return a >> amount;
  }
  return 0;
}

// Runs vadd2, vadd4 ...
template <Operation kOperation, unsigned kParts>
bool parallel(Warp& warp, Step const& step, Mask lanes) {
  constexpr unsigned kBits = 32 / kParts;
  bool const is_signed = (step.choice & kSignedResult) != 0, sums = (step.choice & kSum) != 0;
  U32 const *const a = warp.at<U32>(step.source[0]), *const b = warp.at<U32>(step.source[1]);
  U32 const* const c = sums ? warp.at<U32>(step.source[2]) : nullptr;
  U32* const to = warp.at<U32>(step.destination[0]);
  each_lane(lanes, [&](unsigned lane) {
    U64 sum = sums ? c[lane] : 0, parts = 0;
    for (unsigned i = 0; i < kParts; ++i) {
      Part const its{i * kBits, kBits};
      Wide result = compute<kOperation>(extended(a[lane], its, (step.choice & kSignedA) != 0),
                                        extended(b[lane], its, (step.choice & kSignedB) != 0), step.bits);
      if (step.saturate) result = saturated(result, kBits, is_signed);
      sum += static_cast<U64>(result);
      parts |= (static_cast<U64>(result) & ((U64{1} << kBits) - 1)) << its.at;
    }
    to[lane] = static_cast<U32>(sums ? sum : parts);
  });
  return true;
}

// Runs vadd, vshl, vset ... The third source is the operand of the secondary operation, or gives the bits of the
// destination that the result does not replace.
template <Operation kOperation>
bool scalar(Warp& warp, Step const& step, Mask lanes) {
  bool const is_signed = (step.choice & kSignedResult) != 0;
  Part const of_a = part(step, 1), of_b = part(step, 2), of_to = part(step, 0);
  U32 const rest = of_to.bits == 32 ? 0 : ~(((U32{1} << of_to.bits) - 1) << of_to.at);
  bool const has_third = rest != 0 || (step.choice & (kSum | kMin | kMax)) != 0;
  U32 const *const a = warp.at<U32>(step.source[0]), *const b = warp.at<U32>(step.source[1]);
  U32 const* const third = has_third ? warp.at<U32>(step.source[2]) : nullptr;
  U32* const to = warp.at<U32>(step.destination[0]);
  each_lane(lanes, [&](unsigned lane) {
    Wide result = compute<kOperation>(extended(a[lane], of_a, (step.choice & kSignedA) != 0),
                                      extended(b[lane], of_b, (step.choice & kSignedB) != 0), step.bits);
    if (step.saturate) result = saturated(result, of_to.bits, is_signed);
    Wide const c = has_third ? extended(third[lane], {0, 32}, is_signed) : 0;
    if ((step.choice & kSum) != 0) result += c;
    if ((step.choice & kMin) != 0) result = std::min(result, c);
    if ((step.choice & kMax) != 0) result = std::max(result, c);
    to[lane] = (static_cast<U32>(c) & rest) | (static_cast<U32>(result) << of_to.at & ~rest);
  });
  return true;
}

// vmad: a product plus an addend, one of which may be negated, shifted to the right.
bool multiply_add(Warp& warp, Step const& step, Mask lanes) {
  bool const negates_product = (step.negated & 1) != (step.negated >> 1 & 1), negates_c = (step.negated & 4) != 0;
  bool const is_signed = (step.choice & (kSignedA | kSignedB)) != 0 || negates_product || negates_c;
  Part const of_a = part(step, 1), of_b = part(step, 2);
  U32 const *const a = warp.at<U32>(step.source[0]), *const b = warp.at<U32>(step.source[1]);
  U32 const* const c = warp.at<U32>(step.source[2]);
  U32* const to = warp.at<U32>(step.destination[0]);
  each_lane(lanes, [&](unsigned lane) {
    Wide const product = Wide{extended(a[lane], of_a, (step.choice & kSignedA) != 0)} *
                         extended(b[lane], of_b, (step.choice & kSignedB) != 0);
    Wide const summand = extended(c[lane], {0, 32}, is_signed);
    Wide const sum = (negates_product ? -product : product) + (negates_c ? -summand : summand) +
                     ((step.choice & kPlusOne) != 0 ? 1 : 0);
    Wide const result = sum >> (step.bits & kOption);
    to[lane] = static_cast<U32>(step.saturate ? saturated(result, 32, is_signed) : result);
  });
  return true;
}

struct Row {
  std::string_view opcode;
  Handler of_words;
  Handler of_halves;
  Handler of_bytes;
};
template <Operation kOperation>
constexpr Row row(std::string_view opcode) {
  return {opcode, scalar<kOperation>, parallel<kOperation, 2>, parallel<kOperation, 4>};
}
constexpr Row kRows[] = {row<Operation::add>("vadd"),
                         row<Operation::sub>("vsub"),
                         row<Operation::average>("vavrg"),
                         row<Operation::difference>("vabsdiff"),
                         row<Operation::min>("vmin"),
                         row<Operation::max>("vmax"),
                         row<Operation::compare>("vset"),
                         {"vshl", scalar<Operation::shift_left>, nullptr, nullptr},
                         {"vshr", scalar<Operation::shift_right>, nullptr, nullptr},
                         {"vmad", multiply_add, nullptr, nullptr}};

U64 accepted(std::string_view comparison) {
  if (comparison == "eq") return kEqual;
  if (comparison == "ne") return kLess | kGreater;
  if (comparison == "lt") return kLess;
  if (comparison == "le") return kLess | kEqual;
  return comparison == "gt" ? kGreater : kGreater | kEqual;
}

U64 option_of(Form const& form, std::string_view op) {
  if (op == "vset") return accepted(form.words[3]);
  if (op == "vmad") return form.has("shr7") ? 7 : form.has("shr15") ? 15 : 0;
  return form.has("wrap") ? kWraps : 0;
}

}  // namespace

Handler select_video(Form const& form, Step& step) {
  std::string_view op = form.opcode();
  char const last = op.back();
  if (last == '2' || last == '4') op.remove_suffix(1);
  auto const* const found = std::ranges::find(kRows, op, &Row::opcode);
  if (found == std::end(kRows)) return nullptr;
  // The words are the opcode, its types and its modifiers. A comparison lacks the type of the result.
  std::size_t const types = op == "vset" ? 1 : 2;
  if (types == 2 && form.words[1] == "s32") step.choice |= kSignedResult;
  if (form.words[types] == "s32") step.choice |= kSignedA;
  if (form.words[types + 1] == "s32") step.choice |= kSignedB;
  if (form.has("add")) step.choice |= kSum;
  if (form.has("min")) step.choice |= kMin;
  if (form.has("max")) step.choice |= kMax;
  if (form.has("po")) step.choice |= kPlusOne;
  step.bits |= option_of(form, op);
  return last == '2' ? found->of_halves : last == '4' ? found->of_bytes : found->of_words;
}

}  // namespace cuda_cpu
