#include "tracing_core/model/redaction.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tracing_core/support/short_text.h"

namespace tracing { inline namespace v1 {
namespace internal {

struct Redaction {
  std::vector<std::string> names;
  std::string token;
  Redaction const* previous;  // never freed, as another thread may be reading it
};

constinit std::atomic<Redaction const*> the_redaction{nullptr};

namespace {

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    std::string_view const item = list.substr(0, list.find(','));
    list.remove_prefix(std::min(item.size() + 1, list.size()));
    std::string_view const name = support::trimmed(item);
    if (!name.empty()) names.emplace_back(without_underscore(name));
  }
  return names;
}

// True if `field` is `name`, or ends with a dot or an arrow and `name`.
bool has_name(std::string_view field, std::string_view name) noexcept {
  if (!field.ends_with(name)) return false;
  field.remove_suffix(name.size());
  return field.empty() || field.ends_with('.') || field.ends_with("->");
}

}  // namespace

bool covers(Redaction const& redaction, std::string_view field) noexcept {
  field = without_underscore(field);
  return std::any_of(redaction.names.begin(), redaction.names.end(),
                     [field](auto const& name) { return has_name(field, name); });
}

bool is_hidden(std::string_view field) noexcept {
  Redaction const* const redaction = current_redaction();
  return redaction != nullptr && covers(*redaction, field);
}

std::string_view redaction_token() noexcept {
  Redaction const* const current = current_redaction();
  return current == nullptr ? kRedactionToken : std::string_view(current->token);
}

}  // namespace internal

void redact(std::string_view names, std::string_view token) {
  std::vector<std::string> split_names = internal::split(names);
  if (split_names.empty() && internal::current_redaction() == nullptr) return;
  auto* const made =
      new internal::Redaction{std::move(split_names), std::string(token), internal::the_redaction.load()};
  while (!internal::the_redaction.compare_exchange_weak(made->previous, made)) {
  }
}

}}  // namespace tracing::v1
