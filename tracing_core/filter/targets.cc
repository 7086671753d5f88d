#include "tracing_core/filter/targets.h"

#include <algorithm>
#include <utility>

#include "tracing_core/filter/nearest.h"

namespace tracing { inline namespace v1 {
namespace {

// Parses one directive. Positions in errors refer to its text.
class TargetParser {
 public:
  TargetParser(std::string_view text, ParseError& error) : text_(text), error_(error) {}

  std::optional<Directive> run() {
    std::size_t const equals = text_.find('=');
    if (equals == text_.npos) return word();
    if (std::size_t const second = text_.find('=', equals + 1); second != text_.npos) {
      return fail("invalid filter directive: too many '=' in filter directive, expected 0 or 1", second, 1,
                  "only one \"=\" may separate a target and its level");
    }
    Directive directive;
    if (!target(text_.substr(0, equals), directive)) return std::nullopt;
    std::string_view const level = text_.substr(equals + 1);
    std::string_view error;
    auto const parsed = parse_level_filter(level, &error);
    if (!parsed) return fail(error, equals + 1, level.size(), internal::level_hint(level));
    directive.level = *parsed;
    return directive;
  }

 private:
  std::nullopt_t fail(std::string_view message, std::size_t position, std::size_t length, std::string hint) {
    error_ = {std::string(message), std::string(text_), position, length, std::move(hint)};
    return std::nullopt;
  }

  Directive word() const {
    Directive directive;
    if (auto const level = parse_level_filter(text_)) {
      directive.level = *level;
    } else {
      directive.target = text_;
    }
    return directive;
  }

  bool target(std::string_view text, Directive& out) {
    std::size_t const open = text.find("[{");
    out.target = text.substr(0, open);
    if (open == text.npos) return true;
    if (std::size_t const second = text.find("[{", open + 2); second != text.npos) {
      fail("invalid filter directive: too many '[{' in filter directive, expected 0 or 1", second, 2,
           "only one list of fields is allowed");
      return false;
    }
    std::string_view list = text.substr(open + 2);
    if (!list.ends_with("}]")) {
      fail("invalid filter directive: expected fields list to end with '}]'", open, text.size() - open,
           "a list of fields must end with \"}]\"");
      return false;
    }
    while (list.ends_with("}]")) list.remove_suffix(2);
    while (!list.empty()) {
      std::string_view const field = list.substr(0, list.find(','));
      if (!field.empty()) out.fields.push_back({std::string(field), std::nullopt});
      list.remove_prefix(std::min(list.size(), field.size() + 1));
    }
    return true;
  }

  std::string_view const text_;
  ParseError& error_;
};

}  // namespace

std::optional<Targets> Targets::parse(std::string_view text, ParseError* error) {
  std::vector<Directive> directives;
  for (std::size_t begin = 0; begin <= text.size();) {
    std::size_t const end = std::min(text.find(',', begin), text.size());
    ParseError mistake;
    auto directive = TargetParser(text.substr(begin, end - begin), mistake).run();
    if (!directive) {
      mistake.position += begin;
      if (error != nullptr) *error = std::move(mistake);
      return std::nullopt;
    }
    directives.push_back(*std::move(directive));
    begin = end + 1;
  }
  Targets targets;
  targets.directives_ = internal::StaticDirectives(std::move(directives));
  return targets;
}

Targets& Targets::with_target(std::string_view target, LevelFilter level) & {
  directives_.add({std::string(target), std::nullopt, {}, level});
  return *this;
}

Targets& Targets::with_default(LevelFilter level) & {
  directives_.add({std::nullopt, std::nullopt, {}, level});
  return *this;
}

std::optional<LevelFilter> Targets::default_level() const {
  for (Directive const& directive : directives_.directives()) {
    if (!directive.target) return directive.level;
  }
  return std::nullopt;
}

std::vector<std::pair<std::string_view, LevelFilter>> Targets::targets() const {
  std::vector<std::pair<std::string_view, LevelFilter>> out;
  for (Directive const& directive : directives_.directives()) {
    if (directive.target) out.emplace_back(*directive.target, directive.level);
  }
  return out;
}

bool Targets::would_enable(std::string_view target, Level level) const noexcept {
  return directives_.target_enabled(target, level);
}

Interest Targets::callsite_enabled(Metadata const& metadata) noexcept {
  return directives_.enabled(metadata) ? Interest::always : Interest::never;
}

std::string Targets::to_string() const {
  std::string out;
  directives_.append_to(out);
  return out;
}

}}  // namespace tracing::v1
