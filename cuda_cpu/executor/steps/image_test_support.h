// For tests: kernels of one instruction each that read textures, or read and write surfaces, and a fixture that runs
// them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "cuda_cpu/executor/reference/run_test_support.h"
#include "cuda_cpu/executor/steps/image.h"
#include "cuda_cpu/ptx/forms.h"

namespace cuda_cpu {

inline constexpr unsigned kThreads = 32;

struct Words {
  std::array<std::uint32_t, 4> at{};
};
struct Longs {
  std::array<std::uint64_t, 4> at{};
};

// Returns a kernel that runs one instruction in each thread. It loads the coordinates and the values to store from
// memory, and stores the results to memory.
inline std::string kernel_of(ptx::Form const& form) {
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

inline std::vector<ptx::Form const*> forms_of(std::string_view opcode) {
  std::vector<ptx::Form const*> all;
  for (auto const* const form : ptx::all_forms())
    if (form->opcode() == opcode) all.push_back(form);
  return all;
}

inline unsigned dimensions_of(ptx::Form const& form) {
  return form.has("3d") ? 3 : form.has("2d") || form.has("a2d") ? 2 : 1;
}

inline bool is_cube(ptx::Form const& form) { return form.has("cube") || form.has("acube"); }

class Images : public testing::Test {
 protected:
  Images() {
    device.options.find_image = [this](std::uint64_t handle) {
      auto const found = images.find(handle);
      return found == images.end() ? nullptr : found->second;
    };
  }

  // Adds an image of these bytes and returns its handle. The size of the image is set already.
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
  std::byte* memory = nullptr;  // memory of the last image
  std::optional<Fault> fault;
};

}  // namespace cuda_cpu
