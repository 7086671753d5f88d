#include "testlog/records.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <utility>

#include "testlog/record_of.h"
#include "testlog/session.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/model/text_escape.h"

namespace testlog::inline v1 {
namespace {

// What cannot be printed is escaped, as in lines of records.
std::string printable(std::string_view text) {
  tracing::InlineTextBuffer<256> out;
  tracing::append_sanitized_in_line(out, text);
  return std::string(out.view());
}

std::ostream& print(std::ostream& out, std::vector<Field> const& fields) {
  char const* separator = "";
  for (Field const& field : fields) {
    out << separator << printable(field.name) << '=' << field.value;
    separator = " ";
  }
  return out;
}

}  // namespace

FieldValue FieldValue::printed(std::string text) {
  FieldValue value;
  value.text_ = std::move(text);
  return value;
}

FieldValue FieldValue::number(double x, std::string text) {
  FieldValue value(x);
  value.text_ = std::move(text);
  return value;
}

bool FieldValue::is_number() const noexcept { return typed_.index() >= 2 && typed_.index() <= 4; }

std::partial_ordering operator<=>(FieldValue const& a, FieldValue const& b) noexcept {
  if (a.is_number() && b.is_number()) {
    return std::visit(
        []<class A, class B>(A const& x, B const& y) -> std::partial_ordering {
          if constexpr (std::integral<A> && std::integral<B> && !std::same_as<A, bool> && !std::same_as<B, bool>) {
            if (std::cmp_less(x, y)) return std::partial_ordering::less;
            return std::cmp_equal(x, y) ? std::partial_ordering::equivalent : std::partial_ordering::greater;
          } else if constexpr (std::is_arithmetic_v<A> && std::is_arithmetic_v<B>) {
            return static_cast<double>(x) <=> static_cast<double>(y);
          } else {
            return std::partial_ordering::unordered;
          }
        },
        a.typed_, b.typed_);
  }
  if (a.is_number() != b.is_number() && a.typed_.index() != 0 && b.typed_.index() != 0)
    return std::partial_ordering::unordered;
  return a.text_ <=> b.text_;
}

bool operator==(FieldValue const& a, FieldValue const& b) noexcept { return (a <=> b) == 0; }

std::ostream& operator<<(std::ostream& out, FieldValue const& value) {
  if (!std::holds_alternative<std::string>(value.typed_)) return out << printable(value.text_);
  tracing::InlineTextBuffer<256> quoted;
  tracing::append_quoted(quoted, value.text_);
  return out << quoted.view();
}

FieldValue const* Record::field(std::string_view field_name) const noexcept {
  for (auto found = fields.rbegin(); found != fields.rend(); ++found) {
    if (found->name == field_name) return &found->value;
  }
  return nullptr;
}

std::ostream& operator<<(std::ostream& out, Record const& record) {
  out << tracing::name(record.level) << ' ';
  for (SpanInfo const& span : record.spans) {
    out << printable(span.name);
    if (!span.fields.empty()) print(out << '{', span.fields) << '}';
    out << ':';
  }
  if (!record.spans.empty()) out << ' ';
  out << printable(record.target) << ": " << printable(record.is_span ? "span " + record.name : record.message);
  if (!record.fields.empty()) print(out << ' ', record.fields);
  return out;
}

Mark mark() noexcept {
  Session* const session = Session::get();
  return {session == nullptr ? 0 : session->capture().now()};
}

Records Records::since(Mark mark) const {
  auto const first = std::find_if(begin(), end(), [&](Record const& record) { return record.number >= mark.number; });
  return Records(first, end());
}

Records records(char const* file, int line) {
  Records all;
  Session* const session = Session::get();
  if (session == nullptr) return all;
  Capture const& capture = session->capture();
  if (std::string const why = capture.why_incomplete(); !why.empty())
    ADD_FAILURE_AT(file, line) << "testlog::records() does not have all records of the test: " << why << ".";
  auto const recording = capture.read(capture.begin_of_test());
  if (recording == nullptr) return all;
  Attribution const& attribution = session->attribution();
  tracing::internal::RecordedSpans spans;
  recording->for_each([&](tracing::internal::RecordEntry const& entry) {
    using tracing::internal::RecordType;
    spans.follow(entry);
    bool const is_record = entry.type == RecordType::event || entry.type == RecordType::new_span ||
                           entry.type == RecordType::scope_begin;
    if (!is_record || entry.ticks < capture.begin_of_test()) return;
    Owner const owner = attribution.owner_of(entry, spans.current());
    if (!owner.late && owner.test == attribution.running()) all.push_back(record_of(entry, spans.current()));
  });
  return all;
}

void serve_all_tests() {
  if (Session* const session = Session::get()) session->attribution().serve_all_tests();
}

bool set_filter(std::string_view directives) {
  Session* const session = Session::get();
  return session == nullptr || session->live().set_filter(directives);
}

ScopedFilter::ScopedFilter(std::string_view directives)
    : before_(Session::get() == nullptr ? std::string() : Session::get()->live().filter().directives()) {
  set_filter(directives);
}

ScopedFilter::~ScopedFilter() {
  Session* const session = Session::get();
  if (session != nullptr && session->live().filter().set(before_, nullptr)) tracing::rebuild_interest();
}

}  // namespace testlog::inline v1
