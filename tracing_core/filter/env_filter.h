// Declares EnvFilter, the filter that is set by a text such as `info,gpu=debug,[launch{stream=7}]=trace`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracing_core/filter/directive.h"
#include "tracing_core/filter/dynamic_directives.h"
#include "tracing_core/filter/filter.h"
#include "tracing_core/filter/parse_error.h"
#include "tracing_core/filter/static_directives.h"
#include "tracing_core/filter/thread_levels.h"

namespace tracing::inline v1 {

/// How a text becomes an EnvFilter.
struct EnvFilterOptions {
  /// Used where the text holds no directive; without it such a filter lets nothing pass.
  std::optional<Directive> default_directive{};
  /// Whether a value that is no number or boolean is a regular expression; otherwise it is the text that the value
  /// prints for debugging. Holds for directives added later, too.
  bool regex = true;
  /// What from_env() reads.
  char const* variable = "TRACE_FILTER";
};

/// Decides by directives. Those that name neither a span nor a value decide by metadata: of all that apply the most
/// specific one alone. Those that name a span or fields let everything up to their level pass on a thread that is
/// inside such a span, and make such spans. Serves as a filter of one layer or of everything. Set up by one thread,
/// then thread-safe. A record that a span's directives decide costs a few nanoseconds and takes no lock.
class EnvFilter : public Filter {
 public:
  using Options = EnvFilterOptions;

  /// Reads a text without a mistake; otherwise nothing, and the first mistake in `error`, when given.
  static std::optional<EnvFilter> parse(std::string_view text, Options const& options = {},
                                        ParseError* error = nullptr);
  /// Reads a text and skips directives that are wrong: they are added to `errors`, or written to stderr where that is
  /// null, each with its place and what would be right.
  static EnvFilter parse_lossy(std::string_view text, Options const& options = {},
                               std::vector<ParseError>* errors = nullptr);
  /// parse_lossy() of an environment variable, empty where it is not set.
  static EnvFilter from_env(Options const& options = {}, std::vector<ParseError>* errors = nullptr);

  /// parse_lossy() with the default directive `error`.
  explicit EnvFilter(std::string_view text);
  /// REQUIRES: not in use yet.
  EnvFilter(EnvFilter&& other) noexcept : Filter(), rules_(std::move(other.rules_)) {}
  EnvFilter& operator=(EnvFilter&& other) noexcept { return rules_ = std::move(other.rules_), *this; }

  /// Adds a directive; replaces an earlier one that applies to the same. REQUIRES: not in use yet.
  EnvFilter& add_directive(Directive directive) &;
  EnvFilter add_directive(Directive directive) && { return std::move(add_directive(std::move(directive))); }

  /// The text of all directives, those without spans first; `[{x}]=level` is of both sorts and appears twice.
  std::string to_string() const;

  std::vector<internal::StaticDirective> const& static_directives() const noexcept {
    return rules_.statics.directives();
  }
  internal::DynamicDirectives const& dynamic_directives() const noexcept { return *rules_.dynamics; }

  Interest callsite_enabled(Metadata const& metadata) noexcept override;
  bool enabled(Metadata const& metadata) noexcept override;
  bool enabled_now(Metadata const& metadata) noexcept override;
  bool decides_by_gate() noexcept override;
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
    bool regex = true;
  };

  EnvFilter(std::vector<Directive> directives, Options const& options);

  Rules rules_;
};

}  // namespace tracing::inline v1
