// Implements tex, tld4 and txq of textures; suld, sust and suq of surfaces.
#include <algorithm>
#include <string>

#include "cuda_cpu/executor/machine/places.h"
#include "cuda_cpu/executor/steps/image.h"
#include "cuda_cpu/executor/steps/map.h"
#include "cuda_cpu/executor/steps/numbers.h"

namespace cuda_cpu {
namespace {

constexpr std::uint8_t kTrap = 0, kClamp = 1, kZero = 2;  // Step::choice of surface instructions

Form const& form_of(Warp const& warp, Step const& step) { return *warp.block.launch.kernel->forms[step.form_index]; }

bool fail(Warp const& warp, Step const& step, unsigned lane, FaultKind kind, std::string what,
          std::uintptr_t address = 0) {
  return warp.block.fail(warp, step, Mask{1} << lane, kind, std::move(what), address);
}

// Returns the image of a lane's handle, or null after reporting that the handle is invalid.
Image const* find_image(Warp& warp, Step const& step, unsigned lane) {
  U64 const handle = warp.at<U64>(step.base)[lane];
  bool const is_surface = form_of(warp, step).opcode().starts_with("su");
  auto& known = warp.block.images[handle];
  auto const& find = warp.block.launch.options->find_image;
  if (known == nullptr && find) known = find(handle);
  if (known != nullptr && known->is_surface == is_surface) return known.get();
  std::string const name = is_surface ? "surface" : "texture";
  fail(warp, step, lane, FaultKind::illegal_address,
       known != nullptr ? "a " + name + " object that is a " + (is_surface ? "texture" : "surface") + " object, " +
                              hexadecimal(handle)
                        : "a " + name + " object that was destroyed or never created, " + hexadecimal(handle),
       handle);
  return nullptr;
}

// The registers of the coordinates of a step.
class Coordinates {
 public:
  Coordinates(Warp& warp, Step const& step) : warp_(warp), registers_(step.many->registers.front()) {
    Form const& form = form_of(warp, step);
    first_ = form.has_layer ? 1 : 0;
    dimensions_ = form.dimensions;
  }

  unsigned dimensions() const noexcept { return dimensions_; }
  template <class T>
  std::array<T, 3> of(unsigned lane) const {
    std::array<T, 3> all{};
    for (unsigned i = 0; i < dimensions_; ++i) all[i] = warp_.at<T>(registers_[first_ + i])[lane];
    return all;
  }
  bool has_layer() const noexcept { return first_ != 0; }
  std::int32_t layer(unsigned lane) const { return has_layer() ? warp_.at<std::int32_t>(registers_[0])[lane] : 0; }

 private:
  Warp& warp_;
  std::vector<Location> const& registers_;
  unsigned first_ = 0;
  unsigned dimensions_ = 0;
};

// Loads atomically, since other threads may access the memory at the same time.
U64 load_channel(std::byte const* from, std::uint32_t bytes) {
  switch (bytes) {
    case 1: return __atomic_load_n(reinterpret_cast<std::uint8_t const*>(from), __ATOMIC_RELAXED);
    case 2: return __atomic_load_n(reinterpret_cast<U16 const*>(from), __ATOMIC_RELAXED);
    case 4: return __atomic_load_n(reinterpret_cast<U32 const*>(from), __ATOMIC_RELAXED);
    default: return __atomic_load_n(reinterpret_cast<U64 const*>(from), __ATOMIC_RELAXED);
  }
}
void store_channel(std::byte* to, std::uint32_t bytes, U64 value) {
  switch (bytes) {
    case 1:
      __atomic_store_n(reinterpret_cast<std::uint8_t*>(to), static_cast<std::uint8_t>(value), __ATOMIC_RELAXED);
      break;
    case 2: __atomic_store_n(reinterpret_cast<U16*>(to), static_cast<U16>(value), __ATOMIC_RELAXED); break;
    case 4: __atomic_store_n(reinterpret_cast<U32*>(to), static_cast<U32>(value), __ATOMIC_RELAXED); break;
    default: __atomic_store_n(reinterpret_cast<U64*>(to), value, __ATOMIC_RELAXED);
  }
}

// Reads textures for one step.
class Sampler {
 public:
  Sampler(Warp& warp, Step const& step) : warp_(warp), step_(step), coordinates_(warp, step) {}

  bool sample(Image const& image, unsigned lane, bool by_index) {
    unsigned const dimensions = coordinates_.dimensions();
    if (!by_index && image.is_linear_memory)
      return fail(warp_, step_, lane, FaultKind::illegal_address,
                  "a read of linear memory by tex1D(), which needs an array; use tex1Dfetch()");
    Footprint const from = by_index ? footprint_of(image, coordinates_.of<std::int32_t>(lane), dimensions)
                                    : footprint_of(image, coordinates_.of<float>(lane), dimensions);
    return read_all(image, lane, from, coordinates_.layer(lane));
  }

  bool sample_cube(Image const& image, unsigned lane) {
    CubePlace place = cube_place_of(coordinates_.of<float>(lane));
    for (unsigned i = 0; i < 2 && !image.normalized_coordinates; ++i)
      place.coordinates[i] *= static_cast<float>(image.size[i]);
    return read_all(image, lane, footprint_of(image, place.coordinates, 2), 6 * coordinates_.layer(lane) + place.face);
  }

  bool gather(Image const& image, unsigned lane, unsigned channel) {
    Footprint const from = gathered(image, coordinates_.of<float>(lane));
    Texel made{};
    for (unsigned i = 0; i < from.count; ++i) {
      Texel one{};
      if (!read(image, lane, from.parts[i], 0, one)) return false;
      made[i] = one[channel];
    }
    write(lane, made);
    return true;
  }

 private:
  bool read_all(Image const& image, unsigned lane, Footprint const& from, std::int64_t layer) {
    Texel made{};
    if (from.count == 1) {
      if (!read(image, lane, from.parts[0], layer, made)) return false;
    } else if (!add(image, lane, from, layer, made)) {
      return false;
    }
    write(lane, made);
    return true;
  }

  bool read(Image const& image, unsigned lane, Footprint::Part const& part, std::int64_t layer, Texel& out) {
    out = image.border;
    if (part.is_border) return true;
    U64 const slice = part.at[2] + static_cast<U64>(std::clamp<std::int64_t>(layer, 0, std::int64_t{image.layers} - 1));
    U64 const address =
        image.memory + slice * image.slice_pitch + part.at[1] * image.row_pitch + U64{part.at[0]} * image.texel_bytes();
    auto const* const from = warp_.block.quick_at<Space::global>(warp_, step_, lane, address, image.texel_bytes());
    if (from == nullptr) return false;
    Texel bits{};
    for (unsigned i = 0; i < image.channels; ++i)
      bits[i] = static_cast<U32>(load_channel(from + i * image.channel_bytes, image.channel_bytes));
    out = decoded(image, bits);
    return true;
  }

  // Sums floats by their weights. Does not read texels of zero weight.
  bool add(Image const& image, unsigned lane, Footprint const& from, std::int64_t layer, Texel& out) {
    std::array<float, 4> sum{};
    for (unsigned i = 0; i < from.count; ++i) {
      Texel one{};
      if (from.parts[i].weight == 0) continue;
      if (!read(image, lane, from.parts[i], layer, one)) return false;
      for (unsigned j = 0; j < 4; ++j) sum[j] += from.parts[i].weight * as_float(one[j]);
    }
    for (unsigned j = 0; j < 4; ++j) out[j] = bits_of(sum[j]);
    return true;
  }

  void write(unsigned lane, Texel const& texel) {
    for (unsigned i = 0; i < 4; ++i) write_register<U32>(warp_, step_, i, lane, texel[i]);
  }

  Warp& warp_;
  Step const& step_;
  Coordinates const coordinates_;
};

// Calls `visit(image, lane)` for each lane, until it returns false.
template <class Visit>
bool each_image(Warp& warp, Step const& step, Mask lanes, Visit const& visit) {
  for (; lanes != 0; lanes &= lanes - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(lanes));
    Image const* const image = find_image(warp, step, lane);
    if (image == nullptr || !visit(*image, lane)) return false;
  }
  return true;
}

template <bool kByIndex>
bool sample(Warp& warp, Step const& step, Mask lanes) {
  Sampler sampler(warp, step);
  return each_image(warp, step, lanes,
                    [&](Image const& image, unsigned lane) { return sampler.sample(image, lane, kByIndex); });
}

bool sample_cube(Warp& warp, Step const& step, Mask lanes) {
  Sampler sampler(warp, step);
  return each_image(warp, step, lanes,
                    [&](Image const& image, unsigned lane) { return sampler.sample_cube(image, lane); });
}

bool gather(Warp& warp, Step const& step, Mask lanes) {
  Sampler sampler(warp, step);
  return each_image(warp, step, lanes,
                    [&](Image const& image, unsigned lane) { return sampler.gather(image, lane, step.choice); });
}

bool query(Warp& warp, Step const& step, Mask lanes) {
  return each_image(warp, step, lanes, [&](Image const& image, unsigned lane) {
    warp.at<U32>(step.destination[0])[lane] = image.size[step.choice];
    return true;
  });
}

bool fail_outside(Warp const& warp, Step const& step, unsigned lane, Image const& image,
                  std::array<std::int32_t, 3> const& at, std::int64_t slice) {
  auto const size = [](std::uint64_t value) { return std::to_string(value); };
  std::string const name = warp.block.launch.memory->name_of(image.memory);
  return fail(warp, step, lane, FaultKind::out_of_range,
              "an access of " + size(step.bytes) + " bytes of a surface at byte " + std::to_string(at[0]) + " of row " +
                  std::to_string(at[1]) + (image.layers > 1 ? " of layer " : " of slice ") + std::to_string(slice) +
                  ", outside of " + size(image.row_pitch) + " bytes x " + size(image.size[1]) + " rows x " +
                  size(std::max(image.size[2], image.layers)) + (name.empty() ? "" : ", " + name));
}

// Sets `place` to the memory that a surface access reads or writes, or to null if the coordinates are outside and the
// access is ignored. Returns false after a fault.
bool find_place(Warp& warp, Step const& step, unsigned lane, Image const& image, Coordinates const& coordinates,
                std::byte*& place) {
  auto const at = coordinates.of<std::int32_t>(lane);
  bool const has_layer = coordinates.has_layer();
  std::int64_t index[] = {at[0], at[1], has_layer ? coordinates.layer(lane) : at[2]};
  std::int64_t const last[] = {static_cast<std::int64_t>(image.size[0]) * image.texel_bytes() - step.bytes,
                               static_cast<std::int64_t>(image.size[1]) - 1,
                               static_cast<std::int64_t>(has_layer ? image.layers : image.size[2]) - 1};
  place = nullptr;
  for (unsigned i = 0; i < 3; ++i) {
    if (index[i] >= 0 && index[i] <= last[i]) continue;
    if (step.choice == kTrap || last[i] < 0) return fail_outside(warp, step, lane, image, at, index[2]);
    if (step.choice == kZero) return true;
    index[i] = std::clamp<std::int64_t>(index[i], 0, last[i]);
  }
  U64 const address = image.memory + static_cast<U64>(index[2]) * image.slice_pitch +
                      static_cast<U64>(index[1]) * image.row_pitch + static_cast<U64>(index[0]);
  place = warp.block.quick_at<Space::global>(warp, step, lane, address, step.bytes);
  return place != nullptr;
}

bool load_surface(Warp& warp, Step const& step, Mask lanes) {
  Coordinates const coordinates(warp, step);
  std::uint32_t const bytes = step.bytes / step.count;
  return each_image(warp, step, lanes, [&](Image const& image, unsigned lane) {
    std::byte* from = nullptr;
    if (!find_place(warp, step, lane, image, coordinates, from)) return false;
    for (unsigned i = 0; i < step.count; ++i)
      write_register<U64>(warp, step, i, lane, from == nullptr ? 0 : load_channel(from + i * bytes, bytes));
    return true;
  });
}

bool store_surface(Warp& warp, Step const& step, Mask lanes) {
  Coordinates const coordinates(warp, step);
  std::uint32_t const bytes = step.bytes / step.count;
  return each_image(warp, step, lanes, [&](Image const& image, unsigned lane) {
    std::byte* to = nullptr;
    if (!find_place(warp, step, lane, image, coordinates, to)) return false;
    for (unsigned i = 0; to != nullptr && i < step.count; ++i)
      store_channel(to + i * bytes, bytes, read_register<U64>(warp, step, i, lane));
    return true;
  });
}

// Returns the index, in `words`, of the word that a form has.
std::uint8_t choice_of(Form const& form, std::initializer_list<std::string_view> words) {
  std::uint8_t place = 0;
  for (auto const word : words) {
    if (form.has(word)) break;
    ++place;
  }
  return place;
}

}  // namespace

Handler select_image(Form const& form, Step& step) {
  std::string_view const op = form.opcode();
  if (op != "tex" && op != "tld4" && op != "txq" && op != "suq" && op != "suld" && op != "sust") return nullptr;
  step.space = Space::global;
  step.count = static_cast<std::uint8_t>(form.vector_size);
  if (op == "tex" && (form.has("cube") || form.has("acube"))) return sample_cube;
  if (op == "tex") return form.type == Type::s32 ? sample<true> : sample<false>;
  if (op == "tld4") {
    step.choice = choice_of(form, {"r", "g", "b", "a"});
    return gather;
  }
  if (op == "txq" || op == "suq") {
    step.choice = choice_of(form, {"width", "height", "depth"});
    return query;
  }
  static_assert(kTrap == 0 && kClamp == 1 && kZero == 2);
  step.choice = choice_of(form, {"trap", "clamp", "zero"});
  step.bytes = static_cast<std::uint8_t>(size_bytes(form.type) * form.vector_size);
  step.writes = op == "sust";
  return op == "sust" ? store_surface : load_surface;
}

}  // namespace cuda_cpu
