// Declares Kernel, a kernel to launch, and KernelId, which identifies its compiled variants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "tracing_core/model/debug_writer.h"
#include "tracing_core/model/describe.h"

namespace cuda_tests {

/// The threads of a block.
struct CubeDim {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;

  friend bool operator==(CubeDim const&, CubeDim const&) = default;
};
TRACE_FIELDS(CubeDim, x, y, z)

/// The blocks of a launch; prints as `(4, 64, 1)`.
using CubeCount = std::tuple<unsigned, unsigned, unsigned>;

enum class ExecutionMode : std::uint8_t { Checked, Unchecked };
TRACE_ENUM(ExecutionMode, Checked, Unchecked)

struct StreamId {
  std::uint64_t value = 0;

  friend auto operator<=>(StreamId const&, StreamId const&) = default;
};
TRACE_FIELDS(StreamId, value)

struct DeviceId {
  std::uint32_t index_id = 0;

  friend bool operator==(DeviceId const&, DeviceId const&) = default;
};
TRACE_FIELDS(DeviceId, index_id)

enum class FloatKind : std::uint8_t { F16, F32, F64 };
TRACE_ENUM(FloatKind, F16, F32, F64)

constexpr std::size_t size_of(FloatKind kind) noexcept {
  return kind == FloatKind::F16 ? 2 : kind == FloatKind::F32 ? 4 : 8;
}

/// The parts of a KernelId: an element type, a scalar argument, a tensor argument.
struct ElementType {
  FloatKind kind = FloatKind::F32;
  friend bool operator==(ElementType const&, ElementType const&) = default;
};
struct ScalarArgument {
  friend bool operator==(ScalarArgument const&, ScalarArgument const&) = default;
};
struct TensorArgument {
  std::optional<unsigned> inplace;
  unsigned line_size = 1;
  friend bool operator==(TensorArgument const&, TensorArgument const&) = default;
};
using KernelPart = std::variant<ElementType, ScalarArgument, TensorArgument>;

/// Identifies a compiled variant of a kernel: its block and the properties that it was compiled for.
struct KernelId {
  CubeDim cube_dim;
  std::vector<KernelPart> parts;

  friend bool operator==(KernelId const&, KernelId const&) = default;
};
void tracing_write_fields(tracing::DebugWriter& writer, ElementType const& type);
void tracing_write_fields(tracing::DebugWriter& writer, ScalarArgument const& argument);
void tracing_write_fields(tracing::DebugWriter& writer, TensorArgument const& argument);
void tracing_write_fields(tracing::DebugWriter& writer, KernelId const& id);

/// A kernel to compile and launch. `source` must have static storage.
struct Kernel {
  std::string name;         ///< in spans: `cuda_tests::identity::IdentityKernel`
  std::string file;         ///< in messages of the compiler
  std::string_view source;  ///< CUDA C++
  std::string entry;        ///< its C name, or a name expression such as `matmul<float, 16>`
  KernelId id;
  std::vector<std::string> options{};  ///< for the compiler
};

/// Returns the key of a compiled kernel.
std::string key_of(Kernel const& kernel, ExecutionMode mode);
/// Returns the id as text over several lines.
std::string pretty_text(KernelId const& id);

}  // namespace cuda_tests
