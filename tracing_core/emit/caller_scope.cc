// How a statement has a callsite for each caller: the first record of a caller copies the statement's metadata and
// replaces the target, the function and the line. The copies are in a hash table whose lists only grow, so that a
// search takes no lock.
#include "tracing_core/emit/caller_scope.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tracing_core/dispatch/current_subscriber.h"
#include "tracing_core/dispatch/subscriber.h"
#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/emit/function_path.h"
#include "tracing_core/support/loaded_object.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

// A statement, and a place that reached it.
struct Key {
  Callsite const* statement;
  void const* place;
  std::uint32_t line;

  friend bool operator==(Key const&, Key const&) = default;
};

struct Names {
  std::string target;
  std::string function;
};

bool is_known(char const* text) noexcept { return text != nullptr && text[0] != '\0'; }

Names names_of(CurrentCaller const& caller) {
  Names names;
  if (is_known(caller.function)) {
    std::string_view const signature = caller.function;
    PathParts const parts = parse_parts(signature.data(), signature.size());
    for (std::size_t i = 0; i < parts.target_parts(); ++i)
      names.target.append(i == 0 ? "" : "::").append(parts.part(i));
    if (names.target.empty()) names.target = file_stem(caller.file);
    if (parts.has_function) names.function = parts.part(parts.count - 1);
  }
  if (is_known(caller.target)) names.target = caller.target;
  return names;
}

// The callsite of a statement for one caller. Never freed.
class Site {
 public:
  Site(Key const& of, CurrentCaller const& caller)
      : key(of), metadata_(fill(of.statement->metadata().parts(), caller)), callsite(metadata_) {}

  Key const key;

 private:
  MetadataParts fill(MetadataParts parts, CurrentCaller const& caller);

  std::string text_;
  std::unique_ptr<FieldEntry[]> fields_;
  std::unique_ptr<MessagePlaceholder[]> placeholders_;
  Metadata const metadata_;

 public:
  Callsite callsite;
  Site* next = nullptr;
};

MetadataParts Site::fill(MetadataParts parts, CurrentCaller const& caller) {
  Names const names = names_of(caller);
  std::string_view const name(parts.text, parts.name_size);
  std::string_view const part(name.data() + name.size(), parts.target_size);
  std::uint32_t const old_size = parts.name_size + parts.target_size + parts.function_size + parts.module_path_size;
  std::uint32_t end = old_size + parts.message_size;  // of the text
  auto const include = [&end](std::uint32_t offset, std::uint32_t size) { end = std::max(end, offset + size); };
  for (std::size_t i = 0; i < parts.field_count; ++i) include(parts.fields[i].offset, parts.fields[i].size);
  for (std::size_t i = 0; i < parts.placeholder_count; ++i)
    include(parts.placeholders[i].spec_offset, parts.placeholders[i].spec_size);

  parts.is_for_caller = !names.target.empty();
  text_.append(name).append(parts.is_for_caller ? std::string_view(names.target) : part).append(names.function);
  if (parts.is_for_caller) text_.append(part);
  auto const new_size = static_cast<std::uint32_t>(text_.size());
  text_.append(parts.text + old_size, end - old_size);
  parts.module_path_size = parts.is_for_caller ? parts.target_size : 0;
  parts.has_module_path = parts.is_for_caller;
  if (parts.is_for_caller) parts.target_size = static_cast<std::uint32_t>(names.target.size());
  parts.function_size = static_cast<std::uint32_t>(names.function.size());

  std::size_t const entries = std::size_t{parts.field_count} + parts.unnamed_count;
  fields_ = std::make_unique<FieldEntry[]>(entries + 1);
  std::copy_n(parts.fields, entries, fields_.get());
  for (std::size_t i = 0; i < parts.field_count; ++i) fields_[i].offset += new_size - old_size;
  placeholders_ = std::make_unique<MessagePlaceholder[]>(std::size_t{parts.placeholder_count} + 1);
  std::copy_n(parts.placeholders, parts.placeholder_count, placeholders_.get());
  for (std::size_t i = 0; i < parts.placeholder_count; ++i) placeholders_[i].spec_offset += new_size - old_size;
  parts.text = text_.data();
  parts.fields = fields_.get();
  parts.placeholders = placeholders_.get();
  parts.file = caller.file;
  parts.line = caller.line;
  return parts;
}

class Sites {
 public:
  Callsite* find(Key const& key) const noexcept {
    for (Site* site = list_of(key).load(std::memory_order_acquire); site != nullptr; site = site->next)
      if (site->key == key) return &site->callsite;
    return nullptr;
  }
  Callsite* add(Key const& key, CurrentCaller const& caller) {
    if (caller.file != nullptr) keep_loaded(caller.file);
    auto made = std::make_unique<Site>(key, caller);
    std::atomic<Site*>& list = list_of(key);
    made->next = list.load(std::memory_order_acquire);
    while (!list.compare_exchange_weak(made->next, made.get(), std::memory_order_acq_rel))
      if (Callsite* const found = find(key)) return found;  // another thread's
    return &made.release()->callsite;
  }

 private:
  static constexpr std::size_t kLists = 1024;

  static std::size_t index_of(Key const& key) noexcept {
    auto const mixed = reinterpret_cast<std::uintptr_t>(key.statement) * 3 +
                       reinterpret_cast<std::uintptr_t>(key.place) + std::uintptr_t{key.line} * 64;
    return static_cast<std::size_t>(std::uint64_t{mixed} * 0x9e3779b97f4a7c15u >> 54) % kLists;
  }
  std::atomic<Site*>& list_of(Key const& key) noexcept { return lists_[index_of(key)]; }
  std::atomic<Site*> const& list_of(Key const& key) const noexcept { return lists_[index_of(key)]; }

  std::atomic<Site*> lists_[kLists] = {};
};
constinit Sites sites;

// Returns null if the caller is not known.
void const* place_of(CurrentCaller const& caller) noexcept {
  if (is_known(caller.function)) return caller.function;
  return caller.file != nullptr ? caller.file : caller.target;
}

// Returns true if nobody gets a statement's records, whoever the caller is.
bool is_off(Callsite const& statement) noexcept {
  return thread_state.in_subscriber || statement.metadata().level() > current().max_level_hint();
}

// Not inlined: for_caller() would save registers for it each time.
[[gnu::noinline]] Callsite* add_site(Callsite* statement, Key const& key, CurrentCaller const& caller) noexcept {
  if (is_off(*statement)) return statement;
  try {
    return sites.add(key, caller);
  } catch (...) {  // std::bad_alloc
    return statement;
  }
}

constexpr MetadataParts kSilent{.text = "", .max_level = LevelFilter::off};
constexpr Metadata silent_metadata(kSilent);
constinit Callsite silent(silent_metadata, Interest::never);

}  // namespace

CallerScope::CallerScope(CurrentCaller const& caller) noexcept
    : caller_(caller), is_outermost_(thread_state.caller == nullptr) {
  if (is_outermost_) thread_state.caller = &caller_;
}

CallerScope::~CallerScope() {
  if (is_outermost_) thread_state.caller = nullptr;
}

CurrentCaller* current_caller() noexcept { return thread_state.caller; }

SilenceScope::SilenceScope(bool is_silent) noexcept : caller_(thread_state.caller) {
  if (caller_ != nullptr) before_ = std::exchange(caller_->is_silent, is_silent);
}

SilenceScope::~SilenceScope() {
  if (caller_ != nullptr) caller_->is_silent = before_;
}

Callsite* for_caller(Callsite* statement) noexcept {
  CurrentCaller* const caller = thread_state.caller;
  if (caller == nullptr) return statement;
  if (caller->is_silent) return &silent;
  if (!statement->may_be_enabled() && is_off(*statement)) return statement;
  if (caller->find != nullptr) {
    if (is_off(*statement)) return statement;
    std::exchange(caller->find, nullptr)(*caller);
  }
  void const* const place = place_of(*caller);
  if (place == nullptr) return statement;
  Key const key{statement, place, caller->line};
  if (Callsite* const found = sites.find(key)) [[likely]]
    return found;
  return add_site(statement, key, *caller);
}

}}}  // namespace tracing::v1::internal
