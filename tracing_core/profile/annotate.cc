#include "tracing_core/profile/annotate.h"

#include <map>
#include <new>
#include <string>
#include <vector>

#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/support/mutex.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

constexpr std::size_t kMaxKept = 4096;

// Keeps the callsites of annotations by level, name and fields, so that each is described once.
struct KnownAnnotations {
  Mutex mutex;
  std::map<std::string, RuntimeCallsite, std::less<>> all TRACING_GUARDED_BY(mutex);
};
KnownAnnotations& known() {
  static auto& never_destroyed = *new KnownAnnotations;
  return never_destroyed;
}

RuntimeCallsite new_callsite(AnnotationLevel level, std::string_view name, std::string_view const* field_names,
                             std::size_t field_count) {
  return RuntimeCallsite({.kind = Kind::span,
                          .name = name,
                          .target = "tracing::annotate",
                          .level = level_of(level),
                          .fields = std::vector<std::string_view>(field_names, field_names + field_count),
                          .is_annotation = true});
}

RuntimeCallsite callsite_of(AnnotationLevel level, std::string_view name, std::string_view const* field_names,
                            std::size_t field_count) {
  std::string key(1, static_cast<char>('0' + static_cast<int>(level)));
  key.append(name);
  for (std::size_t i = 0; i < field_count; ++i) key.append(1, '\0').append(field_names[i]);
  // Never wait for the lock: in a forked child, a thread of the parent may have it forever.
  KnownAnnotations& kept = known();
  if (!kept.mutex.try_lock()) return new_callsite(level, name, field_names, field_count);
  MutexLock const lock(kept.mutex, std::adopt_lock);
  auto const found = kept.all.find(key);
  if (found != kept.all.end()) return found->second;
  RuntimeCallsite made = new_callsite(level, name, field_names, field_count);
  if (kept.all.size() < kMaxKept) kept.all.emplace(std::move(key), made);
  return made;
}

}  // namespace

Span make_annotation(AnnotationLevel level, std::string_view name, std::string_view const* field_names,
                     Value const* values, std::size_t field_count) noexcept {
  if (annotation_gates[static_cast<std::size_t>(level)].enabled() == 0) return {};
  try {
    RuntimeCallsite const made = callsite_of(level, name, field_names, field_count);
    return Span::make(made.callsite(), values);
  } catch (std::bad_alloc const&) {
    return {};
  }
}

}}}  // namespace tracing::v1::internal
