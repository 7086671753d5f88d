#include "tracing_core/model/redaction.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tracing::inline v1 {
namespace internal {

class Redaction {
 public:
  Redaction(std::vector<std::string> lower_names, std::string_view shown)
      : names(std::move(lower_names)), token(shown) {}

  std::vector<std::string> const names;
  std::string const token;
  std::unique_ptr<Redaction const> previous;  // somebody may be looking at it
};

constinit std::atomic<Redaction const*> the_redaction{nullptr};

namespace {

constexpr char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr bool continues_identifier(char c) noexcept {
  return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

// Whether `name` stands in `text`, and not as a part of a longer identifier.
bool stands_in(std::string_view name, std::string_view text) noexcept {
  auto const same = [](char a, char b) { return lower(a) == b; };
  for (auto at = text.begin(); (at = std::search(at, text.end(), name.begin(), name.end(), same)) != text.end(); ++at) {
    auto const end = at + static_cast<std::ptrdiff_t>(name.size());
    bool const begins = at == text.begin() || !continues_identifier(at[-1]) || !continues_identifier(*at);
    bool const ends = end == text.end() || !continues_identifier(*end) || !continues_identifier(end[-1]);
    if (begins && ends) return true;
  }
  return false;
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    std::size_t const comma = std::min(list.find(','), list.size());
    std::string_view const item = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    std::size_t const begin = item.find_first_not_of(" \t\r\n");
    if (begin == item.npos) continue;
    std::string name(item.substr(begin, item.find_last_not_of(" \t\r\n") - begin + 1));
    std::transform(name.begin(), name.end(), name.begin(), lower);
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

bool covers(Redaction const& redaction, std::string_view name) noexcept {
  return std::any_of(redaction.names.begin(), redaction.names.end(), [name](auto const& one) { return stands_in(one, name); });
}

std::string_view redaction_token() noexcept {
  Redaction const* const current = current_redaction();
  return current == nullptr ? kRedactionToken : std::string_view(current->token);
}

}  // namespace internal

void redact(std::string_view names, std::string_view token) {
  auto made = std::make_unique<internal::Redaction>(internal::split(names), token);
  internal::Redaction const* previous = internal::the_redaction.load();
  if (made->names.empty() && previous == nullptr) return;
  do {
    (void)made->previous.release();
    made->previous.reset(previous);
  } while (!internal::the_redaction.compare_exchange_weak(previous, made.get()));
  (void)made.release();
}

}  // namespace tracing::inline v1
