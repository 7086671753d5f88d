// EnvFilter: a filter that is defined by a text such as `info,gpu=debug,[launch{stream=7}]=trace`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracing_core/filter/directive_list.h"
#include "tracing_core/filter/dynamic_directives.h"
#include "tracing_core/filter/filter.h"
#include "tracing_core/filter/parse_error.h"
#include "tracing_core/filter/thread_levels.h"

namespace tracing { inline namespace v1 {

/// Says how a text is parsed to an EnvFilter.
struct EnvFilterOptions {
  /// Used if the text contains no directive. Without a default, such a filter lets nothing pass.
  std::optional<Directive> default_directive{};
  /// If true, a value that is neither a number nor a boolean is a regular expression; if false, it is the debug output
  /// of the value. Also applies to directives that are added later.
  bool regex = true;
  /// If true, a regular expression also matches values whose text is the expression itself, and text in quotes also
  /// matches a value that has this text without the quotes. If false, as in the reference, it is a regular expression
  /// only. Has no effect if `regex` is false.
  bool literal_text = true;
  /// The environment variable that from_env() reads.
  char const* variable = "TRACE_FILTER";
};

/// Filters by directives. A directive that names neither a span nor a value is static: the most specific static
/// directive that applies to the metadata decides alone. A directive that names a span or fields lets everything up to
/// its level pass on threads that are inside such a span, and enables such spans. Can filter one layer or an entire
/// registry. Set it up on one thread; afterwards it is thread-safe. A record that a span decides about costs a few
/// nanoseconds and no lock.
class EnvFilter : public Filter {
 public:
  using Options = EnvFilterOptions;

  /// Parses a text. If it is invalid, returns nothing and sets `error` to the first error, unless it is null.
  static std::optional<EnvFilter> parse(std::string_view text, Options const& options = {},
                                        ParseError* error = nullptr);
  /// Parses a text and skips invalid directives. Adds an error for each to `errors`, or writes them to stderr if that
  /// is null, with the position and a correction.
  static EnvFilter parse_lossy(std::string_view text, Options const& options = {},
                               std::vector<ParseError>* errors = nullptr);
  /// Does what parse_lossy() does, for an environment variable; a variable that is not set counts as empty.
  static EnvFilter from_env(Options const& options = {}, std::vector<ParseError>* errors = nullptr);

  /// Does what parse_lossy() does, with the default directive `error`.
  explicit EnvFilter(std::string_view text);
  /// REQUIRES: not in use yet.
  EnvFilter(EnvFilter&& other) noexcept : Filter(), rules_(std::move(other.rules_)) {}
  EnvFilter& operator=(EnvFilter&& other) noexcept { return rules_ = std::move(other.rules_), *this; }

  /// Adds a directive, replacing an equivalent one: see compare_specificity(). REQUIRES: not in use yet.
  EnvFilter& add_directive(Directive directive) &;
  EnvFilter add_directive(Directive directive) && { return std::move(add_directive(std::move(directive))); }

  /// Returns the text of all directives, static directives first. `[{x}]=level` is of both kinds and appears twice.
  std::string to_string() const;

  std::vector<Directive> const& static_directives() const noexcept { return rules_.statics.directives(); }
  internal::DynamicDirectives const& dynamic_directives() const noexcept { return *rules_.dynamics; }

  Interest callsite_enabled(Metadata const& metadata) noexcept override;
  bool enabled(Metadata const& metadata) noexcept override;
  bool enabled_now(Metadata const& metadata) noexcept override;
  bool decides_by_thread_level() noexcept override;
  LevelFilter max_level_hint() const noexcept override;
  bool follows_spans() const noexcept override { return rules_.has_dynamics; }
  void on_new_span(NewSpan const& span, std::uintptr_t& state) noexcept override;
  void on_record(FieldValues const& values, std::uintptr_t& state) noexcept override;
  void on_enter(std::uintptr_t state) noexcept override;
  void on_exit(std::uintptr_t state) noexcept override;
  void on_close(std::uintptr_t state) noexcept override;

 private:
  struct Rules {
    internal::StaticDirectives statics;
    std::unique_ptr<internal::DynamicDirectives> dynamics;
    internal::ThreadLevelsOwner owner;
    std::uint64_t number = owner.number();
    LevelFilter dynamic_max_level{};
    bool has_dynamics = false;
    ValueSyntax syntax = ValueSyntax::text_or_regex;
  };

  EnvFilter(std::vector<Directive> directives, Options const& options);

  Rules rules_;
};

}}  // namespace tracing::v1
