// Span: a handle to a span that can be entered, recorded to and passed between threads. Also the scopes that enter a
// span.
#pragma once

#include <type_traits>
#include <utility>

#include "tracing_core/dispatch/carried_context.h"
#include "tracing_core/dispatch/dispatch.h"
#include "tracing_core/emit/arguments.h"
#include "tracing_core/emit/emit.h"

namespace tracing { inline namespace v1 {

class EnteredSpan;

/// A handle to a span. The handle is empty if the span was not enabled: then all functions do nothing. The span closes
/// when its last handle is destroyed and no thread is in it, so the owner of the handle may go away inside the span.
/// Copies share the span. Thread-compatible; different handles of one span may be used on different threads at the same
/// time.
class Span {
 public:
  /// Makes an empty handle.
  constexpr Span() noexcept = default;
  Span(Span const& other) noexcept : open_(other.open_), metadata_(other.metadata_) { add_reference(); }
  Span(Span&& other) noexcept
      : open_(std::exchange(other.open_, {})), metadata_(std::exchange(other.metadata_, nullptr)) {}
  Span& operator=(Span other) noexcept {
    std::swap(open_, other.open_);
    std::swap(metadata_, other.metadata_);
    return *this;
  }
  ~Span() {
    if (open_.id) drop_reference();
  }

  /// Makes a span of a callsite made at run time; `values` are in the order of the callsite's fields.
  static Span make(Callsite& callsite, Value const* values, Parent parent = {}, Origin const& origin = {}) noexcept;
  /// Returns a handle to this thread's current span.
  static Span current() noexcept;
  static Span none() noexcept { return {}; }

  /// Enters the span on this thread until the result is destroyed, which must happen on this thread.
  [[nodiscard]] auto enter() const& noexcept;
  [[nodiscard]] EnteredSpan enter() && noexcept;
  /// As enter(), but the result owns the handle.
  [[nodiscard]] EnteredSpan entered() && noexcept;
  /// Calls `f()` inside the span; returns the result of `f()`.
  template <class F>
  decltype(auto) in_scope(F&& f) const;

  /// Sets fields that the span was made with: `span.record(tracing::kv("status", 200))`. Ignores other names.
  template <class... T>
  Span const& record(internal::KeyValue<T>&&... fields) const noexcept {
    (record_one(fields.name, internal::Held<T>(fields.value)), ...);
    return *this;
  }
  /// Sets fields in one step; `values` are in the order of the span's fields, and empty values change nothing.
  void record_all(Value const* values) const noexcept;
  /// Records that `cause` led to this span.
  Span const& follows_from(Span const& cause) const noexcept;

  /// Returns this handle, or a handle to the current span if this handle is empty.
  Span or_current() const& noexcept { return is_none() ? current() : *this; }
  Span or_current() && noexcept { return is_none() ? current() : std::move(*this); }

  constexpr bool is_none() const noexcept { return !open_.id; }
  constexpr bool is_disabled() const noexcept { return is_none(); }
  constexpr explicit operator bool() const noexcept { return !is_none(); }
  constexpr SpanId id() const noexcept { return open_.id; }
  /// Returns null if this handle is empty.
  constexpr Metadata const* metadata() const noexcept { return metadata_; }
  bool has_field(std::string_view name) const noexcept {
    return metadata_ != nullptr && metadata_->fields().contains(name);
  }

  friend bool operator==(Span const& a, Span const& b) noexcept {
    return a.open_.subscriber == b.open_.subscriber && a.open_.id == b.open_.id;
  }

  // Used by the macros.
  Span(OpenSpan open, Metadata const& metadata) noexcept : open_(open), metadata_(open.id ? &metadata : nullptr) {}
  OpenSpan open() const noexcept { return open_; }

 private:
  void add_reference() const noexcept;
  void drop_reference() const noexcept;
  template <class T>
  void record_one(std::string_view name, internal::Held<T> const& held) const noexcept {
    if (open_.id) record_value(name, held.value());
  }
  void record_value(std::string_view name, Value value) const noexcept;

  OpenSpan open_{};
  Metadata const* metadata_ = nullptr;
};

namespace internal {

// Keeps the thread in the span, and so the span open, during its lifetime.
class [[nodiscard]] Entered {
 public:
  explicit Entered(OpenSpan span) noexcept : span_(span) {
    if (span_.id) internal::enter(span_);
  }
  Entered(Entered const&) = delete;
  Entered& operator=(Entered const&) = delete;
  ~Entered() {
    if (span_.id) internal::exit(span_);
  }

 private:
  OpenSpan span_;
};

// The scope that TRACE_SPAN declares: its span is open until the end of the block. The object stays in memory, because
// the functions that open the span are not inlined, so a disabled span does not make the enclosing function save a
// register. `subscriber_` is set together with the id and read only if the id is set, which GCC cannot always see.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
class SpanScope {
 public:
  constexpr SpanScope() noexcept {}
  SpanScope(SpanScope const&) = delete;
  SpanScope& operator=(SpanScope const&) = delete;
  constexpr ~SpanScope() {
    if (id_) [[unlikely]]
      close();
  }
  // Used by the macros. Ignores the threshold, which only perf spans have.
  void start(OpenSpan span, std::uint64_t) noexcept {
    id_ = span.id;
    subscriber_ = span.subscriber;
  }

 private:
  [[gnu::noinline, gnu::visibility("hidden")]] void close() noexcept { subscriber_->close_scope(id_); }

  SpanId id_{};
  Subscriber* subscriber_;  // set with the id
};
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

// Replaces the scope of a span whose level is compiled out.
struct [[maybe_unused]] NoScope {};
template <bool kCompiledIn>
using ScopeOf = std::conditional_t<kCompiledIn, SpanScope, NoScope>;

// As for events, there is one function for each list of argument types. It starts the scope itself, since every
// statement would have to store a result.
template <class Scope, class... B>
[[gnu::noinline, gnu::visibility("hidden")]] void open_bare(Scope& scope, Callsite const& callsite, LayerMask mask,
                                                            B... args) noexcept {
  auto statement = collect(args...);
  [[maybe_unused]] Printed<std::remove_cvref_t<B>...> const printed(callsite.metadata(), statement.values);
  if constexpr ((std::is_same_v<B, ParentArgument> || ...)) {
    scope.start(dispatch_open_scope_below(callsite, mask, statement.values, statement.parent), statement.threshold_ns);
  } else {
    scope.start(dispatch_open_scope(nullptr, callsite.metadata(), mask, statement.values), statement.threshold_ns);
  }
}
template <class... B>
[[gnu::noinline, gnu::visibility("hidden")]] OpenSpan make_bare(Callsite const& callsite, LayerMask mask,
                                                                B... args) noexcept {
  auto statement = collect(args...);
  [[maybe_unused]] Printed<std::remove_cvref_t<B>...> const printed(callsite.metadata(), statement.values);
  return dispatch_new_span(callsite, mask, statement.values, statement.parent);
}

// Called by the macros with all their arguments. Level and name are ignored, since the callsite has them.
template <class... A>
constexpr void open_scope(NoScope&, Callsite const&, LayerMask, Level, char const*, A const&...) noexcept {}
template <class... A>
constexpr void open_function_scope(NoScope&, Callsite const&, LayerMask, Level, A const&...) noexcept {}
template <class... A>
[[gnu::always_inline]] inline void open_scope(SpanScope& scope, Callsite const& callsite, LayerMask mask, Level,
                                              char const*, A const&... args) noexcept {
  open_bare<SpanScope, decltype(bare(args))...>(scope, callsite, mask, bare(args)...);
}
template <class... A>
[[gnu::always_inline]] inline void open_function_scope(SpanScope& scope, Callsite const& callsite, LayerMask mask,
                                                       Level, A const&... args) noexcept {
  open_bare<SpanScope, decltype(bare(args))...>(scope, callsite, mask, bare(args)...);
}
// The callsite and the layers of an enabled TRACE_MAKE_SPAN.
struct FoundSpan {
  Callsite const* callsite;
  LayerMask mask;

  template <class... A>
  [[gnu::always_inline]] inline Span operator()(Level, char const*, A const&... args) const noexcept {
    return Span(make_bare<decltype(bare(args))...>(*callsite, mask, bare(args)...), callsite->metadata());
  }
};

// A condition that the compiler knows before it optimises.
template <bool kValue>
inline constexpr bool kConstant = kValue;

// Returns true if the callsite is enabled. If so, keeps the callsite for the next found_span() of this thread.
bool find_enabled_span(Callsite& callsite) noexcept;
FoundSpan found_span() noexcept;
template <class Types, class F>
[[gnu::always_inline]] inline bool find_span(F find) noexcept {
  Callsite* const callsite = find(static_cast<Types*>(nullptr));
  return callsite->may_be_enabled() && find_enabled_span(*callsite);
}

}  // namespace internal

/// A handle whose span this thread has entered; leaves the span when destroyed. Movable, but must be destroyed on the
/// thread that entered it.
class [[nodiscard]] EnteredSpan {
 public:
  explicit EnteredSpan(Span span) noexcept : span_(std::move(span)) {
    if (span_) internal::enter(span_.open());
  }
  EnteredSpan(EnteredSpan&& other) noexcept = default;
  EnteredSpan& operator=(EnteredSpan&&) = delete;
  ~EnteredSpan() {
    if (span_) internal::exit(span_.open());
  }

  /// Leaves the span and returns the handle.
  Span exit() && noexcept {
    if (span_) internal::exit(span_.open());
    return std::move(span_);
  }
  Span const& span() const noexcept { return span_; }

 private:
  Span span_;
};

inline auto Span::enter() const& noexcept { return internal::Entered(open_); }
inline EnteredSpan Span::enter() && noexcept { return EnteredSpan(std::move(*this)); }
inline EnteredSpan Span::entered() && noexcept { return EnteredSpan(std::move(*this)); }

template <class F>
decltype(auto) Span::in_scope(F&& f) const {
  internal::Entered const scope(open_);
  return std::forward<F>(f)();
}

#if defined(TRACING_DISABLED)
// Functions that differ while tracing is compiled out have another name for the linker, since other targets may have
// tracing compiled in.
inline namespace disabled {

template <class F>
std::decay_t<F> with_current_span(F&& f) {
  return std::forward<F>(f);
}

}  // namespace disabled
#else

/// Returns a callable that calls `f` inside the current span of this thread, on whichever thread it is called. In a
/// test program the call's records belong to the same test as this thread's records, even if this thread is not in a
/// span.
template <class F>
auto with_current_span(F&& f) {
  return [span = Span::current(), context = internal::capture_context(),
          f = std::forward<F>(f)]<class... A>(A&&... args) mutable -> decltype(auto) {
    internal::AdoptedContext const adopted(context);
    internal::Entered const scope(span.open());
    return f(std::forward<A>(args)...);
  };
}

#endif

inline internal::ParentArgument parent(Span const& span) noexcept { return {Parent::below(span.id())}; }

}}  // namespace tracing::v1
