// Declares how the suites make filters of what a case says, and what they tell about them.
#pragma once

#include <string>
#include <string_view>

#include "object_reader.h"
#include "tracing_core/filter/env_filter.h"

namespace conformance {

/// A directive that a case adds or sets as the default. Throws BadCase where it is none.
tracing::Directive directive_of(std::string const& text);

/// What an input says about an EnvFilter: `filter`, and where present `regex`, `default_directive`, `add_directives`.
struct FilterSettings {
  std::string text;
  tracing::EnvFilterOptions options;
  std::vector<std::string> added;

  explicit FilterSettings(ObjectReader& reader);
  /// Read leniently; what is wrong in the text is not told.
  tracing::EnvFilter make() const;
};

std::string_view name_of(tracing::Interest interest);

/// Whatever is written to standard error while it lives, instead of where it would go.
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
