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

// How long what stands for a dot is at `i` of `text`; 0 where nothing does. Names of fields have a dot where the expression
// has `->`, so that `user.password`, `user -> password` and `(*user).password` are one.
constexpr std::size_t dot_at(std::string_view text, std::size_t i) noexcept {
  std::size_t at = i;
  while (at < text.size() && (text[at] == ' ' || text[at] == ')')) ++at;
  bool const arrow = text.substr(std::min(at, text.size()), 2) == "->";
  if (!arrow && (at >= text.size() || text[at] != '.')) return 0;
  at += arrow ? 2 : 1;
  while (at < text.size() && text[at] == ' ') ++at;
  return at - i;
}

// Where `name` ends if it stands at `i` of `text`; else npos.
constexpr std::size_t end_of(std::string_view name, std::string_view text, std::size_t i) noexcept {
  for (char const c : name) {
    std::size_t const dot = c == '.' ? dot_at(text, i) : 0;
    if (dot == 0 && (i >= text.size() || lower(text[i]) != c)) return text.npos;
    i += std::max<std::size_t>(dot, 1);
  }
  return i;
}

// Whether `name` stands in `text`, and not as a part of a longer identifier.
bool stands_in(std::string_view name, std::string_view text) noexcept {
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    if (begin > 0 && continues_identifier(text[begin - 1]) && continues_identifier(text[begin])) continue;
    std::size_t const end = end_of(name, text, begin);
    if (end == text.npos) continue;
    if (end == text.size() || !continues_identifier(text[end]) || !continues_identifier(text[end - 1])) return true;
  }
  return false;
}

// A name as end_of() takes it: lower case, dots, and nothing of `this->`, which names of fields leave out.
std::string plain(std::string_view item) {
  std::string name;
  for (std::size_t i = 0; i < item.size();) {
    std::size_t const dot = dot_at(item, i);
    name += dot > 0 ? '.' : lower(item[i]);
    i += std::max<std::size_t>(dot, 1);
  }
  while (name.starts_with("(*")) name.erase(0, 2);
  while (name.starts_with("this.")) name.erase(0, 5);
  return name;
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    std::size_t const comma = std::min(list.find(','), list.size());
    std::string_view const item = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    std::size_t const begin = item.find_first_not_of(" \t\r\n");
    if (begin == item.npos) continue;
    std::string name = plain(item.substr(begin, item.find_last_not_of(" \t\r\n") - begin + 1));
    if (!name.empty()) names.push_back(std::move(name));
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
