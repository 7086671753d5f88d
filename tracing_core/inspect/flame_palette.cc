// All computations are in integers, so that a picture is the same on every machine.
#include "tracing_core/inspect/flame_palette.h"

#include <array>
#include <cstddef>

#include "tracing_core/model/number_text.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

constexpr int kWhole = 1000;

int thousandths(std::uint64_t hash) noexcept { return static_cast<int>(hash % (kWhole + 1)); }

constexpr std::array<Rgb, 12> kHues{{{240, 138, 93},
                                     {244, 184, 96},
                                     {222, 205, 98},
                                     {166, 202, 110},
                                     {116, 190, 138},
                                     {98, 190, 182},
                                     {106, 176, 216},
                                     {130, 156, 224},
                                     {162, 142, 220},
                                     {196, 134, 206},
                                     {224, 130, 172},
                                     {206, 158, 128}}};

}  // namespace

Rgb mixed(Rgb from, Rgb to, int part) noexcept {
  auto const mix = [part](int a, int b) { return (a * (kWhole - part) + b * part + kWhole / 2) / kWhole; };
  return {mix(from.red, to.red), mix(from.green, to.green), mix(from.blue, to.blue)};
}

std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
  for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  hash ^= hash >> 29;  // the high bits depend on more of the text than the low bits
  return hash * 0xBF58476D1CE4E5B9 >> 3;
}

// Mixes two colours, and makes the result up to a fifth lighter.
Rgb hot_color(std::string_view name) noexcept {
  std::uint64_t const hash = hash_of(name);
  return mixed(mixed({236, 102, 62}, {248, 200, 84}, thousandths(hash)), {255, 255, 255}, thousandths(hash >> 32) / 5);
}

Rgb module_color(std::string_view name) noexcept {
  std::string_view const module = name.substr(0, name.size() - short_name(name).size());
  Rgb const hue = kHues[hash_of(module) % kHues.size()];
  return mixed(hue, {255, 255, 255}, thousandths(hash_of(name)) * 2 / 5);
}

Rgb difference_color(std::uint64_t before, std::uint64_t after, std::uint64_t largest) noexcept {
  constexpr Rgb kSame{232, 232, 228};
  if (before == after) return kSame;
  Rgb const strongest = after > before ? Rgb{232, 76, 61} : Rgb{72, 122, 232};
  std::uint64_t const change = after > before ? after - before : before - after;
  return mixed(kSame, strongest, static_cast<int>(Uint128{change} * kWhole / largest));
}

std::string_view short_name(std::string_view name) noexcept {
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (std::string_view("<([{").find(name[i]) != std::string_view::npos) ++depth;
    if (depth > 0 && std::string_view(">)]}").find(name[i]) != std::string_view::npos) --depth;
    if (depth == 0 && name.substr(i, 2) == "::" && i + 2 < name.size()) begin = i + 2;
  }
  return name.substr(begin);
}

}}}  // namespace tracing::v1::internal
