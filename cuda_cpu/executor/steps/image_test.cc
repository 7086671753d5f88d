// Textures: each form of their instructions against the formulas of the CUDA C++ Programming Guide, in double
// precision.
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

#include "cuda_cpu/executor/steps/image_test_support.h"

namespace cuda_cpu { namespace {

// Returns the index that a texture reads, -1 for the border. Searches it step by step.
int addressed(int at, int size, Addressing mode) {
  while (at < 0 || at >= size) {
    if (mode == Addressing::border) return -1;
    if (mode == Addressing::clamp) at = at < 0 ? 0 : size - 1;
    if (mode == Addressing::wrap) at += at < 0 ? size : -size;
    if (mode == Addressing::mirror) at = at < 0 ? -1 - at : 2 * size - 1 - at;
  }
  return at;
}

// Computes the values that the guide specifies for a texture, with `texel(index)` for a channel.
struct Model {
  Image const& image;
  std::function<double(std::array<int, 3>)> texel;

  double at(std::array<int, 3> index, unsigned dimensions) const {
    for (unsigned i = 0; i < dimensions; ++i) {
      index[i] = addressed(index[i], static_cast<int>(image.size[i]), image.addressing[i]);
      if (index[i] < 0) return static_cast<double>(std::bit_cast<float>(image.border[0]));
    }
    return texel(index);
  }
  // Interpolates along one dimension after the other.
  double read(std::array<double, 3> const& x, unsigned dimensions, unsigned dimension = 0,
              std::array<int, 3> index = {}) const {
    if (dimension == dimensions) return at(index, dimensions);
    double const scaled = image.normalized_coordinates ? x[dimension] * image.size[dimension] : x[dimension];
    double const from = image.filters ? scaled - 0.5 : scaled;
    index[dimension] = static_cast<int>(std::floor(from));
    double const low = read(x, dimensions, dimension + 1, index);
    if (!image.filters) return low;
    ++index[dimension];
    double const alpha = std::nearbyint((from - std::floor(from)) * 256) / 256;
    return (1 - alpha) * low + alpha * read(x, dimensions, dimension + 1, index);
  }
};

// Coordinates inside and around an image of `size`, and a layer, as an instruction takes them.
struct Place {
  std::array<double, 3> at{};
  std::uint32_t layer = 0;
  Words words;
};

TEST_F(Images, TexturesAreReadAsTheGuideSays) {
  unsigned compared = 0;
  for (auto const* const form : forms_of("tex")) {
    if (is_cube(*form)) continue;
    bool const by_index = form->type == ptx::Type::s32;
    unsigned const dimensions = dimensions_of(*form), layers = form->has_layer ? 3 : 1;
    for (unsigned variant = 0; variant < 16; ++variant) {
      Image image = sized(7, dimensions > 1 ? 5 : 1,
                          form->has_layer  ? layers
                          : dimensions > 2 ? 4
                                           : 1,
                          form->has_layer, Channel::floating, 4, 1);
      image.filters = !by_index && variant % 2 == 0;
      image.normalized_coordinates = !by_index && variant / 2 % 2 == 0;
      auto const mode = static_cast<Addressing>(image.normalized_coordinates ? variant / 4 : 1 + variant / 4 % 2 * 2);
      image.addressing.fill(mode);
      image.border.fill(std::bit_cast<std::uint32_t>(-3.0F));
      std::vector<float> texels(image.size[0] * image.size[1] * image.size[2] * layers);
      for (auto& one : texels) one = static_cast<float>(random() % 1000) / 8;
      auto const bytes = std::as_bytes(std::span(texels));
      auto const handle = add(image, {bytes.begin(), bytes.end()});

      std::vector<Place> places(kThreads);
      std::vector<Words> words;
      for (auto& place : places) {
        unsigned next = 0;
        if (form->has_layer) place.words.at[next++] = place.layer = random() % layers;
        for (unsigned i = 0; i < dimensions; ++i) {
          float const scale = image.normalized_coordinates ? static_cast<float>(image.size[i]) : 1;
          float const x = (static_cast<float>(random() % 2400) / 100 - 8) / scale;
          int const index = static_cast<int>(random() % 20) - 6;
          place.at[i] = by_index ? static_cast<double>(index) : static_cast<double>(x);
          place.words.at[next++] = by_index ? std::bit_cast<std::uint32_t>(index) : std::bit_cast<std::uint32_t>(x);
        }
        words.push_back(place.words);
      }
      auto const results = run(*form, handle, words);
      ASSERT_EQ(text_of(fault), "") << form->name;
      for (unsigned i = 0; i < kThreads; ++i) {
        Model const model{image, [&](std::array<int, 3> const& at) {
                            auto const row = (static_cast<unsigned>(at[2]) + places[i].layer) * image.size[1] +
                                             static_cast<unsigned>(at[1]);
                            return static_cast<double>(texels[row * image.size[0] + static_cast<unsigned>(at[0])]);
                          }};
        auto const is = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(results[i].at[0])));
        ASSERT_NEAR(is, model.read(places[i].at, dimensions), 1e-4)
            << form->name << ' ' << variant << ' ' << places[i].at[0];
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, 60 * 16 * kThreads);
}

// Each face holds 100 times its number, and more to the right and downwards. Its axes are as for the faces of OpenGL.
TEST_F(Images, CubemapsAreReadByDirection) {
  static constexpr struct {
    std::array<float, 3> center, right, down;
  } kFaces[] = {{{1, 0, 0}, {0, 0, -1}, {0, -1, 0}}, {{-1, 0, 0}, {0, 0, 1}, {0, -1, 0}},
                {{0, 1, 0}, {1, 0, 0}, {0, 0, 1}},   {{0, -1, 0}, {1, 0, 0}, {0, 0, -1}},
                {{0, 0, 1}, {1, 0, 0}, {0, -1, 0}},  {{0, 0, -1}, {-1, 0, 0}, {0, -1, 0}}};
  constexpr unsigned kSide = 8, kCubes = 2;
  std::vector<float> texels(kSide * kSide * 6 * kCubes);
  for (unsigned i = 0; i < texels.size(); ++i)
    texels[i] = static_cast<float>(i / (kSide * kSide) * 100 + i % kSide * 2 + i / kSide % kSide);
  for (auto const* const form : forms_of("tex")) {
    if (!is_cube(*form)) continue;
    for (bool const is_normalized : {false, true}) {
      Image image = sized(kSide, kSide, 6 * kCubes, true, Channel::floating, 4, 1);
      image.filters = true;
      image.normalized_coordinates = is_normalized;
      auto const bytes = std::as_bytes(std::span(texels));
      auto const handle = add(image, {bytes.begin(), bytes.end()});
      std::vector<Words> words(kThreads);
      std::vector<float> expected;
      for (unsigned i = 0; i < kThreads; ++i) {
        unsigned const cube = form->has("acube") ? i % kCubes : 0, face = i % 6;
        // In texels from the middle of the face, at places where the filter is exact.
        float const right = static_cast<float>(i % 7) / 2 - 1.5F, down = static_cast<float>(i % 5) / 4 - 0.5F;
        expected.push_back(static_cast<float>(cube * 600 + face * 100) + (right + 3.5F) * 2 + down + 3.5F);
        if (form->has("acube")) words[i].at[0] = cube;
        for (unsigned j = 0; j < 3; ++j) {
          auto const& its = kFaces[face];
          float const direction = 4 * its.center[j] + its.right[j] * right + its.down[j] * down;
          words[i].at[form->has("acube") ? j + 1 : j] = std::bit_cast<std::uint32_t>(direction);
        }
      }
      auto const results = run(*form, handle, words);
      ASSERT_EQ(text_of(fault), "") << form->name;
      for (unsigned i = 0; i < kThreads; ++i)
        EXPECT_FLOAT_EQ(std::bit_cast<float>(static_cast<std::uint32_t>(results[i].at[0])), expected[i])
            << form->name << ' ' << i;
    }
  }
}

TEST_F(Images, ChannelsBecomeIntegersOrFloats) {
  auto const* const form = ptx::find_form("tex.1d.v4.u32.s32");
  std::vector<Words> words(kThreads);
  for (unsigned i = 0; i < kThreads; ++i) words[i].at[0] = i;
  for (auto const channel : {Channel::unsigned_integer, Channel::signed_integer}) {
    for (unsigned const bytes : {1U, 2U, 4U}) {
      for (unsigned const channels : {1U, 2U, 4U}) {
        for (bool const normalized : {false, true}) {
          Image image = sized(kThreads, 1, 1, false, channel, bytes, channels);
          image.reads_normalized = normalized;
          auto const texels = random_bytes(kThreads * bytes * channels);
          auto const results = run(*form, add(image, texels), words);
          ASSERT_EQ(text_of(fault), "");
          for (unsigned i = 0; i < kThreads * channels; ++i) {
            std::int64_t value = 0;
            for (unsigned j = bytes; j > 0; --j) value = value * 256 + static_cast<int>(texels[i * bytes + j - 1]);
            std::int64_t const end = std::int64_t{1} << (8 * bytes);
            bool const is_signed = channel == Channel::signed_integer;
            if (is_signed && value >= end / 2) value -= end;
            auto const is = static_cast<std::uint32_t>(results[i / channels].at[i % channels]);
            if (normalized && bytes < 4) {
              double const most = static_cast<double>(is_signed ? end / 2 - 1 : end - 1);
              ASSERT_NEAR(static_cast<double>(std::bit_cast<float>(is)),
                          std::max(static_cast<double>(value) / most, -1.0), 1e-7);
            } else {
              ASSERT_EQ(is, static_cast<std::uint32_t>(value));
            }
          }
        }
      }
    }
  }
}

TEST_F(Images, HalvesAreFloats) {
  Image const image = sized(kThreads, 1, 1, false, Channel::floating, 2, 1);
  std::vector<std::byte> bytes;
  std::vector<Words> words(kThreads);
  for (unsigned i = 0; i < kThreads; ++i) {
    unsigned const half = (i << 10) | 0x155;  // halves of each exponent, with the fraction 341 / 1024
    bytes.push_back(static_cast<std::byte>(half));
    bytes.push_back(static_cast<std::byte>(half >> 8));
    words[i].at[0] = i;
  }
  auto const results = run(*ptx::find_form("tex.1d.v4.f32.s32"), add(image, bytes), words);
  for (unsigned i = 0; i < 31; ++i) {
    double const value = i == 0 ? 341 * 0x1p-24 : (1024 + 341) * std::ldexp(1.0, static_cast<int>(i) - 25);
    EXPECT_EQ(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(results[i].at[0]))), value) << i;
  }
}

TEST_F(Images, SrgbBecomesLinearExceptTheFourthChannel) {
  Image image = sized(kThreads, 1, 1, false, Channel::unsigned_integer, 1, 4);
  image.reads_normalized = image.decodes_srgb = true;
  auto const texels = random_bytes(4 * kThreads);
  std::vector<Words> words(kThreads);
  for (unsigned i = 0; i < kThreads; ++i) words[i].at[0] = i;
  auto const results = run(*ptx::find_form("tex.1d.v4.f32.s32"), add(image, texels), words);
  for (unsigned i = 0; i < 4 * kThreads; ++i) {
    double const stored = static_cast<int>(texels[i]) / 255.0;
    double const linear = stored <= 0.04045 ? stored / 12.92 : std::pow((stored + 0.055) / 1.055, 2.4);
    EXPECT_NEAR(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(results[i / 4].at[i % 4]))),
                i % 4 == 3 ? stored : linear, 1e-6);
  }
}

TEST_F(Images, GatherReadsTheTexelsOfALinearFilter) {
  Image const image = sized(6, 4, 1, false, Channel::signed_integer, 4, 4);
  auto const bytes = random_bytes(6 * 4 * 16);
  auto const handle = add(image, bytes);
  std::vector<int> texels(6 * 4 * 4);
  std::memcpy(texels.data(), bytes.data(), bytes.size());
  for (auto const* const form : forms_of("tld4")) {
    std::vector<Words> words(kThreads);
    std::vector<std::array<int, 2>> first(kThreads);  // the texel to the upper left of the place
    for (unsigned i = 0; i < kThreads; ++i) {
      for (unsigned j = 0; j < 2; ++j) {
        first[i][j] = static_cast<int>(random() % 8) - 2;
        words[i].at[j] = std::bit_cast<std::uint32_t>(static_cast<float>(first[i][j]) + 0.75F);
      }
    }
    auto const results = run(*form, handle, words);
    ASSERT_EQ(text_of(fault), "");
    unsigned const channel = form->has("r") ? 0 : form->has("g") ? 1 : form->has("b") ? 2 : 3;
    for (unsigned i = 0; i < kThreads; ++i) {
      auto const texel = [&](int right, int down) {
        int const x = std::clamp(first[i][0] + right, 0, 5), y = std::clamp(first[i][1] + down, 0, 3);
        return static_cast<std::uint32_t>(texels[static_cast<unsigned>(y * 6 + x) * 4 + channel]);
      };
      std::vector<std::uint64_t> const expected{texel(0, 1), texel(1, 1), texel(1, 0), texel(0, 0)};
      EXPECT_EQ(std::vector(results[i].at.begin(), results[i].at.end()), expected) << form->name;
    }
  }
}

TEST_F(Images, SizesAreQueried) {
  for (std::string const opcode : {"txq", "suq"}) {
    Image image = sized(9, 6, 3, false, Channel::floating, 4, 1);
    image.is_surface = opcode == "suq";
    auto const handle = add(image, std::vector<std::byte>(9 * 6 * 3 * 4));
    for (auto const& [word, size] : {std::pair{"width", 9U}, {"height", 6U}, {"depth", 3U}}) {
      std::string const name = opcode + "." + word + ".b32";
      EXPECT_EQ(run(*ptx::find_form(name), handle, std::vector<Words>(kThreads))[7].at[0], size) << name;
    }
  }
}

TEST_F(Images, HandlesAreChecked) {
  auto const& tex = *ptx::find_form("tex.1d.v4.f32.s32");
  run(tex, 77, std::vector<Words>(kThreads));
  EXPECT_TRUE(
      text_of(fault).starts_with("a texture object that was destroyed or never created, 0x4d: kernel k, PTX line 9 "))
      << text_of(fault);
  Image image = sized(4, 1, 1, false, Channel::floating, 4, 1);
  image.is_surface = true;
  run(tex, add(image, std::vector<std::byte>(16)), std::vector<Words>(kThreads));
  EXPECT_TRUE(text_of(fault).starts_with("a texture object that is a surface object, 0x1: ")) << text_of(fault);
}

TEST_F(Images, LinearMemoryIsReadByIndexOnly) {
  Image image = sized(4, 1, 1, false, Channel::floating, 4, 1);
  image.is_linear_memory = true;
  run(*ptx::find_form("tex.1d.v4.f32.f32"), add(image, std::vector<std::byte>(16)), std::vector<Words>(kThreads));
  EXPECT_TRUE(text_of(fault).starts_with("a read of linear memory by tex1D()")) << text_of(fault);
}

TEST_F(Images, FreedMemoryIsAFault) {
  Image const image = sized(4, 1, 1, false, Channel::floating, 4, 1);
  auto const handle = add(image, std::vector<std::byte>(16));
  device.memory.free(reinterpret_cast<std::uintptr_t>(memory));
  run(*ptx::find_form("tex.1d.v4.f32.s32"), handle, std::vector<Words>(kThreads));
  EXPECT_NE(text_of(fault).find("in 16 bytes (allocation 1) that were freed"), std::string::npos) << text_of(fault);
}

// A texture that is read in the center of a texel gives the neighbouring texels a weight of zero.
TEST_F(Images, TexelsThatWereNeverWrittenAreFound) {
  Image image = sized(4, 1, 1, false, Channel::floating, 4, 1);
  image.filters = true;
  auto const handle = add(image, std::vector<std::byte>(16));
  auto const address = reinterpret_cast<std::uintptr_t>(memory);
  device.memory.track_writes(address);
  device.memory.mark_written(address + 4, 4);
  device.options.checks.init = true;
  auto const& form = *ptx::find_form("tex.1d.v4.f32.f32");
  std::vector<Words> words(kThreads);
  for (auto& one : words) one.at[0] = std::bit_cast<std::uint32_t>(1.5F);
  run(form, handle, words);
  EXPECT_EQ(text_of(fault), "");
  words[5].at[0] = std::bit_cast<std::uint32_t>(1.75F);
  run(form, handle, words);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::uninitialized);
  EXPECT_EQ(fault->lanes, 32u);
}

// Runs kernels that nvcc compiled.
class TextureKernels : public Images {
 protected:
  TextureKernels() {
    std::ifstream file(TESTLOG_TEST_DIR "/nvcc_kernels/textures.75.ptx", std::ios::binary);
    EXPECT_TRUE(file);
    device.load(std::string{std::istreambuf_iterator<char>(file), {}});
  }
  template <class T>
  std::uint64_t add_values(Image const& image, std::vector<T> const& values) {
    auto const bytes = std::as_bytes(std::span(values));
    return add(image, {bytes.begin(), bytes.end()});
  }
};

TEST_F(TextureKernels, SignalsAreInterpolated) {
  Image signal = sized(16, 1, 1, false, Channel::floating, 4, 1);
  signal.filters = true;
  std::vector<float> values(16);
  for (unsigned i = 0; i < 16; ++i) values[i] = static_cast<float>(i * i);
  auto const of_signal = add_values(signal, values);
  Image table = sized(8, 1, 1, false, Channel::floating, 4, 1);
  table.is_linear_memory = true;
  auto const of_table = add_values(table, std::vector<float>{0, 1000, 2000, 3000, 4000, 5000, 6000, 7000});
  auto* const out = device.allocate<float>(32);
  EXPECT_EQ(text_of(device.run("resample", {{1}, {32}, 0}, of_signal, of_table, 0.5F, out)), "");
  for (unsigned i = 0; i < 32; ++i) {
    unsigned const low = std::min(i / 2, 15U), high = std::min((i + 1) / 2, 15U);
    EXPECT_EQ(out[i], static_cast<float>(low * low + high * high) / 2 + static_cast<float>(1000 * (i / 4))) << i;
  }
}

TEST_F(TextureKernels, GatheredTexelsAreThoseAroundACorner) {
  std::vector<int> values(7 * 5);
  std::iota(values.begin(), values.end(), -10);
  auto const image = add_values(sized(7, 5, 1, false, Channel::signed_integer, 4, 1), values);
  auto* const out = device.allocate<int>(2 * 8 * 6);
  EXPECT_EQ(text_of(device.run("corners", {{1}, {8, 6}, 0}, image, out)), "");
  for (int i = 0; i < 8 * 6; ++i) {
    int sum = 0;
    for (int const x : {i % 8 - 1, i % 8})
      for (int const y : {i / 8 - 1, i / 8}) sum += std::clamp(y, 0, 4) * 7 + std::clamp(x, 0, 6) - 10;
    EXPECT_EQ(out[2 * i], sum) << i;
    EXPECT_EQ(out[2 * i + 1], sum) << i;
  }
}

TEST_F(TextureKernels, LayersAreAveragedIntoASurface) {
  unsigned const width = 6, height = 4, layers = 3;
  auto const texels = random_bytes(width * height * layers * 4);
  Image image = sized(width, height, layers, true, Channel::unsigned_integer, 1, 4);
  image.reads_normalized = true;
  auto const of_layers = add(image, texels);
  Image to = sized(width, height, 1, false, Channel::unsigned_integer, 1, 4);
  to.is_surface = true;
  auto const of_surface = add(to, std::vector<std::byte>(width * height * 4));
  EXPECT_EQ(text_of(device.run("average", {{1}, {8, 8}, 0}, of_layers, layers, of_surface)), "");
  for (unsigned i = 0; i < width * height * 4; ++i) {
    int sum = 0;
    for (unsigned layer = 0; layer < layers; ++layer) sum += static_cast<int>(texels[layer * width * height * 4 + i]);
    EXPECT_NEAR(static_cast<int>(memory[i]), i % 4 == 3 ? 255 : sum / 3.0, 0.51) << i;
  }
}

}}  // namespace cuda_cpu
