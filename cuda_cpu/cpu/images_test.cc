// The calls for textures and surfaces, and kernels with their handles.
#include <bit>
#include <vector>

#include "cuda_cpu/cpu/cpu_test_support.h"
#include "cuda_cpu/cpu/device.h"

namespace cuda_cpu { namespace {

// sample(texture, float* out): one thread for each texel of a row; write(surface): row 1, its bytes as words.
constexpr char kKernels[] = R"(
.version 7.5
.target sm_75
.address_size 64

.visible .entry sample(.param .u64 p0, .param .u64 p1)
{
  .reg .b32 %r<2>; .reg .f32 %f<6>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1];
  mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1; mov.f32 %f5, 0f3F800000;
  tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f5}];
  mad.wide.u32 %rd2, %r1, 4, %rd2; st.global.f32 [%rd2], %f1;
  ret;
}
.visible .entry fetch(.param .u64 p0, .param .u64 p1)
{
  .reg .b32 %r<6>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1];
  mov.u32 %r1, %tid.x;
  tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%rd1, {%r1}];
  mad.wide.u32 %rd2, %r1, 4, %rd2; st.global.u32 [%rd2], %r3;
  ret;
}
.visible .entry write(.param .u64 p0)
{
  .reg .b32 %r<4>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p0];
  mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, 1;
  sust.b.2d.b32.trap [%rd1, {%r2, %r3}], {%r1};
  ret;
}
)";

class ImageCalls : public CpuDriver {
 protected:
  ImageCalls() {
    EXPECT_EQ(api.module_load_data_ex(&module, kKernels, 0, nullptr, nullptr), CUDA_SUCCESS)
        << cpu_driver_last_message();
    out = allocate(8 * sizeof(float));
  }

  template <class... A>
  void launch(char const* name, A... arguments) {
    CUfunction function = nullptr;
    ASSERT_EQ(api.module_get_function(&function, module, name), CUDA_SUCCESS) << cpu_driver_last_message();
    void* parameters[] = {&arguments...};
    EXPECT_EQ(api.launch_kernel(function, 1, 1, 1, 8, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(api.ctx_synchronize(), CUDA_SUCCESS) << cpu_driver_last_message();
  }
  template <class T>
  std::vector<T> read_out() {
    std::vector<T> values(8);
    EXPECT_EQ(api.memcpy_dtoh(values.data(), out, 8 * sizeof(T)), CUDA_SUCCESS);
    return values;
  }
  // Returns an array of 8 x 2 texels of `format`.
  CUDA_RESOURCE_DESC array(CUarray_format format, unsigned flags = 0) {
    CUDA_ARRAY3D_DESCRIPTOR const descriptor{8, 2, 0, format, 1, flags};
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    EXPECT_EQ(api.array_3d_create(&resource.res.array.hArray, &descriptor), CUDA_SUCCESS);
    return resource;
  }
  CUDA_RESOURCE_DESC linear(CUdeviceptr address, std::size_t bytes) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear = {address, CU_AD_FORMAT_UNSIGNED_INT16, 2, bytes};
    return resource;
  }
  void copy(CUDA_RESOURCE_DESC const& array, float* host, bool to_array) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = to_array ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    copy.dstMemoryType = to_array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    copy.srcHost = copy.dstHost = host;
    copy.srcArray = copy.dstArray = array.res.array.hArray;
    copy.srcPitch = copy.dstPitch = copy.WidthInBytes = 32;
    copy.Height = 2;
    copy.Depth = 1;
    EXPECT_EQ(api.memcpy_3d(&copy), CUDA_SUCCESS) << cpu_driver_last_message();
  }
  CUresult create(CUDA_RESOURCE_DESC const& resource, CUDA_TEXTURE_DESC const& how = {}) {
    return cpu::texture_create(&handle, &resource, &how, nullptr);
  }

  CUmodule module = nullptr;
  CUdeviceptr out = 0;
  CUtexObject handle = 0;
};

TEST_F(ImageCalls, KernelsReadTexturesOfArraysWithAFilter) {
  auto const resource = array(CU_AD_FORMAT_FLOAT);
  std::vector<float> texels{0, 0, 0, 0, 0, 0, 0, 0, 4, 8, 12, 16, 20, 24, 28, 32};
  copy(resource, texels.data(), true);
  CUDA_TEXTURE_DESC how{};
  how.filterMode = CU_TR_FILTER_MODE_LINEAR;
  how.addressMode[0] = CU_TR_ADDRESS_MODE_BORDER;
  how.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
  ASSERT_EQ(create(resource, how), CUDA_SUCCESS);
  launch("sample", handle, out);
  // In the middle between two rows and two columns, where the first row and column are the border.
  EXPECT_EQ(read_out<float>(), (std::vector<float>{1, 3, 5, 7, 9, 11, 13, 15}));
  EXPECT_EQ(cpu::texture_destroy(handle), CUDA_SUCCESS);
  EXPECT_EQ(cpu::texture_destroy(handle), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ImageCalls, KernelsReadTexturesOfLinearMemory) {
  CUdeviceptr const memory = allocate(5 * 4);
  std::vector<std::uint16_t> const values{1, 10, 2, 20, 3, 30, 4, 40, 5, 50};
  EXPECT_EQ(api.memcpy_htod(memory, values.data(), 20), CUDA_SUCCESS);
  CUDA_TEXTURE_DESC how{};
  how.flags = CU_TRSF_READ_AS_INTEGER;
  ASSERT_EQ(create(linear(memory, 20), how), CUDA_SUCCESS);
  launch("fetch", handle, out);
  EXPECT_EQ(read_out<unsigned>(), (std::vector<unsigned>{10, 20, 30, 40, 50, 0, 0, 0}));  // zero outside
}

TEST_F(ImageCalls, KernelsWriteSurfaces) {
  auto const resource = array(CU_AD_FORMAT_FLOAT, CUDA_ARRAY3D_SURFACE_LDST);
  std::vector<float> texels(16, -1);
  copy(resource, texels.data(), true);
  ASSERT_EQ(cpu::surface_create(&handle, &resource), CUDA_SUCCESS);
  launch("write", handle);
  copy(resource, texels.data(), false);
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(texels[i], -1);
    EXPECT_EQ(std::bit_cast<unsigned>(texels[8 + i]), i);
  }
  EXPECT_EQ(cpu::surface_destroy(handle), CUDA_SUCCESS);
  EXPECT_EQ(cpu::surface_destroy(handle), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ImageCalls, DescriptorsAreGivenBack) {
  auto const resource = linear(allocate(64), 64);
  CUDA_TEXTURE_DESC how{};
  how.addressMode[1] = CU_TR_ADDRESS_MODE_MIRROR;
  ASSERT_EQ(create(resource, how), CUDA_SUCCESS);
  CUDA_RESOURCE_DESC is{};
  CUDA_TEXTURE_DESC is_read{};
  EXPECT_EQ(cpu::texture_find(&is, &is_read, handle), CUDA_SUCCESS);
  EXPECT_EQ(is.res.linear.devPtr, resource.res.linear.devPtr);
  EXPECT_EQ(is.res.linear.sizeInBytes, 64u);
  EXPECT_EQ(is_read.addressMode[1], CU_TR_ADDRESS_MODE_MIRROR);
  EXPECT_EQ(cpu::surface_find(&is, handle), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ImageCalls, WrongDescriptorsAreRefused) {
  CUdeviceptr const memory = allocate(64);
  EXPECT_EQ(create(linear(memory, 65)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_NE(cpu_driver_last_message().find("is not within one allocation"), std::string::npos);
  EXPECT_EQ(create(linear(memory + 4, 4)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cpu_driver_last_message().find("the memory of a texture at 0x"), 0u);
  EXPECT_EQ(create(linear(memory, 3)), CUDA_ERROR_INVALID_VALUE);  // less than a texel

  CUDA_TEXTURE_DESC how{};
  how.filterMode = CU_TR_FILTER_MODE_LINEAR;
  how.flags = CU_TRSF_READ_AS_INTEGER;
  auto const bytes = array(CU_AD_FORMAT_UNSIGNED_INT8);
  EXPECT_EQ(create(bytes, how), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cpu_driver_last_message(), "linear filtering of integers that are not read as normalized floats");
  how.flags = 0;
  EXPECT_EQ(create(bytes, how), CUDA_SUCCESS);
  how.addressMode[2] = static_cast<CUaddress_mode>(4);
  EXPECT_EQ(create(bytes, how), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cpu::surface_create(&handle, &bytes), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cpu_driver_last_message(), "the array of a surface was created without cudaArraySurfaceLoadStore");
  EXPECT_EQ(api.array_destroy(bytes.res.array.hArray), CUDA_SUCCESS);
  EXPECT_EQ(create(bytes), CUDA_ERROR_INVALID_HANDLE);

  CUDA_RESOURCE_DESC mipmapped{};
  mipmapped.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  EXPECT_EQ(create(mipmapped), CUDA_ERROR_NOT_SUPPORTED);
  CUDA_RESOURCE_VIEW_DESC const view{};
  CUDA_TEXTURE_DESC const plain{};
  auto const resource = linear(memory, 64);
  EXPECT_EQ(cpu::texture_create(&handle, &resource, &plain, &view), CUDA_ERROR_NOT_SUPPORTED);
}

}}  // namespace cuda_cpu
