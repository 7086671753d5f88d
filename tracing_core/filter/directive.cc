// Parses directives. The grammar is the same as in Rust's tracing-subscriber:
//
//     directive = level | target | target "=" level
//               | [target] "[" [span] ["{" field ["=" value] {"," field ["=" value]} "}"] "]" ["=" level]
//
// A single word is a level if it is the name of a level, otherwise a target. A missing or empty level means trace.
#include "tracing_core/filter/directive.h"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "tracing_core/filter/directive_scan.h"
#include "tracing_core/filter/nearest.h"
#include "tracing_core/filter/pattern/pattern_budget.h"
#include "tracing_core/support/never_destroyed.h"
#include "tracing_core/support/utf8.h"

namespace tracing { inline namespace v1 {
namespace {

constexpr std::string_view kInvalid = "invalid filter directive";
constexpr std::string_view kInvalidField = "invalid field filter: ";

bool begins_target(std::string_view text) {
  auto const c = static_cast<unsigned char>(text.front());
  if (c < 0x80) {
    return c == '-' || c == ':' || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
  }
  // RE2 knows Unicode. The pattern is compiled only if a target begins with such a character.
  static support::NeverDestroyed<RE2> letter_or_number(R"([\pL\pN])", RE2::Quiet);
  re2::StringPiece const first(text.data(), support::decode_utf8(text).size);
  return RE2::FullMatch(first, *letter_or_number);
}

// Parses text_ as one directive. Positions in errors refer to text_.
class DirectiveParser {
 public:
  DirectiveParser(std::string_view text, ValueSyntax syntax, internal::PatternBudget& budget, Directive& directive,
                  ParseError* error)
      : text_(text), syntax_(syntax), budget_(budget), directive_(directive), error_(error) {}

  bool run() { return text_.starts_with('[') ? span(0) : word(); }

 private:
  bool fail(std::string_view message, std::size_t position, std::size_t length, std::string hint) {
    if (error_ != nullptr) *error_ = {std::string(message), std::string(text_), position, length, std::move(hint)};
    return false;
  }
  bool invalid(std::size_t position, std::size_t length, std::string_view hint) {
    return fail(kInvalid, position, length, std::string(hint));
  }
  std::size_t rest(std::size_t begin) const { return text_.size() - begin; }

  // Parses a directive that does not begin with a bracket.
  bool word() {
    if (text_.empty()) return invalid(0, 0, "a directive is missing");
    if (text_.front() == '=')
      return invalid(0, 0, "a target is missing before \"=\"; the level of all other targets is written without \"=\"");
    if (!begins_target(text_)) {
      return invalid(0, support::decode_utf8(text_).size, "expected a target, a level or \"[\"");
    }
    std::size_t end = 0;  // uses a plain loop, since words are short
    while (end < text_.size() && text_[end] != '=' && text_[end] != '[' && text_[end] != ',') ++end;
    if (end == text_.size() || text_[end] == ',') return lone_word(end);
    directive_.target = text_.substr(0, end);
    return text_[end] == '=' ? level(end + 1) : span(end);
  }

  // Parses a level or a target. The text has a comma only if a single directive is parsed. The reference accepts a
  // comma as the last character and takes it as part of the word.
  bool lone_word(std::size_t comma) {
    if (comma < text_.size() && comma + 1 != text_.size()) {
      return invalid(comma, rest(comma), "one directive was expected, not a list");
    }
    if (auto const all = parse_level_filter(text_)) {
      directive_.level = *all;
    } else {
      directive_.target = text_;
    }
    return true;
  }

  // Parses `[...]` at `open`, and the rest of the directive.
  bool span(std::size_t open) {
    std::size_t const end = text_.find_first_of("]{", open + 1);
    if (end == text_.npos) return invalid(open, rest(open), "the \"[\" is never closed by \"]\"");
    std::string_view const name = text_.substr(open + 1, end - open - 1);
    if (text_[end] == ']') {
      directive_.span = name;
      return after_span(end + 1);
    }
    if (!name.empty()) directive_.span = name;
    std::size_t const close = internal::field_list_end(text_, end);
    if (close == text_.npos) return invalid(end, rest(end), "the \"{\" is never closed by \"}\"");
    if (!fields(end + 1, close)) return false;
    if (close + 1 == text_.size()) return invalid(open, rest(open), "the \"[\" is never closed by \"]\"");
    if (text_[close + 1] != ']') {
      return invalid(close + 1, rest(close + 1),
                     "expected \"]\" after \"}\"; a brace in a value must be paired, in quotes or follow a \\");
    }
    return after_span(close + 2);
  }

  bool after_span(std::size_t begin) {
    if (begin == text_.size()) return true;
    if (text_[begin] == '=') return level(begin + 1);
    return invalid(begin, rest(begin), "expected \"=\" and a level, or nothing, after \"]\"");
  }

  bool level(std::size_t begin) {
    std::string_view text = text_.substr(begin);
    if (text.ends_with(',') && text.find(',') + 1 == text.size()) text.remove_suffix(1);
    if (text.empty()) return true;
    std::string_view error;
    auto const level = parse_level_filter(text, &error);
    if (!level && text.find(',') != text.npos) return list_instead(begin, text, error);
    if (!level) return fail(error, begin, text.size(), internal::level_hint(text));
    directive_.level = *level;
    return true;
  }

  // Fails with an error about a level that contains a comma, which occurs only if a single directive is parsed.
  bool list_instead(std::size_t begin, std::string_view text, std::string_view error) {
    std::size_t const comma = text.find(',');
    if (parse_level_filter(text.substr(0, comma))) {
      return invalid(begin + comma, text.size() - comma, "one directive was expected, not a list");
    }
    return fail(error, begin, text.size(), internal::level_hint(text));
  }

  bool fields(std::size_t begin, std::size_t end) {
    for (internal::Slice const slice : internal::split_fields(text_.substr(begin, end - begin))) {
      std::size_t const position = begin + slice.begin;
      if (slice.size == 0) return invalid(position, 0, "a field name is missing");
      if (!field(text_.substr(position, slice.size), position)) return false;
    }
    return true;
  }

  bool field(std::string_view text, std::size_t position) {
    std::size_t const equals = text.find('=');
    FieldMatch field{std::string(text.substr(0, equals)), std::nullopt};
    if (equals != text.npos) {
      std::string why;
      std::string_view const value = text.substr(equals + 1);
      field.value = ValueMatch::parse(value, syntax_, budget_, why);
      if (!field.value) {
        return fail(std::string(kInvalidField).append(why), position + equals + 1, value.size(),
                    budget_.exceeded ? why : "not a regular expression: " + why);
      }
    }
    directive_.fields.push_back(std::move(field));
    return true;
  }

  std::string_view const text_;
  ValueSyntax const syntax_;
  internal::PatternBudget& budget_;
  Directive& directive_;
  ParseError* const error_;
};

}  // namespace

std::weak_ordering operator<=>(FieldMatch const& a, FieldMatch const& b) noexcept {
  if (auto const order = a.value.has_value() <=> b.value.has_value(); order != 0) return order;
  if (auto const order = a.name <=> b.name; order != 0) return order;
  return a.value.has_value() ? *a.value <=> *b.value : std::weak_ordering::equivalent;
}

std::optional<Directive> Directive::parse(std::string_view text, ParseError* error, ValueSyntax syntax) {
  internal::Slice const slice = internal::trim(text, {0, text.size()});
  std::optional<Directive> directive(std::in_place);
  internal::PatternBudget budget(text);
  if (!DirectiveParser(text.substr(slice.begin, slice.size), syntax, budget, *directive, error).run()) {
    if (error != nullptr) error->position += slice.begin;
    directive.reset();
  }
  return directive;
}

bool Directive::has_values() const noexcept {
  return std::any_of(fields.begin(), fields.end(), [](FieldMatch const& field) { return field.value.has_value(); });
}

void Directive::append_to(std::string& out) const {
  if (target) out += *target;
  if (is_dynamic()) {
    out += '[';
    if (span) out += *span;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      out.append(i == 0 ? "{" : ",").append(fields[i].name);
      if (fields[i].value) fields[i].value->append_to(out += '=');
    }
    out += fields.empty() ? "]" : "}]";
  }
  if (target || is_dynamic()) out += '=';
  out += name(level);
}

std::string Directive::to_string() const {
  std::string out;
  append_to(out);
  return out;
}

std::weak_ordering compare_specificity(Directive const& a, Directive const& b) noexcept {
  auto const target_size = [](Directive const& d) { return d.target ? d.target->size() + 1 : 0; };
  // The more specific directive counts as less, so all comparisons are reversed.
  if (auto const order = target_size(b) <=> target_size(a); order != 0) return order;
  if (auto const order = b.span.has_value() <=> a.span.has_value(); order != 0) return order;
  if (auto const order = b.fields.size() <=> a.fields.size(); order != 0) return order;
  if (auto const order = b.target <=> a.target; order != 0) return order;
  if (auto const order = b.span <=> a.span; order != 0) return order;
  for (std::size_t i = 0; i < a.fields.size(); ++i) {
    if (auto const order = b.fields[i] <=> a.fields[i]; order != 0) return order;
  }
  return std::weak_ordering::equivalent;
}

ParsedDirectives parse_directives(std::string_view text, ValueSyntax syntax) {
  ParsedDirectives parsed;
  auto const slices = internal::split_directives(text);
  parsed.directives.reserve(slices.size());
  internal::PatternBudget budget(text);
  ParseError error;
  for (internal::Slice const slice : slices) {
    std::string_view const piece = text.substr(slice.begin, slice.size);
    Directive& directive = parsed.directives.emplace_back();
    if (DirectiveParser(piece, syntax, budget, directive, &error).run()) continue;
    error.position += slice.begin;
    parsed.errors.push_back(std::move(error));
    parsed.directives.pop_back();
  }
  return parsed;
}

}}  // namespace tracing::v1
