#include "cuda_tests/runtime/kernel.h"

#include <fmt/format.h>

#include <functional>

#include "tracing_core/model/text_buffer.h"
#include "tracing_core/model/value_of.h"

namespace cuda_tests {

void tracing_write_fields(tracing::DebugWriter& writer, ElementType const& type) {
  writer.raw("Scalar ");
  writer.begin('(');
  writer.item();
  writer.raw("Float ");
  writer.begin('(');
  writer.item();
  writer.raw(tracing_enumerator_name(type.kind));
  writer.end();
  writer.end();
}

void tracing_write_fields(tracing::DebugWriter& writer, ScalarArgument const&) { writer.raw("Scalar"); }

void tracing_write_fields(tracing::DebugWriter& writer, TensorArgument const& argument) {
  writer.begin_struct("TensorCompilationArg");
  writer.field("inplace");
  writer.raw(argument.inplace ? fmt::format("Some({})", *argument.inplace) : "None");
  writer.field("line_size");
  writer.raw(std::to_string(argument.line_size));
  writer.end();
}

void tracing_write_fields(tracing::DebugWriter& writer, KernelId const& id) {
  writer.begin('(');
  writer.item();
  tracing_write_fields(writer, id.cube_dim);
  for (KernelPart const& part : id.parts) {
    writer.item();
    std::visit([&](auto const& alternative) { tracing_write_fields(writer, alternative); }, part);
  }
  writer.end();
}

namespace {

std::string text_of(KernelId const& id, bool pretty) {
  tracing::InlineTextBuffer<512> text;
  tracing::DebugWriter writer(text, pretty);
  tracing_write_fields(writer, id);
  return std::string(text.view());
}

}  // namespace

std::string key_of(Kernel const& kernel, ExecutionMode mode) {
  return fmt::format("{} {:x} {} {} {} {}", kernel.file, std::hash<std::string_view>()(kernel.source), kernel.entry,
                     tracing_enumerator_name(mode), text_of(kernel.id, false), fmt::join(kernel.options, " "));
}

std::string pretty_text(KernelId const& id) { return text_of(id, true); }

}  // namespace cuda_tests
