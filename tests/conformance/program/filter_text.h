// Makes the filters that a case describes.
#pragma once

#include <string>
#include <string_view>

#include "object_reader.h"
#include "tracing_core/filter/env_filter.h"

namespace conformance {

/// Returns a directive that a case adds or sets as the default. Throws BadCase if it cannot be parsed.
tracing::Directive directive_of(std::string const& text);

/// The settings of an EnvFilter in an input: `filter`, and optionally `regex`, `default_directive`, `add_directives`.
struct FilterSettings {
  std::string text;
  tracing::EnvFilterOptions options;
  std::vector<std::string> added;

  explicit FilterSettings(ObjectReader& reader);
  /// Parses leniently and does not report errors.
  tracing::EnvFilter make() const;
};

std::string_view name_of(tracing::Interest interest);

/// Captures standard error while it exists.
class StderrCapture {
 public:
  StderrCapture();
  StderrCapture(StderrCapture const&) = delete;
  StderrCapture& operator=(StderrCapture const&) = delete;
  ~StderrCapture();

  std::string text() const;

 private:
  int file_;
  int before_;
};

}  // namespace conformance
