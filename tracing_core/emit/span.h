// Declares Span, a handle to a span that may be entered, recorded to and passed between threads, and the scopes made of
// it.
#pragma once

#include <type_traits>
#include <utility>

#include "tracing_core/dispatch/dispatch.h"
#include "tracing_core/emit/arguments.h"
#include "tracing_core/emit/emit.h"

namespace tracing::inline v1 {

class EnteredSpan;

/// A handle to a span, or to none where nobody wanted it: then everything it does is nothing. The span closes when the
/// last handle is gone and nothing is in it. Copies share the span. Thread-compatible; different handles of one span
/// may be used on different threads at the same time.
class Span {
 public:
  /// No span.
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

  /// A span of a callsite made at run time; `values` stand in the order of its fields.
  static Span make(Callsite& callsite, Value const* values, Parent parent = {}, Origin const& origin = {}) noexcept;
  /// A handle to the span that this thread is in.
  static Span current() noexcept;
  static Span none() noexcept { return {}; }

  /// While the result lives, this thread is in the span. The handle must outlive it.
  [[nodiscard]] auto enter() const& noexcept;
  [[nodiscard]] EnteredSpan enter() && noexcept;
  /// As enter(), but the result owns the handle.
  [[nodiscard]] EnteredSpan entered() && noexcept;
  /// Calls `f()` inside the span; returns what it returns.
  template <class F>
  decltype(auto) in_scope(F&& f) const;

  /// Gives fields that the span was made with new values: `span.record(tracing::kv("status", 200))`. Names that it was
  /// not made with are ignored.
  template <class... T>
  Span const& record(internal::KeyValue<T> const&... fields) const noexcept {
    (record_one(fields.name, internal::value_of(fields.value)), ...);
    return *this;
  }
  /// Gives fields new values in one step; `values` stand in the order of the span's fields, empty ones are left alone.
  void record_all(Value const* values) const noexcept;
  /// Says that this span would not be without `cause`.
  Span const& follows_from(Span const& cause) const noexcept;

  /// This span, or the current one where this is none.
  Span or_current() const& noexcept { return is_none() ? current() : *this; }
  Span or_current() && noexcept { return is_none() ? current() : std::move(*this); }

  constexpr bool is_none() const noexcept { return !open_.id; }
  constexpr bool is_disabled() const noexcept { return is_none(); }
  constexpr explicit operator bool() const noexcept { return !is_none(); }
  constexpr SpanId id() const noexcept { return open_.id; }
  /// Null where it is none.
  constexpr Metadata const* metadata() const noexcept { return metadata_; }
  bool has_field(std::string_view name) const noexcept {
    return metadata_ != nullptr && metadata_->fields().contains(name);
  }

  friend bool operator==(Span const& a, Span const& b) noexcept {
    return a.open_.subscriber == b.open_.subscriber && a.open_.id == b.open_.id;
  }

  // For the macros.
  Span(OpenSpan open, Metadata const& metadata) noexcept
      : open_(open), metadata_(open.id ? &metadata : nullptr) {}
  OpenSpan open() const noexcept { return open_; }

 private:
  void add_reference() const noexcept;
  void drop_reference() const noexcept;
  void record_one(std::string_view name, Value const& value) const noexcept;

  OpenSpan open_{};
  Metadata const* metadata_ = nullptr;
};

namespace internal {

// The thread is in the span while this lives; the span itself is somebody else's.
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

// A span that lives exactly as long as a block: what TRACE_SPAN declares. It stays in memory and out of registers,
// since the functions that open it are not inlined: while it is off it costs the function no register that it would
// have to save. Who has it is set with the id and read only where there is one, which GCC cannot see in every program.
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
    if (id_) [[unlikely]] close();
  }
  void hold(OpenSpan span) noexcept {
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

// In the place of a scope whose level is compiled out: nothing is ever opened.
struct [[maybe_unused]] NoScope {};
template <bool kCompiledIn>
using ScopeOf = std::conditional_t<kCompiledIn, SpanScope, NoScope>;

// As for events, one function for each list of types.
template <class... B>
[[gnu::noinline, gnu::visibility("hidden")]] OpenSpan open_bare(Callsite const& callsite, Verdict verdict,
                                                                B... args) noexcept {
  auto const statement = collect(args...);
  if constexpr ((std::is_same_v<B, ParentArgument> || ...)) {
    return dispatch_open_scope_below(callsite, verdict, statement.values, statement.parent);
  } else {
    return dispatch_open_scope(nullptr, callsite.metadata(), verdict, statement.values);
  }
}
template <class... B>
[[gnu::noinline, gnu::visibility("hidden")]] OpenSpan make_bare(Callsite const& callsite, Verdict verdict,
                                                                B... args) noexcept {
  auto const statement = collect(args...);
  return dispatch_new_span(callsite, verdict, statement.values, statement.parent);
}

// What the macros call, with what stands before the fields: level and name, or the level alone.
template <class... A>
constexpr void open_scope(NoScope&, Callsite const&, Verdict, Level, char const*, A const&...) noexcept {}
template <class... A>
constexpr void open_function_scope(NoScope&, Callsite const&, Verdict, Level, A const&...) noexcept {}
template <class... A>
[[gnu::always_inline]] inline void open_scope(SpanScope& scope, Callsite const& callsite, Verdict verdict, Level,
                                              char const*, A const&... args) noexcept {
  scope.hold(open_bare<decltype(bare(args))...>(callsite, verdict, bare(args)...));
}
template <class... A>
[[gnu::always_inline]] inline void open_function_scope(SpanScope& scope, Callsite const& callsite, Verdict verdict,
                                                       Level, A const&... args) noexcept {
  scope.hold(open_bare<decltype(bare(args))...>(callsite, verdict, bare(args)...));
}
template <class... A>
[[gnu::always_inline]] inline Span make_span(Callsite const& callsite, Verdict verdict, Level, char const*,
                                             A const&... args) noexcept {
  return Span(make_bare<decltype(bare(args))...>(callsite, verdict, bare(args)...), callsite.metadata());
}

}  // namespace internal

/// A handle whose span the thread is in; leaves it when it goes. Movable, but to be destroyed on the thread that
/// entered it.
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

  /// Leaves the span and gives the handle back.
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

/// `f`, to be called on another thread inside the span that this thread is in now.
template <class F>
auto with_current_span(F&& f) {
  return [span = Span::current(), f = std::forward<F>(f)]<class... A>(A&&... args) mutable -> decltype(auto) {
    internal::Entered const scope(span.open());
    return f(std::forward<A>(args)...);
  };
}

inline internal::ParentArgument parent(Span const& span) noexcept { return {Parent::below(span.id())}; }

}  // namespace tracing::inline v1
