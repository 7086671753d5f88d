// Computes integer, bit, video and move instructions.
#include <algorithm>
#include <functional>

#include "cuda_cpu/executor/reference/reference.h"

namespace cuda_cpu::reference {
namespace {

using ptx::Form;
using ptx::Type;

unsigned bits_of(Type type) { return 8 * ptx::size_bytes(type); }

bool bit(Bits value, Int i) { return i >= 0 && i < 64 && (value >> static_cast<int>(i) & 1) != 0; }

// Returns a number with the bits for which `set` is true.
Bits collect(unsigned count, std::function<bool(Int)> const& set) {
  Bits result = 0;
  for (unsigned i = 0; i < count; ++i) result |= Bits{set(Int{i})} << i;
  return result;
}

struct Source {
  Form const& form;
  std::span<Bits const> bits;
  std::vector<ptx::OperandSpec> specs;

  Int operator[](std::size_t i) const { return i < bits.size() ? integer(bits[i], specs[i].type) : Int{0}; }
  Bits raw(std::size_t i) const { return i < bits.size() ? bits[i] : Bits{0}; }
};

Int product(Form const& form, Int x, Int y) {
  auto const whole = static_cast<Unsigned>(x) * static_cast<Unsigned>(y);  // two's complement
  if (form.has("wide")) return static_cast<Int>(whole);
  auto const part = static_cast<Bits>(form.has("hi") ? whole >> bits_of(form.type) : whole);
  return integer(part, form.type);
}

Int dot(Form const& form, Source const& s) {
  bool const four = form.opcode() == "dp4a";
  Int total = s[2];
  for (int i = 0; i < (four ? 4 : 2); ++i) {
    Type const a = form.words[four ? 1 : 2] == "s32" ? (four ? Type::s8 : Type::s16) : (four ? Type::u8 : Type::u16);
    Type const b = form.words[four ? 2 : 3] == "s32" ? Type::s8 : Type::u8;
    int const from = four ? i : form.has("hi") ? i + 2 : i;
    total += integer(s.bits[0] >> (i * (four ? 8 : 16)), a) * integer(s.bits[1] >> (8 * from), b);
  }
  return total;
}

std::optional<Int> arithmetic(Form const& form, Source const& s) {
  std::string_view const op = form.opcode();
  Int const x = s[0], y = s[1];
  if (op == "add") return x + y;
  if (op == "sub") return x - y;
  if (op == "mul") return product(form, x, y);
  if (op == "mad") return product(form, x, y) + s[2];
  if (op == "mul24" || op == "mad24") {
    auto const low = [&](Int v) {
      return integer(static_cast<Bits>(v) << 40 >> 40, Type::u32) -
             (ptx::is_signed(form.type) && bit(static_cast<Bits>(v), 23) ? Int{1} << 24 : 0);
    };
    Int const whole = low(x) * low(y);
    Int const part = form.has("hi") ? whole >> 16 : whole;
    return op == "mul24" ? part : part + s[2];
  }
  if (op == "sad") return s[2] + (x > y ? x - y : y - x);
  if (op == "div") return y == 0 ? Int{-1} : x / y;  // as devices do
  if (op == "rem") return y == 0 ? x : x % y;
  if (op == "min" || op == "max") {
    Int const chosen = (op == "min") == (x < y) ? x : y;
    return form.has("relu") ? std::max(chosen, Int{0}) : chosen;
  }
  if (op == "abs") return x < 0 ? -x : x;
  if (op == "neg") return -x;
  if (op == "dp4a" || op == "dp2a") return dot(form, s);
  return std::nullopt;
}

// Computes addc, subc, madc and the forms with .cc.
std::optional<Outcome> with_carry(Form const& form, Source const& s, bool carry) {
  std::string_view const op = form.opcode();
  bool const reads = op == "addc" || op == "subc" || op == "madc";
  if (!reads && !form.has("cc")) return std::nullopt;
  Type const type = form.type;
  auto const bits = [&](Int v) {
    return static_cast<Unsigned>(static_cast<Bits>(v)) & ((Unsigned{1} << bits_of(type)) - 1);
  };
  // The carry of a subtraction is set if it does not borrow.
  bool const subtracts = op.starts_with("sub");
  Unsigned const in = reads && carry != subtracts ? 1 : 0;
  Unsigned total;
  if (subtracts)
    total = bits(s[0]) - bits(s[1]) - in;
  else if (op.starts_with("mad"))
    total = bits(product(form, s[0], s[1])) + bits(s[2]) + in;
  else
    total = bits(s[0]) + bits(s[1]) + in;
  Outcome made{static_cast<Bits>(total)};
  if (form.has("cc")) made.carry = ((total >> bits_of(type) & 1) != 0) != subtracts;
  return made;
}

// Computes on two 16-bit integers as one instruction on each would.
Bits in_pairs(Form const& form, Source const& s) {
  Type const type = form.type == Type::s16x2 ? Type::s16 : Type::u16;
  Bits result = 0;
  for (int shift : {0, 16}) {
    Int const x = integer(s.bits[0] >> shift, type), y = integer(s.bits[1] >> shift, type);
    Int value = form.opcode() == "add" ? x + y : form.opcode() == "min" ? std::min(x, y) : std::max(x, y);
    if (form.has("relu") && value < 0) value = 0;
    result |= (static_cast<Bits>(value) & 0xffff) << shift;
  }
  return result;
}

Bits permuted(Form const& form, Bits a, Bits b, Bits c) {
  int const n = static_cast<int>(c & 3);
  Bits result = 0;
  for (int i = 0; i < 4; ++i) {
    int from = static_cast<int>(c >> (4 * i) & 15);
    if (form.has("f4e")) from = n + i;
    if (form.has("b4e")) from = (n - i) & 7;
    if (form.has("rc8")) from = n;
    if (form.has("ecl")) from = std::max(i, n);
    if (form.has("ecr")) from = std::min(i, n);
    if (form.has("rc16")) from = (n & 1) * 2 + (i & 1);
    Bits byte = ((b & 0xffffffff) << 32 | (a & 0xffffffff)) >> (8 * (from & 7)) & 255;
    if ((from & 8) != 0) byte = byte >> 7 != 0 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}

Int highest(Bits value, unsigned count) {
  Int found = -1;
  for (unsigned i = 0; i < count; ++i)
    if (bit(value, Int{i})) found = Int{i};
  return found;
}

// Returns the number of the bit that fns finds: the `left`-th set bit from bit `at` upwards, or downwards if `left` is
// negative; bit `at` if `left` is zero and the bit is set. Returns all ones if the search finds no bit.
Bits find_nth_set(Bits a, Int at, Int left) {
  if (left == 0) return bit(a & 0xffffffff, at) ? static_cast<Bits>(at) : ~Bits{0};
  Int const step = left > 0 ? 1 : -1;
  for (left = left > 0 ? left : -left; at >= 0 && at < 32; at += step)
    if (bit(a, at) && --left == 0) return static_cast<Bits>(at);
  return ~Bits{0};
}

std::optional<Bits> logical(Form const& form, Source const& s) {
  std::string_view const op = form.opcode();
  Bits const a = s.raw(0), b = s.raw(1), c = s.raw(2);
  if (op == "and") return a & b;
  if (op == "or") return a | b;
  if (op == "xor") return a ^ b;
  if (op == "not") return ~a;
  if (op == "cnot") return integer(a, form.type) == 0 ? 1 : 0;
  if (op == "lop3")
    return collect(
        32, [&](Int i) { return bit(s.raw(3), (bit(a, i) ? 4 : 0) + (bit(b, i) ? 2 : 0) + (bit(c, i) ? 1 : 0)); });
  return std::nullopt;
}

std::optional<Bits> shifted(Form const& form, Source const& s) {
  std::string_view const op = form.opcode();
  unsigned const n = bits_of(form.type);
  Bits const a = s.raw(0), b = s.raw(1), c = s.raw(2);
  Int const amount = integer(b, Type::u32);
  if (op == "shl") return collect(n, [&](Int i) { return bit(a, i - amount); });
  if (op == "shr") {
    bool const sign = ptx::is_signed(form.type) && bit(a, Int{n} - 1);
    return collect(n, [&](Int i) { return i + amount < Int{n} ? bit(a, i + amount) : sign; });
  }
  if (op == "shf") {
    Int const count = form.has("wrap") ? Int{c & 31} : std::min(integer(c, Type::u32), Int{32});
    Bits const both = (b & 0xffffffff) << 32 | (a & 0xffffffff);
    return form.has("l") ? collect(32, [&](Int i) { return bit(both, 32 + i - count); })
                         : collect(32, [&](Int i) { return bit(both, i + count); });
  }
  return std::nullopt;
}

std::optional<Bits> counted(Form const& form, Source const& s) {
  std::string_view const op = form.opcode();
  unsigned const n = bits_of(form.type);
  Bits const a = s.raw(0);
  if (op == "popc") {
    Bits count = 0;
    for (unsigned i = 0; i < n; ++i) count += bit(a, Int{i}) ? 1 : 0;
    return count;
  }
  if (op == "clz") return static_cast<Bits>(Int{n} - 1 - highest(a, n));
  if (op == "bfind") {
    Bits const value = ptx::is_signed(form.type) && bit(a, Int{n} - 1) ? ~a : a;
    Int const found = highest(value, n);
    return static_cast<Bits>(found < 0 ? found : form.has("shiftamt") ? Int{n} - 1 - found : found);
  }
  if (op == "fns") return find_nth_set(a, integer(s.raw(1), Type::u32), integer(s.raw(2), Type::s32));
  return std::nullopt;
}

std::optional<Bits> bit_field(Form const& form, Source const& s) {
  std::string_view const op = form.opcode();
  unsigned const n = bits_of(form.type);
  Bits const a = s.raw(0), b = s.raw(1), c = s.raw(2);
  if (op == "bfe") {
    Int const position{b & 255}, length{c & 255};
    bool const sign = ptx::is_signed(form.type) && length != 0 && bit(a, std::min(position + length - 1, Int{n} - 1));
    return collect(n, [&](Int i) { return i < length && position + i < Int{n} ? bit(a, position + i) : sign; });
  }
  if (op == "bfi") {
    Int const position{c & 255}, length{s.raw(3) & 255};
    return collect(n, [&](Int i) { return i >= position && i - position < length ? bit(a, i - position) : bit(b, i); });
  }
  bool const wraps = form.has("wrap");
  Int const length = wraps ? Int{b & 31} : integer(b, Type::u32);
  if (op == "bmsk") {
    Int const from = wraps ? Int{a & 31} : integer(a, Type::u32);
    return collect(32, [&](Int i) { return i >= from && i - from < length; });
  }
  if (op == "szext") {
    bool const sign = form.type == Type::s32 && length > 0 && bit(a, std::min(length, Int{32}) - 1);
    return collect(32, [&](Int i) { return i < length ? bit(a, i) : sign; });
  }
  return std::nullopt;
}

std::optional<Bits> bitwise(Form const& form, Source const& s) {
  if (auto const made = logical(form, s)) return made;
  if (auto const made = shifted(form, s)) return made;
  if (auto const made = counted(form, s)) return made;
  if (auto const made = bit_field(form, s)) return made;
  unsigned const n = bits_of(form.type);
  Bits const a = s.raw(0);
  if (form.opcode() == "prmt") return permuted(form, a, s.raw(1), s.raw(2));
  if (form.opcode() == "brev") return collect(n, [&](Int i) { return bit(a, Int{n} - 1 - i); });
  return std::nullopt;
}

bool compares(std::string_view name, Int x, Int y) {
  if (name == "eq") return x == y;
  if (name == "ne") return x != y;
  if (name == "lt") return x < y;
  if (name == "le") return x <= y;
  return name == "gt" ? x > y : x >= y;
}

// Follows the manual, which computes with complements. The fourth bits say which sources are negated.
Bits multiply_add(Form const& form, Source const& s) {
  Type const a_type = form.words[2] == "s32" ? Type::s32 : Type::u32,
             b_type = form.words[3] == "s32" ? Type::s32 : Type::u32;
  Bits const negated = s.bits.size() > 3 ? s.bits[3] : 0;
  bool const negates_product = negated == 1 || negated == 2 || negated == 5 || negated == 6,
             negates_c = (negated & 4) != 0;
  bool const is_signed = a_type == Type::s32 || b_type == Type::s32 || negates_product || negates_c;
  Int value = integer(s.bits[0], a_type) * integer(s.bits[1], b_type);
  Bits const c = negates_c && !negates_product ? ~s.bits[2] : s.bits[2];
  Int const lowest = form.has("po") || negates_product || negates_c ? 1 : 0;
  if (negates_product) value = ~value;
  value += integer(c, is_signed ? Type::s32 : Type::u32) + lowest;
  Int const divisor = form.has("shr7") ? 128 : form.has("shr15") ? 32768 : 1;
  Int scaled = value / divisor;
  if (value % divisor < 0) --scaled;
  if (form.has("sat")) {
    if (is_signed)
      scaled = std::clamp(scaled, -(Int{1} << 31), (Int{1} << 31) - 1);
    else
      scaled = std::clamp(scaled, Int{0}, (Int{1} << 32) - 1);
  }
  return static_cast<Bits>(scaled);
}

// Multiplies or divides x by a power of two, rounding down.
Int video_shift(Form const& form, Int x, Int amount) {
  amount = form.has("wrap") ? amount % 32 : std::min(amount, Int{32});
  for (; amount > 0; --amount) x = form.opcode() == "vshl" ? 2 * x : (x - (x & 1)) / 2;
  return x;
}

Int video_part(Form const& form, std::string_view op, Int x, Int y) {
  if (op == "vshl" || op == "vshr") return video_shift(form, x, y);
  if (op == "vadd") return x + y;
  if (op == "vsub") return x - y;
  if (op == "vavrg") return x + y >= 0 ? (x + y + 1) / 2 : -((-(x + y) + 1) / 2);
  if (op == "vabsdiff") return x > y ? x - y : y - x;
  if (op == "vmin") return x < y ? x : y;
  if (op == "vmax") return x > y ? x : y;
  return compares(form.words[3], x, y) ? 1 : 0;
}

std::optional<Bits> video(Form const& form, Source const& s) {
  std::string_view op = form.opcode();
  if (op.front() != 'v') return std::nullopt;
  if (op == "vmad") return multiply_add(form, s);
  unsigned const parts = op.back() == '2' ? 2 : op.back() == '4' ? 4 : 1, size = 32 / parts;
  if (parts != 1) op.remove_suffix(1);
  auto const type = [&](std::string_view word) {
    if (parts == 1) return word == "s32" ? Type::s32 : Type::u32;
    if (parts == 2) return word == "s32" ? Type::s16 : Type::u16;
    return word == "s32" ? Type::s8 : Type::u8;
  };
  std::size_t const first = op == "vset" ? 1 : 2;
  Int total = form.has("add") ? integer(s.bits[2], Type::u32) : 0;
  Bits merged = 0;
  for (unsigned i = 0; i < parts; ++i) {
    Int value = video_part(form, op, integer(s.bits[0] >> (i * size), type(form.words[first])),
                           integer(s.bits[1] >> (i * size), type(form.words[first + 1])));
    bool const is_signed = op != "vset" && form.words[1] == "s32";
    if (form.has("sat"))
      value = std::clamp(value, is_signed ? -(Int{1} << (size - 1)) : Int{0},
                         (Int{1} << (is_signed ? size - 1 : size)) - 1);
    Int const other = parts == 1 && s.bits.size() > 2 ? integer(s.bits[2], is_signed ? Type::s32 : Type::u32) : 0;
    if (form.has("min")) value = other < value ? other : value;
    if (form.has("max")) value = other > value ? other : value;
    total += value;
    merged |= (static_cast<Bits>(value) & ((Bits{1} << size) - 1)) << (i * size);
  }
  return form.has("add") ? static_cast<Bits>(total) : merged;
}

}  // namespace

Int integer(Bits bits, Type type) {
  unsigned const size = type == Type::pred ? 1 : bits_of(type);
  Int const value = size == 64 ? Int{bits} : Int{bits & ((Bits{1} << size) - 1)};
  return ptx::is_signed(type) && bit(bits, Int{size} - 1) ? value - (Int{1} << size) : value;
}

std::vector<ptx::OperandSpec> sources_of(Form const& form) {
  std::vector<ptx::OperandSpec> all;
  for (auto const& spec : form.operands) {
    using enum ptx::OperandRole;
    if (spec.role == source || spec.role == immediate || spec.role == predicate || spec.role == any_source)
      all.push_back(spec);
  }
  return all;
}

std::optional<Outcome> integer_outcome(Form const& form, std::span<Bits const> sources, bool carry) {
  if (ptx::is_float(form.type) || (form.type == Type::pred && form.opcode() != "and" && form.opcode() != "or" &&
                                   form.opcode() != "xor" && form.opcode() != "not" && form.opcode() != "mov"))
    return std::nullopt;
  Source const s{form, sources, sources_of(form)};
  if (form.opcode() == "mov") return Outcome{sources[0], sources[0] != 0};
  if (form.type == Type::u16x2 || form.type == Type::s16x2) return Outcome{in_pairs(form, s)};
  if (auto const made = with_carry(form, s, carry)) return made;
  if (auto const made = video(form, s)) return Outcome{*made};
  if (auto const made = bitwise(form, s)) return Outcome{*made, (*made & 1) != 0};
  auto value = arithmetic(form, s);
  if (!value) return std::nullopt;
  if (form.has("sat")) value = std::clamp(*value, -(Int{1} << 31), (Int{1} << 31) - 1);
  return Outcome{static_cast<Bits>(*value)};
}

}  // namespace cuda_cpu::reference
