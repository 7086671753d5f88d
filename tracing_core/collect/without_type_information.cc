// Compiled with -fno-rtti: what a consumer may hand to a library that has type information.
#include "tracing_core/collect/without_type_information.h"

namespace span_trace_test {
namespace {

class Failure final : public std::exception {};

class Deaf final : public tracing::Subscriber {
 public:
  tracing::Registration register_callsite(tracing::Metadata const&) noexcept override { return {}; }
  tracing::Verdict enabled(tracing::Metadata const&) noexcept override { return 0; }
  tracing::SpanId new_span(tracing::NewSpan const&) noexcept override { return {}; }
  void record(tracing::SpanId, tracing::FieldValues const&) noexcept override {}
  void follows_from(tracing::SpanId, tracing::SpanId) noexcept override {}
  void event(tracing::Event const&) noexcept override {}
  void enter(tracing::SpanId, tracing::Origin const&) noexcept override {}
  void exit(tracing::SpanId, tracing::Origin const&) noexcept override {}
  void add_reference(tracing::SpanId) noexcept override {}
  void drop_reference(tracing::SpanId, tracing::Origin const&) noexcept override {}
};

}  // namespace

std::exception const& error_without_type_information() {
  static Failure const failure;
  return failure;
}

std::shared_ptr<tracing::Subscriber> subscriber_without_type_information() { return std::make_shared<Deaf>(); }

}  // namespace span_trace_test
