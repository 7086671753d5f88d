// Scenario executes the operations of a case, which make spans and events of runtime callsites on threads.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "object_reader.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/emit/span.h"

namespace conformance {

/// The result of an operation.
struct Step {
  bool on_disabled_span = false;               ///< its span is disabled, so nothing happened
  tracing::Metadata const* emitted = nullptr;  ///< the callsite of the new span or event, otherwise null
};

/// The callsites, spans and threads of one case.
class Scenario {
 public:
  /// Starts a scenario. Must be called by the main thread, in a process where no other thread has used the library. The
  /// scenario is never destroyed: spans that a case does not close stay open.
  static Scenario& start(Json const& callsites);

  /// Executes one operation. Throws BadCase if it is unknown.
  Step play(Json const& operation);

 private:
  class Worker;
  using Entered = std::vector<tracing::EnteredSpan>;
  using Thread = std::optional<std::string>;

  struct OpenSpan {
    tracing::Span span;
    tracing::Metadata const* metadata = nullptr;  // set even if it is disabled
    tracing::SpanId id{};                         // kept even after the handle is closed
    bool closed = false;
    std::map<std::string, Entered> entered;  // by thread
  };

  explicit Scenario(Json const& callsites);
  ~Scenario();

  tracing::RuntimeCallsite const& callsite(std::string const& key) const;
  OpenSpan& span(std::string const& key);
  tracing::Parent parent(Json const* key);
  void on_thread(Thread const& thread, std::function<void()> const& f);

  Step new_span(ObjectReader& reader, Thread const& thread);
  Step event(ObjectReader& reader, Thread const& thread);
  Step change(std::string const& operation, ObjectReader& reader, Thread const& thread);

  std::map<std::string, std::unique_ptr<Worker>> workers_;
  std::map<std::string, tracing::RuntimeCallsite> callsites_;
  std::map<std::string, OpenSpan> spans_;
};

/// Makes a callsite from its description in a case; `what` names it in errors.
tracing::RuntimeCallsite make_callsite(Json const& description, std::string const& what);

/// Returns the level. Throws BadCase unless it is ERROR, WARN, INFO, DEBUG or TRACE.
tracing::Level level_of(std::string const& text);

}  // namespace conformance
