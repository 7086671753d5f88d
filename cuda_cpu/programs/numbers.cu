// Arithmetic of integers up to 128 bits, float and double, compared with the host's.
// A sum with 0.0 is where C leaves the sign of a zero open, or some C libraries get it wrong: remainder().
#include <cmath>

#include "host_values.h"

namespace {

using I32 = int;
using I64 = long long;
using U128 = unsigned __int128;
using I128 = __int128;

__host__ __device__ float f(U64 bits) { return bits_of<float>(static_cast<U32>(bits)); }
__host__ __device__ double d(U64 bits) { return bits_of<double>(bits); }
__host__ __device__ U128 wide(U64 high, U64 low) { return static_cast<U128>(high) << 64 | low; }
__host__ __device__ U64 folded(U128 x) { return static_cast<U64>(x >> 64) * 3 + static_cast<U64>(x); }

__host__ __device__ U64 power(U64 base, U64 exponent, U64 modulus) {
  U64 product = 1;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) product = static_cast<U64>(static_cast<U128>(product) * base % modulus);
    base = static_cast<U64>(static_cast<U128>(base) * base % modulus);
  }
  return product;
}

__host__ __device__ U64 mixed(U64 x) {
  for (int i = 0; i < 10; ++i) {
    x = x * 6364136223846793005 + 1442695040888963407;
    x ^= x >> 33;
    x = x << 13 | x >> 51;
  }
  return x;
}

// A divisor that is neither 0 nor -1, by which the least integer cannot be divided.
__host__ __device__ I64 divisor(U64 b) { return static_cast<I64>(b >> 7) + 2; }

// clang-format off
#define INTEGERS(of) \
  of(a / (b | 1)) of(a % (b | 1)) of(I64(a) / divisor(b)) of(I64(a) % -divisor(b)) \
  of(I32(a) / -I32(U32(b) >> 2 | 2)) of(U32(a) % (U32(b) | 1)) of(short(short(a) / (short(b) | 1))) \
  of((signed char)(a * b)) of(a << (b & 63)) of(I64(a) >> (b & 63)) of(mixed(a)) \
  of(folded(U128(a) * b)) of(folded(I128(I64(a)) * I64(b))) of(folded(wide(a, b) / (b | 1))) \
  of(folded(wide(a, b) % (b | 1))) of(folded(wide(a, b) / wide(b >> 20, a | 1))) of(folded(wide(a, b) / 10)) \
  of(folded(I128(wide(a, b)) / divisor(b))) of(folded(I128(wide(a, b)) % -divisor(b))) \
  of(folded(-(wide(b, a) + b - a))) of(folded(wide(a, b) >> (b & 127))) of(folded(wide(a, b) << (b & 127))) \
  of(folded(I128(wide(a, b)) >> (a & 127))) of(wide(a, b) < wide(b, a)) of(I128(wide(a, b)) > I128(b)) \
  of(power(a, b & 255, 1000000007 + (b >> 40))) of(power(a, 37, b | 1ull << 63))

#define FLOATS(of) \
  of(d(a) + d(b)) of(d(a) * d(b)) of(d(a) / d(b)) of(std::sqrt(d(a))) of(std::fma(d(a), d(b), d(a ^ b))) \
  of(f(a) + f(b)) of(f(a) * f(b)) of(f(a) / f(b)) of(std::sqrt(f(a))) of(std::fma(f(a), f(b), f(a >> 32))) \
  of(std::fmod(d(a), d(b))) of(std::fmod(f(a), f(b))) of(std::remainder(d(a), d(b)) + 0.0) \
  of(double(a)) of(float(a)) of(double(I64(a))) of(float(I64(a))) of(float(d(a))) of(double(f(a))) \
  of(std::fabs(d(a)) < 9e18 ? I64(d(a)) : 0) of(std::fabs(f(a)) < 2e9f ? I32(f(a)) : 0) \
  of(double(wide(a, b))) of(folded(std::fabs(d(a)) < 1e30 ? U128(std::fabs(d(a))) : 0)) \
  of(std::rint(d(a))) of(std::floor(f(a))) of(std::trunc(d(a))) of(std::ceil(f(a))) of(std::round(d(a))) \
  of(std::ldexp(d(a), I32(b % 100) - 50)) of(std::nextafter(d(a), d(b))) of(std::copysign(d(a), d(b))) \
  of(std::fmin(d(a), d(b)) + 0.0) of(std::fmax(f(a), f(b)) + 0.0f) of(std::fdim(d(a), d(b))) \
  of(d(a) < d(b)) of(d(a) >= d(b)) of(f(a) != f(b)) of(f(a) == f(a))
// clang-format on

HOST_VALUES(integers, U64, INTEGERS)
HOST_VALUES(floats, U64, FLOATS)

// Integers of all lengths, quotients as double and float, subnormal numbers and powers of two.
U64 operand(std::mt19937_64& random) {
  U64 const x = random();
  switch (random() % 8) {
    case 0:
      return x >> (x & 63);
    case 1:
      return bits_of<U64>(static_cast<double>(static_cast<I64>(x >> 40)) / 7);
    case 2:
      return bits_of<U32>(static_cast<float>(static_cast<I32>(x >> 45)) / 3) | x << 32;
    case 3:
      return ~(x & 3);
    case 4:
      return x & 0x800fffffffffffff;
    case 5:
      return 1ull << (x & 63);
    case 6:
      return (x & 0xffffffff) | (x & 0xff) << 32;
    default:
      return x;
  }
}

}  // namespace

int main() {
  compare_with_host(integers_texts, integers_kernel, integers, operand);
  compare_with_host(floats_texts, floats_kernel, floats, operand);
}
