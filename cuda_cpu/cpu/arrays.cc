// Implements the calls for arrays, and copies in two and three dimensions.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/cpu/span_text.h"

namespace cuda_cpu::cpu {
namespace {

using tracing::cuda::ActivityKind;

// The source or the target of a copy: the place of its rows, and the owner of its memory, which is kept alive.
struct Rows {
  std::byte* first = nullptr;
  std::size_t row_pitch = 0;
  std::size_t slice_pitch = 0;
  bool is_host = false;  // pageable memory
  std::shared_ptr<void> storage;
  std::shared_ptr<WrittenBytes> written;  // null: the writes are not tracked

  std::byte* at(std::size_t slice, std::size_t row) const noexcept {
    return first + slice * slice_pitch + row * row_pitch;
  }
};

struct Extent {
  std::size_t bytes;  // bytes of a row
  std::size_t rows;
  std::size_t slices;
};

// The source or the target of a copy, as CUDA_MEMCPY3D describes it.
struct End {
  CUmemorytype type;
  void* host;
  CUdeviceptr device;
  CUarray array;
  std::size_t pitch, height, x, y, z;
};

CUresult find_in_array(Device& device, End const& end, Extent const& extent, char const* what, Rows& rows) {
  auto const array = device.arrays.find(end.array);
  if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (end.x + extent.bytes > array->row_bytes() || end.y + extent.rows > array->rows() ||
      end.z + extent.slices > array->slices())
    return refuse(CUDA_ERROR_INVALID_VALUE, fmt::format("the {} is not within its array", what));
  rows.row_pitch = array->row_bytes();
  rows.slice_pitch = rows.row_pitch * array->rows();
  rows.first = reinterpret_cast<std::byte*>(array->memory) + end.z * rows.slice_pitch + end.y * rows.row_pitch + end.x;
  rows.storage = array;
  rows.written = device.memory.find(array->memory, 1)->written;
  return CUDA_SUCCESS;
}

CUresult find_rows(Device& device, End const& end, Extent const& extent, char const* what, Rows& rows) {
  if (end.type < CU_MEMORYTYPE_HOST || end.type > CU_MEMORYTYPE_UNIFIED) return CUDA_ERROR_INVALID_VALUE;
  if (end.type == CU_MEMORYTYPE_ARRAY) return find_in_array(device, end, extent, what, rows);
  bool const is_tall = extent.rows > 1 || extent.slices > 1;
  if (is_tall && end.pitch < extent.bytes + end.x)
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  fmt::format("the pitch of the {} is {}; a row has {} bytes", what, end.pitch, extent.bytes + end.x));
  if (extent.slices > 1 && end.height < extent.rows + end.y)
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  fmt::format("the height of the {} is {}; {} rows are copied", what, end.height, extent.rows + end.y));
  rows.row_pitch = end.pitch;
  rows.slice_pitch = end.pitch * end.height;
  auto const base = end.type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uintptr_t>(end.host) : end.device;
  if (base == 0) return CUDA_ERROR_INVALID_VALUE;
  auto const begin = base + end.z * rows.slice_pitch + end.y * rows.row_pitch + end.x;
  rows.first = reinterpret_cast<std::byte*>(begin);
  std::size_t const bytes = (extent.slices - 1) * rows.slice_pitch + (extent.rows - 1) * rows.row_pitch + extent.bytes;
  auto range = device.memory.find(begin, bytes);
  if (range) rows.storage = std::move(range->storage);
  if (range) rows.written = std::move(range->written);
  rows.is_host = !range;
  return rows.is_host && end.type == CU_MEMORYTYPE_DEVICE ? refuse_range(what, begin, bytes) : CUDA_SUCCESS;
}

void copy_rows(Rows const& to, Rows const& from, Extent const& extent) {
  for (std::size_t slice = 0; slice < extent.slices; ++slice) {
    for (std::size_t row = 0; row < extent.rows; ++row) {
      std::memmove(to.at(slice, row), from.at(slice, row), extent.bytes);
      WrittenBytes::copy(to.written.get(), to.at(slice, row), from.written.get(), from.at(slice, row), extent.bytes);
    }
  }
}

ActivityKind kind_of(CUDA_MEMCPY3D const& copy) noexcept {
  if (copy.srcMemoryType == CU_MEMORYTYPE_HOST) return ActivityKind::memcpy_htod;
  return copy.dstMemoryType == CU_MEMORYTYPE_HOST ? ActivityKind::memcpy_dtoh : ActivityKind::memcpy_dtod;
}

}  // namespace

CUresult array_3d_create(CUarray* out, CUDA_ARRAY3D_DESCRIPTOR const* descriptor) {
  return in_context([&](Device& device) {
    if (out == nullptr || descriptor == nullptr || descriptor->Width == 0) return CUDA_ERROR_INVALID_VALUE;
    auto array = std::make_unique<Array>();
    array->descriptor = *descriptor;
    auto const format = find_format(descriptor->Format);
    if (!format || !is_channel_count(descriptor->NumChannels))
      return refuse(CUDA_ERROR_NOT_SUPPORTED,
                    "an array of this format is not supported; expected 1, 2 or 4 integers, halves or floats");
    array->element_bytes = std::size_t{format->bytes} * descriptor->NumChannels;
    // Layers and faces are slices.
    MemoryNote note = span_note("allocated");
    note.text = note.empty() ? "of an array" : "of an array " + note.text;
    array->memory =
        device.memory.allocate(array->row_bytes() * array->rows() * array->slices(), false, std::move(note));
    if (array->memory == 0) return CUDA_ERROR_OUT_OF_MEMORY;
    if (device.options.checks.init) device.memory.track_writes(array->memory);
    std::shared_ptr<Array> shared(array.release(), [&device](Array* its) {
      device.memory.free(its->memory, span_note("freed"));
      delete its;
    });
    *out = reinterpret_cast<CUarray>(device.arrays.add(std::move(shared)));
    return CUDA_SUCCESS;
  });
}

CUresult array_destroy(CUarray handle) {
  return in_context([&](Device& device) {
    auto const result = device.wait(device.streams.end_of_all());
    return device.arrays.take(handle) == nullptr ? CUDA_ERROR_INVALID_HANDLE : result;
  });
}

CUresult array_find(Array* out, CUarray handle) {
  return in_context([&](Device& device) {
    auto const array = device.arrays.find(handle);
    if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    *out = *array;
    return CUDA_SUCCESS;
  });
}

namespace {

CUresult copy_3d(CUDA_MEMCPY3D const* copy, CUstream stream_handle, bool waits) {
  return on_stream(stream_handle, [&](Device& device, auto& stream) {
    if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Extent const extent{copy->WidthInBytes, copy->Height, copy->Depth};
    if (extent.bytes == 0 || extent.rows == 0 || extent.slices == 0) return CUDA_SUCCESS;
    Rows to;
    Rows from;
    End const target{copy->dstMemoryType, copy->dstHost,     copy->dstDevice, copy->dstArray, copy->dstPitch,
                     copy->dstHeight,     copy->dstXInBytes, copy->dstY,      copy->dstZ};
    End const source{copy->srcMemoryType, const_cast<void*>(copy->srcHost),
                     copy->srcDevice,     copy->srcArray,
                     copy->srcPitch,      copy->srcHeight,
                     copy->srcXInBytes,   copy->srcY,
                     copy->srcZ};
    if (auto const result = find_rows(device, target, extent, "target", to); result != CUDA_SUCCESS) return result;
    if (auto const result = find_rows(device, source, extent, "source", from); result != CUDA_SUCCESS) return result;
    std::function<void()> work = [to, from, extent] { copy_rows(to, from, extent); };
    if (!to.is_host || !from.is_host)  // a copy within the host is no activity of the device
      work = reporting(kind_of(*copy), extent.bytes * extent.rows * extent.slices, std::move(work));
    // Pageable memory is read or written before the call returns, as by the linear copies.
    if (!waits && (this_thread().copies_in_turn || (!to.is_host && !from.is_host))) {
      device.submit(stream, std::move(work));
      return CUDA_SUCCESS;
    }
    device.streams.run(stream, [&] {
      if (device.sticky() == CUDA_SUCCESS) work();
    });
    device.prints.flush();
    return device.sticky();
  });
}

}  // namespace

CUresult memcpy_3d(CUDA_MEMCPY3D const* copy) { return copy_3d(copy, nullptr, true); }
CUresult memcpy_3d_async(CUDA_MEMCPY3D const* copy, CUstream stream) { return copy_3d(copy, stream, false); }

namespace {

template <class T>
CUresult fill_rows(CUdeviceptr to, std::size_t pitch, T value, std::size_t columns, std::size_t rows,
                   CUstream stream_handle) {
  return on_stream(stream_handle, [&](Device& device, auto& stream) {
    if (columns == 0 || rows == 0) return CUDA_SUCCESS;
    if (to % sizeof(T) != 0 || (rows > 1 && pitch % sizeof(T) != 0))
      return refuse(CUDA_ERROR_INVALID_VALUE, "the target is not aligned");
    if (columns > std::numeric_limits<std::size_t>::max() / sizeof(T)) return CUDA_ERROR_INVALID_VALUE;
    Extent const extent{columns * sizeof(T), rows, 1};
    Rows found;
    auto const result =
        find_rows(device, {CU_MEMORYTYPE_DEVICE, nullptr, to, nullptr, pitch, rows, 0, 0, 0}, extent, "target", found);
    if (result != CUDA_SUCCESS) return result;
    device.submit(stream, reporting(ActivityKind::memset, extent.bytes * rows, [=] {
                    for (std::size_t row = 0; row < rows; ++row) {
                      std::fill_n(reinterpret_cast<T*>(found.at(0, row)), columns, value);
                      WrittenBytes::copy(found.written.get(), found.at(0, row), nullptr, nullptr, extent.bytes);
                    }
                  }));
    return CUDA_SUCCESS;
  });
}

}  // namespace

CUresult memset_d2d8_async(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t columns,
                           std::size_t rows, CUstream stream) {
  return fill_rows(to, pitch, value, columns, rows, stream);
}
CUresult memset_d2d16_async(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t columns,
                            std::size_t rows, CUstream stream) {
  return fill_rows(to, pitch, value, columns, rows, stream);
}
CUresult memset_d2d32_async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t columns, std::size_t rows,
                            CUstream stream) {
  return fill_rows(to, pitch, value, columns, rows, stream);
}

}  // namespace cuda_cpu::cpu
