#include "tracing_core/collect/span_trace.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <stdexcept>

#include "tracing_core/collect/registry.h"
#include "tracing_core/tracing.h"

namespace span_trace_test {

using tracing::SpanTrace;

TEST(SpanTrace, PrintsAsTracingErrorDoes) {
  SpanTrace trace;
  int line = 0;
  tracing::with_default(tracing::RegistryBuilder().build(), [&] {
    line = __LINE__ + 1;
    TRACE_SPAN(info, "outer", tracing::target("a::b"));
    auto inner =
        TRACE_MAKE_SPAN(info, "inner", tracing::target("c"), tracing::kv("n", 1), tracing::kv("late", tracing::empty));
    inner.in_scope([&] {
      inner.record(tracing::kv("late", "text"));
      trace = SpanTrace::capture();
    });
  });
  std::string const file = __FILE__;
  EXPECT_EQ(trace.status(), SpanTrace::Status::captured);
  EXPECT_EQ(trace.size(), 2U);
  EXPECT_EQ(trace.to_string(), "   0: c::inner\n           with n=1 late=\"text\"\n             at " + file + ":" +
                                   std::to_string(line + 2) + "\n   1: a::b::outer\n             at " + file + ":" +
                                   std::to_string(line));
}

TEST(SpanTrace, ReportsWhyItIsEmpty) {
  tracing::with_default(nullptr, [] { EXPECT_EQ(SpanTrace::capture().status(), SpanTrace::Status::unsupported); });
  tracing::with_default(tracing::RegistryBuilder().build(), [] {
    EXPECT_EQ(SpanTrace::capture().status(), SpanTrace::Status::empty);
    EXPECT_EQ(SpanTrace::capture().to_string(), "");
  });
}

TEST(SpanTrace, IsCarriedByAnException) {
  tracing::with_default(tracing::RegistryBuilder().build(), [] {
    try {
      TRACE_SPAN(info, "failing");
      tracing::throw_with_span_trace(std::runtime_error("failed"));
    } catch (std::runtime_error const& e) {
      EXPECT_STREQ(e.what(), "failed");
      EXPECT_NE(tracing::span_trace_of(e).to_string().find("failing"), std::string::npos);
      EXPECT_EQ(tracing::span_trace_of(std::current_exception()).size(), 1U);
      try {
        std::throw_with_nested(std::logic_error("outside"));
      } catch (std::exception const& outside) {
        EXPECT_EQ(tracing::span_trace_of(outside).size(), 1U) << "the nested one's";
      }
    }
    EXPECT_EQ(tracing::span_trace_of(std::runtime_error("plain")).status(), SpanTrace::Status::empty);
  });
}

TEST(TracedError, IsTheErrorAndCarriesTheSpansItWasCreatedIn) {
  struct Refused : std::runtime_error {
    Refused(char const* what, int its_code) : std::runtime_error(what), code(its_code) {}
    int code;
  };
  tracing::with_default(tracing::RegistryBuilder().build(), [] {
    std::optional<tracing::TracedError<Refused>> error;
    {
      TRACE_SPAN(info, "connecting", tracing::kv("port", 80));
      error.emplace(Refused("refused", 111));
    }
    EXPECT_EQ(error->code, 111);
    EXPECT_STREQ(error->what(), "refused");
    TRACE_SPAN(info, "afterwards");
    tracing::TracedError<Refused> const copy = *error;
    for (std::exception const& as_any : {std::cref<std::exception>(*error), std::cref<std::exception>(copy)}) {
      tracing::SpanTrace const trace = tracing::span_trace_of(as_any);
      EXPECT_EQ(trace.size(), 1U) << "of its construction, not of its copy or of this query";
      EXPECT_NE(trace.to_string().find("connecting\n           with port=80"), std::string::npos) << trace.to_string();
    }
    try {
      throw copy;
    } catch (Refused const& caught) {
      EXPECT_EQ(caught.code, 111);
      EXPECT_EQ(tracing::span_trace_of(caught).size(), 1U);
    }
  });
}

}  // namespace span_trace_test
