#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <vector>

#include "tracing_core/bridge/nvtx.h"
#include "tracing_core/bridge/nvtx/thread_object.h"
#include "tracing_core/collect/own_track.h"
#include "tracing_core/format/field_format.h"
#include "tracing_core/support/mixed_bits.h"
#include "tracing_core/support/mutex.h"

namespace tracing { inline namespace v1 { namespace bridge {
namespace {

// Returns null if no tool runs the program.
nvtxDomainHandle_t own_domain() noexcept {
  static nvtxDomainHandle_t const domain = nvtxDomainCreateA(kNvtxDomain);
  return domain;
}

// ---- names ----

// A text that ends with a NUL, at most 255 bytes of it.
class ShortName {
 public:
  explicit ShortName(std::string_view name) noexcept {
    std::size_t const size = std::min(name.size(), sizeof text_ - 1);
    std::memcpy(text_, name.data(), size);
    text_[size] = 0;
  }
  char const* text() const noexcept { return text_; }

 private:
  char text_[256];
};

// How NVTX knows a callsite.
struct NvtxNames {
  nvtxStringHandle_t name = nullptr;  // null if it is not registered
  std::uint32_t category = 0;
};

// The callsites that are known to NVTX: a hash table to which entries are only added, so that reading takes no lock.
// Callsites made at run time are not in it, since their addresses are reused and their names may be many.
class NamedCallsites {
 public:
  NvtxNames of(Metadata const& metadata) noexcept {
    if (metadata.parts().owned) return {};
    std::size_t const hash = support::mixed_bits(reinterpret_cast<std::uintptr_t>(&metadata));
    for (std::size_t i = 0; i < kProbes; ++i) {
      Entry& entry = entries_[(hash + i) % entries_.size()];
      Metadata const* found = entry.metadata.load(std::memory_order_acquire);
      if (found == nullptr && entry.metadata.compare_exchange_strong(found, &metadata, std::memory_order_acq_rel)) {
        fill(entry, metadata);
        found = &metadata;
      }
      if (found == &metadata)
        return {entry.name.load(std::memory_order_acquire), entry.category.load(std::memory_order_relaxed)};
    }
    return {};
  }

 private:
  static constexpr std::size_t kProbes = 16;
  struct Entry {
    std::atomic<Metadata const*> metadata{nullptr};
    std::atomic<nvtxStringHandle_t> name{nullptr};  // null until the entry is filled
    std::atomic<std::uint32_t> category{0};
  };

  void fill(Entry& entry, Metadata const& metadata) noexcept {
    entry.category.store(category_of(entry, metadata.target()), std::memory_order_relaxed);
    if (metadata.is_event()) return;
    entry.name.store(nvtxDomainRegisterStringA(own_domain(), ShortName(metadata.name()).text()),
                     std::memory_order_release);
  }

  // Returns the category of another callsite with this target, or makes one. A category's number is the place of its
  // first callsite. Two threads may make two categories of one name.
  std::uint32_t category_of(Entry const& added, std::string_view target) noexcept {
    for (Entry const& entry : entries_) {
      Metadata const* const metadata = entry.metadata.load(std::memory_order_acquire);
      std::uint32_t const category = entry.category.load(std::memory_order_relaxed);
      if (metadata != nullptr && category != 0 && metadata->target() == target) return category;
    }
    auto const category = static_cast<std::uint32_t>(&added - entries_.data()) + 1;
    nvtxDomainNameCategoryA(own_domain(), category, ShortName(target).text());
    return category;
  }

  std::array<Entry, 2048> entries_{};
};
constinit NamedCallsites named_callsites;

// ---- the ranges of a thread ----

// NVTX ends the innermost range, whichever it is. If a thread leaves a span that is not the innermost, the range ends
// together with the ranges within it.
class RangeStack {
 public:
  // `owner` and `id` tell ranges apart.
  void push(void const* owner, SpanId id, nvtxEventAttributes_t const& attributes) {
    ranges_.push_back({owner, id});
    nvtxDomainRangePushEx(own_domain(), &attributes);
  }
  void pop(void const* owner, SpanId id) noexcept {
    auto const found = std::find_if(ranges_.rbegin(), ranges_.rend(), [&](Range const& range) {
      return range.owner == owner && range.id == id && !range.has_ended;
    });
    if (found == ranges_.rend()) return;
    found->has_ended = true;
    for (; !ranges_.empty() && ranges_.back().has_ended; ranges_.pop_back()) nvtxDomainRangePop(own_domain());
  }

 private:
  struct Range {
    void const* owner;
    SpanId id;
    bool has_ended = false;
  };
  std::vector<Range> ranges_;
};

nvtxEventAttributes_t attributes_of(NvtxNames names) noexcept {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.category = names.category;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = names.name;
  return attributes;
}

void set_text(nvtxEventAttributes_t& attributes, char const* text) noexcept {
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = text;
}

void push(void const* owner, SpanId id, nvtxEventAttributes_t const& attributes) noexcept {
  RangeStack* const stack = nvtx::thread_object<RangeStack>();
  if (stack == nullptr) return;
  try {
    stack->push(owner, id, attributes);
  } catch (...) {  // out of memory
  }
}

void pop(void const* owner, SpanId id) noexcept {
  if (RangeStack* const stack = nvtx::thread_object<RangeStack>()) stack->pop(owner, id);
}

// ---- the layer ----

class NvtxLayer final : public Layer {
 public:
  Hooks hooks() const noexcept override { return Hooks::enter | Hooks::exit | Hooks::event | Hooks::scopes; }

  void on_scope_begin(SpanRef span, Context const& context) noexcept override { on_enter(span, context); }
  void on_scope_end(SpanRef span, Context const& context) noexcept override { on_exit(span, context); }
  void on_enter(SpanRef span, Context const& context) noexcept override {
    if (!is_here_and_now(context)) return;
    NvtxNames const names = named_callsites.of(span.metadata());
    nvtxEventAttributes_t attributes = attributes_of(names);
    if (names.name != nullptr) [[likely]]
      return push(this, span.id(), attributes);
    ShortName const name(span.metadata().name());
    set_text(attributes, name.text());
    push(this, span.id(), attributes);
  }
  void on_exit(SpanRef span, Context const& context) noexcept override {
    if (is_here_and_now(context)) pop(this, span.id());
  }
  void on_event(Event const& event, Context const& context) noexcept override {
    if (!is_here_and_now(context)) return;
    InlineTextBuffer<512> text;
    fields_->append(text, event.fields, {});
    text.push_back('\0');
    if (text.truncated()) return;  // out of memory
    nvtxEventAttributes_t attributes = attributes_of(named_callsites.of(event.metadata()));
    set_text(attributes, text.view().data());
    nvtxDomainMarkEx(own_domain(), &attributes);
  }

 private:
  static bool is_here_and_now(Context const& context) noexcept {
    return internal::is_own_track(context.track()) && !context.is_dated() && !context.is_restored();
  }

  std::shared_ptr<FieldFormat const> const fields_ = default_fields();
};

// Returns the registered name of a range that is no span. A program may have any number of them, but the first 10,000
// suffice for tests.
nvtxStringHandle_t registered_name(std::string const& name) {
  constexpr std::size_t kMaxNames = 10'000;
  static support::Mutex mutex;
  static auto& names = *new std::map<std::string, nvtxStringHandle_t, std::less<>>;
  support::MutexLock const lock(mutex);
  auto const found = names.find(name);
  if (found != names.end()) return found->second;
  if (names.size() == kMaxNames) return nullptr;
  return names.emplace(name, nvtxDomainRegisterStringA(own_domain(), name.c_str())).first->second;
}

}  // namespace

std::unique_ptr<Layer> nvtx_layer() {
  if (own_domain() == nullptr) return nullptr;
  return std::make_unique<NvtxLayer>();
}

NvtxRange::NvtxRange(std::string_view name) noexcept {
  if (own_domain() == nullptr) return;
  try {
    std::string const text(name);
    nvtxEventAttributes_t attributes = attributes_of({registered_name(text), 0});
    if (attributes.message.registered == nullptr) set_text(attributes, text.c_str());
    push(this, {}, attributes);
  } catch (...) {  // out of memory
  }
}

NvtxRange::~NvtxRange() {
  if (own_domain() != nullptr) pop(this, {});
}

}}}  // namespace tracing::v1::bridge
