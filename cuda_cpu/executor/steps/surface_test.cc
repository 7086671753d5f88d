// Surfaces: each form of their instructions against a model of bytes in rows.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda_cpu/executor/steps/image_test_support.h"

namespace cuda_cpu { namespace {

// Tests a surface of bytes: rows of 64 bytes, three rows, four slices or layers.
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
    for (auto& value : values) {  // any thread of a warp may win, so each has equal bytes for a place
      auto const access = random_access(*form, static_cast<int>(size * form->vector_size), form->has("trap"));
      words.push_back(access.words);
      for (unsigned j = 0; j < form->vector_size; ++j)
        value.at[j] = std::uint64_t{0x0123456789abcdef} *
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

}}  // namespace cuda_cpu
