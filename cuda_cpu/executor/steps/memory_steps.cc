// Implements ld, st and fences. Memory that other threads may access at the same time is accessed by relaxed atomics of
// the size of the access.
#include <atomic>
#include <cstring>
#include <type_traits>

#include "cuda_cpu/executor/steps/map.h"

#if defined(__GNUC__) && !defined(__clang__) && defined(__SANITIZE_THREAD__)
#pragma GCC diagnostic ignored "-Wtsan"  // the fences order only atomics, which the sanitizer understands without them
#endif

namespace cuda_cpu {
namespace {

constexpr std::uint8_t kAcquire = 1, kRelease = 2;  // values of Step::choice

// Shared and local memory are used by one host thread at a time, so they need no atomics.
template <class T, bool kAtomic>
T load_one(std::byte const* from, int order) {
  if constexpr (kAtomic) return __atomic_load_n(reinterpret_cast<T const*>(from), order);
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T, bool kAtomic>
void store_one(std::byte* to, T value, int order) {
  if constexpr (kAtomic)
    __atomic_store_n(reinterpret_cast<T*>(to), value, order);
  else
    std::memcpy(to, &value, sizeof value);
}

template <class T, Space kSpace>
bool load(Warp& warp, Step const& step, Mask lanes) {
  auto const bytes = static_cast<std::uint32_t>(sizeof(T)) * step.count;
  for (; lanes != 0; lanes &= lanes - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(lanes));
    std::byte const* const from = warp.block.quick<kSpace>(warp, step, lane, bytes);
    if (from == nullptr) return false;
    for (unsigned i = 0; i < step.count; ++i) {
      int const order = step.choice == kAcquire ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED;
      write_register<T>(warp, step, i, lane, load_one<T, kSpace == Space::global>(from + i * sizeof(T), order));
    }
  }
  return true;
}

template <class T, Space kSpace>
bool store(Warp& warp, Step const& step, Mask lanes) {
  using Bits = std::make_unsigned_t<T>;
  auto const bytes = static_cast<std::uint32_t>(sizeof(T)) * step.count;
  for (; lanes != 0; lanes &= lanes - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(lanes));
    Bits values[4] = {};
    for (unsigned i = 0; i < step.count; ++i) values[i] = read_register<Bits>(warp, step, i, lane);
    std::byte* const to = warp.block.quick<kSpace>(warp, step, lane, bytes);
    if (to == nullptr) return false;
    for (unsigned i = 0; i < step.count; ++i) {
      store_one<Bits, kSpace == Space::global>(to + i * sizeof(T), values[i],
                                               step.choice == kRelease ? __ATOMIC_RELEASE : __ATOMIC_RELAXED);
    }
  }
  return true;
}

bool fence(Warp&, Step const&, Mask) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return true;
}

// Loads from the parameter buffer of the launch.
template <class T>
bool load_parameter(Warp& warp, Step const& step, Mask lanes) {
  auto const& parameters = warp.block.launch.parameters;
  auto const bytes = sizeof(T) * step.count;
  for (; lanes != 0; lanes &= lanes - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(lanes));
    U64 const at = address_of(warp, step, lane);
    if (at > parameters.size() || bytes > parameters.size() - at) {
      return warp.block.fail(warp, step, Mask{1} << lane, FaultKind::illegal_address, "an access beyond the parameters",
                             at);
    }
    if (at % bytes != 0)
      return warp.block.fail(warp, step, Mask{1} << lane, FaultKind::misaligned_address,
                             "a misaligned access to a parameter", at);
    for (unsigned i = 0; i < step.count; ++i) {
      write_register<T>(warp, step, i, lane, load_one<T, false>(parameters.data() + at + i * sizeof(T), 0));
    }
  }
  return true;
}

template <class T, Space kSpace>
Handler select_direction(Form const& form) {
  return form.opcode() == "st" ? store<T, kSpace> : load<T, kSpace>;
}

// Generic and constant addresses are handled like global addresses.
template <class T>
Handler select_width(Form const& form, Step const& step) {
  if (step.space == Space::param) return form.opcode() == "st" ? nullptr : Handler{load_parameter<T>};
  if (step.space == Space::shared) return select_direction<T, Space::shared>(form);
  return step.space == Space::local ? select_direction<T, Space::local>(form)
                                    : select_direction<T, Space::global>(form);
}

}  // namespace

Handler select_memory(Form const& form, Step& step) {
  std::string_view const op = form.opcode();
  if (op == "membar" || op == "fence") {
    step.span = SpanKind::memory_fence;
    return fence;
  }
  if (op != "ld" && op != "st" && op != "ldu") return nullptr;
  bool const loads = op != "st";
  step.writes = !loads;
  if (form.space == Space::shared) step.span = loads ? SpanKind::lds : SpanKind::sts;
  if (form.space == Space::global || form.space == Space::generic) step.span = loads ? SpanKind::ldg : SpanKind::stg;
  step.count = static_cast<std::uint8_t>(form.vector_size);
  step.bytes = static_cast<std::uint8_t>(size_bytes(form.type) * form.vector_size);
  step.choice = form.has("acquire") ? kAcquire : form.has("release") ? kRelease : 0;
  switch (form.type) {
    case Type::s8: return select_width<std::int8_t>(form, step);
    case Type::s16: return select_width<std::int16_t>(form, step);
    case Type::s32: return select_width<std::int32_t>(form, step);
    case Type::s64: return select_width<std::int64_t>(form, step);
    default: break;
  }
  switch (size_bytes(form.type)) {
    case 1: return select_width<std::uint8_t>(form, step);
    case 2: return select_width<std::uint16_t>(form, step);
    case 4: return select_width<std::uint32_t>(form, step);
    default: return select_width<std::uint64_t>(form, step);
  }
}

}  // namespace cuda_cpu
