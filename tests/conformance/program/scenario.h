// Declares Scenario, which plays the operations of a case: spans and events of callsites made at run time, on threads.
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

/// What an operation came to.
struct Step {
  bool on_disabled_span = false;               ///< its span was never made, so nothing happened
  tracing::Metadata const* emitted = nullptr;  ///< the callsite that it ran; null: it made neither span nor event
};

/// The callsites, spans and threads of one case.
class Scenario {
 public:
  /// To be called by the main thread, in a process where no other thread has used the library. The scenario is left as it
  /// is when the process ends: a span that a case does not close stays open.
  static Scenario& start(Json const& callsites);

  /// Does what one operation says and returns when it is done. Throws BadCase where it is not understood.
  Step play(Json const& operation);

 private:
  class Worker;
  using Entered = std::vector<tracing::EnteredSpan>;
  using Thread = std::optional<std::string>;

  struct OpenSpan {
    tracing::Span span;
    tracing::Metadata const* metadata = nullptr;  // also where it is off
    tracing::SpanId id{};  // also once the handle is gone
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

/// A callsite made from its description in a case; `what` names it in complaints.
tracing::RuntimeCallsite make_callsite(Json const& description, std::string const& what);

/// Throws BadCase where it is none of ERROR, WARN, INFO, DEBUG, TRACE.
tracing::Level level_of(std::string const& text);

}  // namespace conformance
