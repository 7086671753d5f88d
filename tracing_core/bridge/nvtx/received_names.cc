#include "tracing_core/bridge/nvtx/received_names.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace tracing { inline namespace v1 { namespace bridge { namespace nvtx {
namespace {

constexpr Level kLevel = Level::info;

std::string target_of(std::string_view domain) {
  return domain.empty() ? std::string("nvtx") : "nvtx::" + std::string(domain);
}

RuntimeCallsite make_callsite(Kind kind, std::string_view name, Domain const& domain,
                              std::vector<std::string_view> fields) {
  return RuntimeCallsite({.kind = kind,
                          .name = name,
                          .target = domain.target(),
                          .level = kLevel,
                          .fields = std::move(fields),
                          .is_permanent = true});
}

// Adds a node to a list to which nodes are only added.
template <class Node>
void prepend(std::atomic<Node*>& head, Node* node, Node*& next) noexcept {
  next = head.load(std::memory_order_relaxed);
  while (!head.compare_exchange_weak(next, node, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

// Takes one of `max` places; false if all are taken.
bool take_place(std::atomic<std::size_t>& count, std::size_t max) noexcept {
  if (count.load(std::memory_order_relaxed) >= max) return false;
  if (count.fetch_add(1, std::memory_order_relaxed) < max) return true;
  count.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

constinit std::atomic<Domain*> domains{nullptr};
constinit std::atomic<std::size_t> domain_count{0};

// A hash table to which names are only added, so that reading takes no lock.
constexpr std::size_t kSlots = 2048;
constinit std::atomic<RangeName const*> names[kSlots];
constinit std::atomic<std::size_t> name_count{0};
static_assert(kMaxNames < kSlots / 2, "probing ends at an empty slot");

constinit std::atomic<RangeName*> registered{nullptr};  // names that are not in the table, for leak checkers
constinit std::atomic<std::size_t> registered_count{0};

}  // namespace

Domain::Domain(std::string_view name)
    : name_(name),
      target_(target_of(name)),
      range_(make_callsite(Kind::span, "range", *this, {"name", "category", "payload"})),
      mark_(make_callsite(Kind::event, "mark", *this, {"message", "category", "payload"})) {}

Domain& Domain::default_domain() {
  static Domain& domain = *new Domain("");
  return domain;
}

// Two threads that add a domain at the same time may both add it, which only gives its ranges two callsites.
Domain& Domain::named(std::string_view name) {
  if (name.empty()) return default_domain();
  for (Domain* domain = domains.load(std::memory_order_acquire); domain != nullptr; domain = domain->next_) {
    if (domain->name_ == name) return *domain;
  }
  if (name.size() > kMaxNameSize || !take_place(domain_count, kMaxDomains)) return default_domain();
  auto* const made = new Domain(name);
  prepend(domains, made, made->next_);
  return *made;
}

void Domain::name_category(std::uint32_t id, std::string_view name) {
  Category const* const known = category(id);
  if (known != nullptr && known->name == name) return;
  if (!take_place(category_count_, kMaxCategories)) return;
  auto* const made = new Category{id, std::string(name.substr(0, kMaxNameSize)), nullptr};
  prepend(categories_, made, made->next);
}

Category const* Domain::category(std::uint32_t id) const noexcept {
  Category const* category = categories_.load(std::memory_order_acquire);
  while (category != nullptr && category->id != id) category = category->next;
  return category;
}

RangeName const* find_or_add_name(Domain const& domain, std::string_view text) {
  if (text.size() > kMaxNameSize) return nullptr;
  std::size_t const hash = std::hash<std::string_view>()(text) + std::hash<void const*>()(&domain);
  std::unique_ptr<RangeName> made;
  for (std::size_t i = 0; i < kSlots; ++i) {
    auto& slot = names[(hash + i) % kSlots];
    RangeName const* found = slot.load(std::memory_order_acquire);
    if (found == nullptr) {
      if (made == nullptr) {
        if (!take_place(name_count, kMaxNames)) return nullptr;
        made = std::make_unique<RangeName>(RangeName{&domain, std::string(text)});
        made->span.emplace(make_callsite(Kind::span, text, domain, {"category", "payload"}));
      }
      if (slot.compare_exchange_strong(found, made.get(), std::memory_order_acq_rel)) return made.release();
    }
    if (found->domain == &domain && found->text == text) {
      // Another thread has added it, too. The callsite made here is permanent.
      if (made != nullptr) prepend(registered, made.get(), made->next), made.release();
      return found;
    }
  }
  return nullptr;
}

RangeName const* register_string(Domain const& domain, std::string_view text) {
  if (RangeName const* const name = find_or_add_name(domain, text)) return name;
  if (!take_place(registered_count, kMaxRegistered)) return nullptr;
  auto* const made = new RangeName{&domain, std::string(text)};
  prepend(registered, made, made->next);
  return made;
}

}}}}  // namespace tracing::v1::bridge::nvtx
