#include "testlog/records.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include "tracing_core/model/text_escape.h"

namespace testlog { inline namespace v1 {
namespace {

std::ostream& print(std::ostream& out, std::vector<Field> const& fields) {
  char const* separator = "";
  for (Field const& field : fields) {
    out << separator << tracing::sanitized_in_line(field.name) << '=' << field.value;
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
  if (!std::holds_alternative<FieldValue::Text>(value.typed_)) return out << tracing::sanitized_in_line(value.text_);
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
    out << tracing::sanitized_in_line(span.name);
    if (!span.fields.empty()) print(out << '{', span.fields) << '}';
    out << ':';
  }
  if (!record.spans.empty()) out << ' ';
  out << tracing::sanitized_in_line(record.target) << ": "
      << tracing::sanitized_in_line(record.is_span ? "span " + record.name : record.message);
  if (!record.fields.empty()) print(out << ' ', record.fields);
  return out;
}

Records Records::since(Mark mark) const {
  auto const first = std::find_if(begin(), end(), [&](Record const& record) { return record.number >= mark.number; });
  Records after = *this;
  after.begin_ = begin_ + static_cast<std::size_t>(first - begin());
  return after;
}

Records::operator std::vector<Record>() const { return {begin(), end()}; }

}}  // namespace testlog::v1
