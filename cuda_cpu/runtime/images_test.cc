// Descriptors of textures and surfaces, and the errors of wrong descriptors. Kernels with textures are in
// cuda_cpu/programs/textures.cu.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstring>

namespace cuda_cpu::runtime { namespace {

constexpr cudaChannelFormatDesc kBytes{8, 8, 0, 0, cudaChannelFormatKindUnsigned};

class ImageObjects : public ::testing::Test {
 protected:
  ImageObjects() { EXPECT_EQ(cudaMalloc(&memory_, 4096), cudaSuccess); }
  ~ImageObjects() override { EXPECT_EQ(cudaFree(memory_), cudaSuccess); }

  cudaResourceDesc pitched(cudaChannelFormatDesc const& channels) const {
    cudaResourceDesc what{};
    what.resType = cudaResourceTypePitch2D;
    what.res.pitch2D.devPtr = memory_;
    what.res.pitch2D.desc = channels;
    what.res.pitch2D.width = 16;
    what.res.pitch2D.height = 4;
    what.res.pitch2D.pitchInBytes = 64;
    return what;
  }
  // Wrong calls also print.
  static cudaError_t create(cudaResourceDesc const& what, cudaTextureDesc const& how,
                            cudaResourceViewDesc const* view = nullptr) {
    cudaTextureObject_t texture = 0;
    ::testing::internal::CaptureStderr();
    cudaError_t const result = cudaCreateTextureObject(&texture, &what, &how, view);
    ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(cudaGetLastError(), result);
    return result;
  }

  void* memory_ = nullptr;
};

TEST_F(ImageObjects, TexturesGiveBackTheirDescriptors) {
  auto const what = pitched(kBytes);
  cudaTextureDesc how{};
  how.addressMode[0] = cudaAddressModeMirror;
  how.addressMode[1] = cudaAddressModeBorder;
  how.addressMode[2] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModeLinear;
  how.readMode = cudaReadModeNormalizedFloat;
  how.sRGB = 1;
  how.borderColor[0] = 0.25F;
  how.borderColor[3] = 1;
  how.normalizedCoords = 1;
  how.maxAnisotropy = 4;
  how.mipmapFilterMode = cudaFilterModeLinear;
  how.mipmapLevelBias = 1;
  how.minMipmapLevelClamp = 2;
  how.maxMipmapLevelClamp = 3;
  how.disableTrilinearOptimization = 1;
  cudaTextureObject_t texture = 0;
  ASSERT_EQ(cudaCreateTextureObject(&texture, &what, &how, nullptr), cudaSuccess);
  EXPECT_NE(texture, 0u);
  cudaTextureDesc how_it_is{};
  EXPECT_EQ(cudaGetTextureObjectTextureDesc(&how_it_is, texture), cudaSuccess);
  EXPECT_EQ(std::memcmp(&how_it_is, &how, sizeof(how)), 0);
  cudaResourceDesc it_is{};
  EXPECT_EQ(cudaGetTextureObjectResourceDesc(&it_is, texture), cudaSuccess);
  EXPECT_EQ(it_is.resType, cudaResourceTypePitch2D);
  EXPECT_EQ(std::memcmp(&it_is.res.pitch2D, &what.res.pitch2D, sizeof(what.res.pitch2D)), 0);
  EXPECT_EQ(cudaDestroyTextureObject(texture), cudaSuccess);
  EXPECT_EQ(cudaDestroyTextureObject(texture), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetTextureObjectTextureDesc(&how_it_is, texture), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST_F(ImageObjects, SurfacesGiveBackTheirArray) {
  cudaArray_t array = nullptr;
  ASSERT_EQ(cudaMallocArray(&array, &kBytes, 8, 8, cudaArraySurfaceLoadStore), cudaSuccess);
  cudaResourceDesc what{};
  what.resType = cudaResourceTypeArray;
  what.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  ASSERT_EQ(cudaCreateSurfaceObject(&surface, &what), cudaSuccess);
  cudaResourceDesc it_is{};
  EXPECT_EQ(cudaGetSurfaceObjectResourceDesc(&it_is, surface), cudaSuccess);
  EXPECT_EQ(it_is.res.array.array, array);
  EXPECT_EQ(cudaDestroySurfaceObject(surface), cudaSuccess);
  EXPECT_EQ(cudaDestroySurfaceObject(surface), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
}

TEST_F(ImageObjects, ErrorsSayWhatIsWrong) {
  cudaTextureDesc how{};
  EXPECT_EQ(create(pitched({8, 16, 0, 0, cudaChannelFormatKindUnsigned}), how), cudaErrorInvalidChannelDescriptor);
  // Three channels.
  EXPECT_EQ(create(pitched({8, 8, 8, 0, cudaChannelFormatKindUnsigned}), how), cudaErrorInvalidValue);
  auto what = pitched(kBytes);
  what.res.pitch2D.pitchInBytes = 40;
  EXPECT_EQ(create(what, how), cudaErrorInvalidValue);
  cudaResourceViewDesc const view{};
  EXPECT_EQ(create(pitched(kBytes), how, &view), cudaErrorNotSupported);
  how.filterMode = cudaFilterModeLinear;
  EXPECT_EQ(create(pitched(kBytes), how), cudaErrorInvalidFilterSetting);
  how.readMode = cudaReadModeNormalizedFloat;
  EXPECT_EQ(create(pitched(kBytes), how), cudaSuccess);
  EXPECT_EQ(create(pitched({32, 0, 0, 0, cudaChannelFormatKindSigned}), how), cudaErrorInvalidFilterSetting);
  how.seamlessCubemap = 1;
  EXPECT_EQ(create(pitched(kBytes), how), cudaErrorNotSupported);
}

}}  // namespace cuda_cpu::runtime
