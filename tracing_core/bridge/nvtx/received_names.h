// The names that NVTX calls pass at run time: domains, categories, and names of ranges.
//
// A program may make up any number of names. The first kMaxNames names of ranges get a callsite of their own, and so
// become names of spans; all later names are the field `name` of spans called `range`, one callsite for each domain.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tracing_core/dispatch/runtime_callsite.h"

namespace tracing { inline namespace v1 { namespace bridge { namespace nvtx {

inline constexpr std::size_t kMaxNames = 500;
inline constexpr std::size_t kMaxNameSize = 200;        // a longer name is a field
inline constexpr std::size_t kMaxRegistered = 100'000;  // registered strings beyond kMaxNames
inline constexpr std::size_t kMaxDomains = 200;
inline constexpr std::size_t kMaxCategories = 200;  // of each domain

// A category's number and name.
struct Category {
  std::uint32_t id;
  std::string name;
  Category* next;
};

// A domain of NVTX. Domains are never destroyed, since a program may use a handle after it destroyed the domain. All
// functions are thread-safe and lock-free.
class Domain {
 public:
  explicit Domain(std::string_view name);

  // Returns the domain of this name; the name of the default domain is empty. Returns the default domain instead of a
  // domain beyond kMaxDomains. Throws std::bad_alloc.
  static Domain& named(std::string_view name);
  static Domain& default_domain();

  std::string_view name() const noexcept { return name_; }
  std::string const& target() const noexcept { return target_; }
  Callsite& range() const noexcept { return range_.callsite(); }  // fields: name, category, payload
  Callsite& mark() const noexcept { return mark_.callsite(); }    // fields: message, category, payload

  void name_category(std::uint32_t id, std::string_view name);
  // Returns the category with the name that was given last; null if it has no name.
  Category const* category(std::uint32_t id) const noexcept;

 private:
  std::string const name_;
  std::string const target_;
  RuntimeCallsite const range_;
  RuntimeCallsite const mark_;
  std::atomic<Category*> categories_{nullptr};
  std::atomic<std::size_t> category_count_{0};
  Domain* next_ = nullptr;
};

// A name of ranges. A registered string without a callsite is a name, too.
struct RangeName {
  Domain const* domain;
  std::string text;
  std::optional<RuntimeCallsite> span{};  // fields: category, payload
  RangeName* next = nullptr;
};

// Returns the name with its callsite; null if there is no room for another callsite. Never destroyed. Thread-safe,
// lock-free. Throws std::bad_alloc.
RangeName const* find_or_add_name(Domain const& domain, std::string_view text);

// Returns the name for a string that is registered; null if there is no room for it. Thread-safe, lock-free. Throws
// std::bad_alloc.
RangeName const* register_string(Domain const& domain, std::string_view text);

}}}}  // namespace tracing::v1::bridge::nvtx
