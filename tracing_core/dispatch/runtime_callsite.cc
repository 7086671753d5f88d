#include "tracing_core/dispatch/runtime_callsite.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>

#include "tracing_core/dispatch/dispatcher.h"

namespace tracing { inline namespace v1 {

namespace {
constinit std::atomic<std::uint64_t> next_serial{1};
}  // namespace

// The metadata comes first, so that of() can convert its address to the object's address.
struct RuntimeCallsite::Owned {
  explicit Owned(CallsiteDescription const& description) : metadata(fill(description)), callsite(metadata) {}

  Metadata metadata;
  Callsite callsite;
  std::atomic<std::size_t> references{1};
  std::uint64_t const serial = next_serial.fetch_add(1, std::memory_order_relaxed);

  static Owned* of(Metadata const& metadata) noexcept {
    return const_cast<Owned*>(reinterpret_cast<Owned const*>(&metadata));
  }

  void free_storage() noexcept {
    delete[] metadata.parts().text;
    delete[] metadata.parts().file;
    delete[] metadata.parts().fields;
  }

 private:
  internal::MetadataParts fill(CallsiteDescription const& description);
};

internal::MetadataParts RuntimeCallsite::Owned::fill(CallsiteDescription const& description) {
  constexpr std::size_t kMaxFields = 250;
  std::size_t const field_count = std::min(description.fields.size(), kMaxFields);
  std::string text;
  internal::MetadataParts parts;
  auto add = [&text](std::string_view piece) {
    text.append(piece);
    return static_cast<std::uint32_t>(piece.size());
  };
  parts.name_size = add(description.name);
  parts.target_size = add(description.target);
  parts.function_size = add(description.function);
  parts.has_module_path = description.module_path.has_value();
  if (parts.has_module_path) parts.module_path_size = add(*description.module_path);
  auto fields = std::make_unique<internal::FieldEntry[]>(field_count + 1);
  for (std::size_t i = 0; i < field_count; ++i) {
    auto const offset = static_cast<std::uint32_t>(text.size());
    add(description.fields[i]);
    fields[i] = internal::field_entry(offset, description.fields[i].data(), description.fields[i].size(),
                                      static_cast<std::uint8_t>(i));
    if (internal::name_needs_escaping(description.fields[i])) fields[i].has_special_name = true;
  }
  internal::mark_repeated_names(fields.get(), field_count, text.data());
  parts.has_names_to_escape = internal::name_needs_escaping(text) || internal::name_needs_escaping(description.file);
  auto copy = [](std::string_view from) {
    auto to = std::make_unique<char[]>(from.size() + 1);
    std::copy(from.begin(), from.end(), to.get());
    return to;
  };
  auto owned_text = copy(text);
  if (!description.file.empty()) parts.file = copy(description.file).release();
  parts.text = owned_text.release();
  parts.fields = fields.release();
  parts.line = description.line.value_or(0);
  parts.has_line_zero = description.line == 0u;
  parts.field_count = static_cast<std::uint8_t>(field_count);
  parts.value_count = parts.field_count;
  parts.level = description.level;
  parts.kind = description.kind;
  parts.max_level = LevelFilter::trace;
  parts.owned = !description.is_permanent;
  parts.is_perf = description.is_perf;
  parts.is_annotation = description.is_annotation;
  return parts;
}

RuntimeCallsite::RuntimeCallsite(CallsiteDescription const& description) : owned_(new Owned(description)) {}

RuntimeCallsite::RuntimeCallsite(RuntimeCallsite const& other) noexcept : owned_(other.owned_) { retain(metadata()); }

RuntimeCallsite::~RuntimeCallsite() { release(metadata()); }

Callsite& RuntimeCallsite::callsite() const noexcept { return owned_->callsite; }

bool knows_line(Metadata const& metadata) noexcept { return metadata.line() != 0 || metadata.parts().has_line_zero; }

std::uint64_t internal::serial_of(Metadata const& metadata) noexcept {
  return metadata.parts().owned ? RuntimeCallsite::Owned::of(metadata)->serial : 0;
}

void retain(Metadata const& metadata) noexcept {
  if (metadata.parts().owned) RuntimeCallsite::Owned::of(metadata)->references.fetch_add(1, std::memory_order_relaxed);
}

void release(Metadata const& metadata) noexcept {
  if (!metadata.parts().owned) return;
  auto* const owned = RuntimeCallsite::Owned::of(metadata);
  if (owned->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  internal::forget_callsite(owned->callsite);
  owned->free_storage();
  delete owned;
}

}}  // namespace tracing::v1
