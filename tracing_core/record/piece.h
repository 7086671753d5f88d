// Piece: what is known of some successive entries of a recording before they are read.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "tracing_core/model/field_values.h"
#include "tracing_core/model/instant.h"
#include "tracing_core/model/metadata.h"
#include "tracing_core/record/recording.h"

namespace tracing { inline namespace v1 { namespace recording {

struct RecordedChunk;

/// The entries of a chunk: up to 16 KiB of one track. An answer `true` may be wrong, an answer `false` is not. Valid
/// during the call that it was passed to.
class Piece {
 public:
  /// `buffer` is for what has_span() reads.
  Piece(RecordingState const& recording, RecordedChunk const& chunk, std::vector<std::uint64_t>& buffer) noexcept
      : recording_(recording), chunk_(chunk), buffer_(buffer) {}

  /// No entry is earlier than first() or later than last().
  Instant first() const noexcept;
  Instant last() const noexcept;

  /// True if `f(Thread const&)` is true for the thread of some entry.
  template <class F>
  bool has_thread(F&& f) const {
    Thread thread;
    return !has_one_thread(thread) || f(thread);
  }
  /// True if `f(std::uint32_t tag)` is true for the tag of some entry.
  template <class F>
  bool has_tag(F&& f) const {
    return any_tag(call<F, std::uint32_t>, address_of(f));
  }
  /// True if `f(Metadata const&)` is true for the callsite of some event or of some span that an entry is in. Fast.
  template <class F>
  bool has_callsite(F&& f) const {
    return any_callsite(call<F, Metadata const&>, address_of(f));
  }
  /// For spans that begin in the piece or are open at its beginning, and for whose callsites `is_wanted(Metadata
  /// const&)` is true: true if `f(FieldValues const&)` is true for the values of such a span. Reads the piece.
  template <class C, class F>
  bool has_span(C&& is_wanted, F&& f) const {
    return any_span(call<C, Metadata const&>, address_of(is_wanted), call<F, FieldValues const&>, address_of(f));
  }

 private:
  template <class A>
  using Test = bool (*)(void* context, A argument);
  template <class F, class A>
  static bool call(void* context, A argument) {
    return (*static_cast<std::remove_reference_t<F>*>(context))(argument);
  }
  template <class F>
  static void* address_of(F& f) noexcept {
    return const_cast<void*>(static_cast<void const*>(&f));
  }

  bool has_one_thread(Thread& thread) const;
  bool any_tag(Test<std::uint32_t> f, void* context) const;
  bool any_callsite(Test<Metadata const&> f, void* context) const;
  bool any_span(Test<Metadata const&> is_wanted, void* wanted_context, Test<FieldValues const&> f, void* context) const;

  RecordingState const& recording_;
  RecordedChunk const& chunk_;
  std::vector<std::uint64_t>& buffer_;
};

}}}  // namespace tracing::v1::recording
