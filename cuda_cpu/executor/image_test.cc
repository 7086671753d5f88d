// Textures and surfaces: each form of their instructions against the formulas of the CUDA C++ Programming Guide, in
// double precision, and against a model of bytes in rows.
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>

#include "cuda_cpu/executor/image.h"
#include "cuda_cpu/executor/run_test_support.h"
#include "cuda_cpu/ptx/forms.h"

namespace cuda_cpu {
namespace {

constexpr unsigned kThreads = 32;

struct Words {
  std::array<std::uint32_t, 4> at{};
};
struct Longs {
  std::array<std::uint64_t, 4> at{};
};

// A kernel that runs one instruction in each thread, with its coordinates and the values that it stores from memory,
// and its results to memory.
std::string kernel_of(ptx::Form const& form) {
  unsigned const bits = std::max(16U, size_bytes(form.first_type) * 8);
  std::string const type = ".b" + std::to_string(bits), vector = form.vector_size == 4   ? "4"
                                                                 : form.vector_size == 2 ? "2"
                                                                                         : "1";
  std::string values, coordinates, loads, stores;
  for (unsigned i = 0; i < form.vector_size; ++i) {
    std::string const n = std::to_string(i), offset = std::to_string(8 * i);
    values += (i > 0 ? ", %v" : "%v") + n;
    loads += "ld.global" + type + " %v" + n + ", [%stored+" + offset + "];\n";
    stores += "cvt.u64.u" + std::to_string(bits) + " %wide, %v" + n + "; st.global.u64 [%out+" + offset + "], %wide;\n";
  }
  for (unsigned i = 0; i < form.coordinates; ++i) coordinates += (i > 0 ? ", %c" : "{%c") + std::to_string(i);
  std::string const texel = "[%h" + (coordinates.empty() ? "" : ", " + coordinates + "}") + "]";
  std::string instruction = form.name + " {" + values + "}, " + texel;
  if (form.opcode() == "sust") instruction = form.name + " " + texel + ", {" + values + "}";
  if (form.opcode() == "txq" || form.opcode() == "suq") instruction = form.name + " %v0, " + texel;
  if (form.has("level")) instruction += ", %c0";
  if (form.has("grad")) {
    std::string const gradient = form.coordinates == 1 || form.has("a1d") ? "{%c0}"
                                 : form.has("3d")                         ? "{%c0, %c0, %c0, %c0}"
                                                                          : "{%c0, %c0}";
    instruction += ", " + gradient + ", " + gradient;
  }
  return ".version 9.0\n.target sm_90\n.address_size 64\n"
         ".visible .entry k(.param .u64 handle, .param .u64 in, .param .u64 values, .param .u64 results) {\n"
         ".reg .b64 %h, %in, %stored, %out, %wide; .reg .b32 %t, %c<4>; .reg " +
         type +
         " %v<4>;\n"
         "ld.param.u64 %h, [handle]; ld.param.u64 %in, [in]; ld.param.u64 %stored, [values]; ld.param.u64 %out, "
         "[results];\n"
         "mov.u32 %t, %tid.x; mad.wide.u32 %in, %t, 16, %in; mad.wide.u32 %stored, %t, 32, %stored; mad.wide.u32 %out, "
         "%t, 32, %out;\n"
         "ld.global.v4.b32 {%c0, %c1, %c2, %c3}, [%in];\n" +
         (form.opcode() == "sust" ? loads : "") + instruction + ";\n" + (form.opcode() == "sust" ? "" : stores) +
         "ret;\n}\n";
}

std::vector<ptx::Form const*> forms_of(std::string_view opcode) {
  std::vector<ptx::Form const*> all;
  for (auto const* const form : ptx::all_forms())
    if (form->opcode() == opcode) all.push_back(form);
  return all;
}

unsigned dimensions_of(ptx::Form const& form) { return form.has("3d") ? 3 : form.has("2d") || form.has("a2d") ? 2 : 1; }

bool is_cube(ptx::Form const& form) { return form.has("cube") || form.has("acube"); }

class Images : public testing::Test {
 protected:
  Images() {
    device.options.find_image = [this](std::uint64_t handle) {
      auto const found = images.find(handle);
      return found == images.end() ? nullptr : found->second;
    };
  }

  // An image of these bytes, whose size is set.
  std::uint64_t add(Image image, std::vector<std::byte> const& bytes) {
    memory = device.upload(bytes);
    image.memory = reinterpret_cast<std::uintptr_t>(memory);
    images[++last_handle] = std::make_shared<Image const>(image);
    return last_handle;
  }
  static Image sized(std::uint32_t width, std::uint32_t height, std::uint32_t depth, bool has_layers, Channel channel,
                     std::uint32_t channel_bytes, std::uint32_t channels) {
    Image image;
    image.size = {width, height, has_layers ? 1 : depth};
    image.layers = has_layers ? depth : 1;
    image.channel = channel;
    image.channel_bytes = channel_bytes;
    image.channels = channels;
    image.row_pitch = std::uint64_t{width} * image.texel_bytes();
    image.slice_pitch = image.row_pitch * height;
    return image;
  }
  std::vector<std::byte> random_bytes(std::size_t count) {
    std::vector<std::byte> bytes(count);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random());
    return bytes;
  }

  std::vector<Longs> run(ptx::Form const& form, std::uint64_t handle, std::vector<Words> const& coordinates,
                         std::vector<Longs> const& values = std::vector<Longs>(kThreads)) {
    device.load(kernel_of(form));
    auto* const out = device.allocate<Longs>(kThreads);
    fault = device.run("k", {{1}, {kThreads}, 0}, handle, device.upload(coordinates), device.upload(values), out);
    return {out, out + kThreads};
  }

  std::minstd_rand random{9};
  TestDevice device{1};
  std::map<std::uint64_t, std::shared_ptr<Image const>> images;
  std::uint64_t last_handle = 0;
  std::byte* memory = nullptr;  // of the last image
  std::optional<Fault> fault;
};

// The index that a texture reads, -1 for the border, found by steps.
int addressed(int at, int size, Addressing mode) {
  while (at < 0 || at >= size) {
    if (mode == Addressing::border) return -1;
    if (mode == Addressing::clamp) at = at < 0 ? 0 : size - 1;
    if (mode == Addressing::wrap) at += at < 0 ? size : -size;
    if (mode == Addressing::mirror) at = at < 0 ? -1 - at : 2 * size - 1 - at;
  }
  return at;
}

// What the guide says about a texture, with `texel(index)` for a channel.
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
        // In texels from the middle, where the filter is exact.
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
    unsigned const half = (i << 10) | 0x155;  // of each exponent, with the fraction 341 / 1024
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
    std::vector<std::array<int, 2>> first(kThreads);  // to the upper left of the place
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

// Of a surface of bytes: rows of 64 bytes, three of them, four slices or layers.
class Surfaces : public Images {
 protected:
  static constexpr int kSize[] = {64, 3, 4};

  struct Access {
    Words words;
    std::array<int, 3> at{};  // byte, row, slice
    bool is_inside = true;
  };
  Access random_access(ptx::Form const& form, int bytes, bool must_be_inside) {
    Access made;
    unsigned const dimensions = dimensions_of(form);
    auto const of = [&](int size) {
      return must_be_inside ? static_cast<int>(random()) % size : static_cast<int>(random() % 100) % (3 * size) - size;
    };
    made.at[0] = of(kSize[0] / bytes) * bytes;
    if (dimensions > 1) made.at[1] = of(kSize[1]);
    if (dimensions > 2 || form.has_layer) made.at[2] = of(kSize[2]);
    unsigned next = 0;
    if (form.has_layer) made.words.at[next++] = static_cast<std::uint32_t>(made.at[2]);
    for (unsigned i = 0; i < dimensions; ++i) made.words.at[next++] = static_cast<std::uint32_t>(made.at[i]);
    for (unsigned i = 0; i < 3; ++i) {
      int const last = i == 0 ? kSize[0] - bytes : kSize[i] - 1;
      made.is_inside = made.is_inside && made.at[i] >= 0 && made.at[i] <= last;
      if (form.has("clamp")) made.at[i] = std::clamp(made.at[i], 0, last);
    }
    return made;
  }
  std::uint64_t add_surface(ptx::Form const& form, std::vector<std::byte> const& bytes) {
    Image image = sized(64, 3, 4, form.has_layer, Channel::unsigned_integer, 1, 1);
    image.is_surface = true;
    return add(image, bytes);
  }
  static std::size_t offset(Access const& access) {
    return static_cast<std::size_t>((access.at[2] * kSize[1] + access.at[1]) * kSize[0] + access.at[0]);
  }
};

TEST_F(Surfaces, LoadsReadBytesOfRows) {
  auto const bytes = random_bytes(64 * 3 * 4);
  unsigned forms = 0;
  for (auto const* const form : forms_of("suld")) {
    unsigned const size = size_bytes(form->type);
    std::vector<Access> accesses(kThreads);
    std::vector<Words> words;
    for (auto& access : accesses) {
      access = random_access(*form, static_cast<int>(size * form->vector_size), form->has("trap"));
      words.push_back(access.words);
    }
    auto const results = run(*form, add_surface(*form, bytes), words);
    ASSERT_EQ(text_of(fault), "") << form->name;
    for (unsigned i = 0; i < kThreads; ++i) {
      bool const is_zero = form->has("zero") && !accesses[i].is_inside;
      for (unsigned j = 0; j < form->vector_size; ++j) {
        std::uint64_t expected = 0;
        if (!is_zero) std::memcpy(&expected, bytes.data() + offset(accesses[i]) + j * size, size);
        ASSERT_EQ(results[i].at[j], expected) << form->name << ' ' << i << ' ' << j;
      }
    }
    ++forms;
  }
  EXPECT_EQ(forms, 5 * 3 * 11u);
}

TEST_F(Surfaces, StoresWriteBytesOfRows) {
  auto const before = random_bytes(64 * 3 * 4);
  unsigned forms = 0;
  for (auto const* const form : forms_of("sust")) {
    unsigned const size = size_bytes(form->type);
    auto expected = before;
    std::vector<Words> words;
    std::vector<Longs> values(kThreads);
    for (auto& value : values) {  // later threads of a warp may win or lose, so each has the same bytes for a place
      auto const access = random_access(*form, static_cast<int>(size * form->vector_size), form->has("trap"));
      words.push_back(access.words);
      for (unsigned j = 0; j < form->vector_size; ++j)
        value.at[j] = 0x0123456789abcdef *
                      (1 + static_cast<unsigned>(access.is_inside || form->has("clamp") ? offset(access) : 0) + j);
      if (form->has("zero") && !access.is_inside) continue;
      for (unsigned j = 0; j < form->vector_size; ++j)
        std::memcpy(expected.data() + offset(access) + j * size, &value.at[j], size);
    }
    run(*form, add_surface(*form, before), words, values);
    ASSERT_EQ(text_of(fault), "") << form->name;
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), memory)) << form->name;
    ++forms;
  }
  EXPECT_EQ(forms, 5 * 3 * 11u);
}

TEST_F(Surfaces, AccessesOutsideAreFaultsWithTheSizeOfTheArray) {
  auto const& form = *ptx::find_form("sust.b.2d.b32.trap");
  std::vector<Words> words(kThreads);
  words[3].at = {64, 2};
  run(form, add_surface(form, std::vector<std::byte>(64 * 3 * 4)), words);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::out_of_range);
  EXPECT_EQ(fault->lanes, 8u);
  EXPECT_EQ(fault->message,
            "an access of 4 bytes of a surface at byte 64 of row 2 of slice 0, outside of 64 bytes x 3 rows x 4, "
            "768 bytes (allocation 1): kernel k, PTX line 10 (sust.b.2d.b32.trap), block (0,0,0), warp 0, lane 3");
}

TEST_F(Surfaces, AlignmentIsThatOfTheAccess) {
  auto const& form = *ptx::find_form("suld.b.1d.b32.trap");
  std::vector<Words> words(kThreads);
  words[0].at = {6};
  run(form, add_surface(form, std::vector<std::byte>(64 * 3 * 4)), words);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::misaligned_address);
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

// The texels next to that in whose center a texture is read have no weight.
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

// Kernels that nvcc compiled.
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

}  // namespace
}  // namespace cuda_cpu
