#include "tracing_core/format/span_prefix.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <new>
#include <utility>

#include "tracing_core/format/format_parts.h"

namespace tracing { inline namespace v1 {

// The numbers of spans below one parent, by name. A number is the place of a flag, counted from one.
class SpanPrefix::Numbers {
 public:
  std::size_t take(std::string_view name) {
    std::vector<bool>& taken = taken_[name];
    auto const free = static_cast<std::size_t>(std::find(taken.begin(), taken.end(), false) - taken.begin());
    if (free == taken.size()) taken.push_back(false);
    taken[free] = true;
    return free + 1;
  }
  void give_back(std::string_view name, std::size_t number) noexcept { taken_.find(name)->second[number - 1] = false; }

 private:
  std::map<std::string_view, std::vector<bool>> taken_;
};

namespace {

// Kept with a span below which spans have numbers.
struct NumbersBelow {
  std::shared_ptr<SpanPrefix::Numbers> numbers = std::make_shared<SpanPrefix::Numbers>();
};

// Kept with a span whose fields were left out.
class LeftOut {
 public:
  LeftOut(std::shared_ptr<SpanPrefix::Numbers> numbers, std::string_view name)
      : numbers_(std::move(numbers)), name_(name), number_(numbers_->take(name)) {}
  LeftOut(LeftOut const&) = delete;
  LeftOut& operator=(LeftOut const&) = delete;
  ~LeftOut() { numbers_->give_back(name_, number_); }

  void append_number(TextBuffer& out) const noexcept {
    if (number_ == 1) return;
    out.push_back('#');
    out.append_uint(number_);
  }

  // StoredValues::changes() when a line had the fields; none had them yet if it is kNever.
  static constexpr std::uint32_t kNever = ~std::uint32_t{0};
  std::uint32_t changes = kNever;

 private:
  std::shared_ptr<SpanPrefix::Numbers> const numbers_;
  std::string_view const name_;
  std::size_t const number_;
};

LeftOut& left_out(SpanRef span, std::shared_ptr<SpanPrefix::Numbers> const& of_roots) {
  if (auto* const known = span.extensions().get<LeftOut>()) return *known;
  SpanRef const parent = span.parent();
  auto const& numbers = parent ? parent.extensions().get_or_add<NumbersBelow>().numbers : of_roots;
  return span.extensions().get_or_add<LeftOut>(numbers, formatting::printed_name(span.metadata()));
}

}  // namespace

SpanPrefix::SpanPrefix() : of_roots_(std::make_shared<Numbers>()) {}
SpanPrefix::~SpanPrefix() = default;

void SpanPrefix::begin_spans(TextBuffer const& out) noexcept {
  spans_begin_ = spans_end_ = out.size();
  fields_.clear();
}

void SpanPrefix::add_fields(TextBuffer const& out, std::size_t begin, SpanRef span) noexcept {
  constexpr std::size_t kBraces = 2;
  if (span.metadata().is_perf()) return;
  std::size_t const width = formatting::visible_characters(out.view().substr(begin));
  if (width <= kField + kBraces) return;
  try {
    fields_.push_back({begin, out.size(), width, span});
  } catch (std::bad_alloc const&) {  // this line has the fields
  }
}

// Keeps in fields_ only fields to leave out, so that spans of this width become short enough. Returns false if there
// are none.
bool SpanPrefix::select(std::size_t width) noexcept {
  std::size_t count = 0;
  for (; count < fields_.size() && width > kSpans; ++count) width -= fields_[count].width;
  fields_.resize(count);
  return count > 0;
}

// Appends a part of the text of the line, with numbers in place of fields.
void SpanPrefix::append_short(TextBuffer& out, std::string_view text, std::size_t begin, std::size_t end) const {
  for (Fields const& fields : fields_) {
    if (fields.end > end) break;
    out.append(text.substr(begin, fields.begin - begin));
    left_out(fields.span, of_roots_).append_number(out);
    begin = fields.end;
  }
  out.append(text.substr(begin, end - begin));
}

void SpanPrefix::shorten(TextBuffer& out, std::size_t begin) const {
  InlineTextBuffer<2048> lines;
  std::string_view const text = out.view();
  for (Fields const& fields : fields_) {
    LeftOut& known = left_out(fields.span, of_roots_);
    std::uint32_t const changes = fields.span.values().changes();
    if (std::exchange(known.changes, changes) == changes) continue;
    lines.append(text.substr(begin, label_end_ - begin));
    lines.append("   in ");
    append_short(lines, text, spans_begin_, fields.begin);
    known.append_number(lines);
    lines.append(text.substr(fields.begin, fields.end - fields.begin));
    lines.push_back('\n');
  }
  append_short(lines, text, begin, text.size());
  out.resize_down(begin);
  out.append(lines.view());
}

void SpanPrefix::end_line(TextBuffer& out, std::size_t begin) noexcept {
  if (fields_.empty()) return;
  std::string_view const spans = out.view().substr(spans_begin_, spans_end_ - spans_begin_);
  try {
    if (select(formatting::visible_characters(spans))) shorten(out, begin);
  } catch (std::bad_alloc const&) {  // this line has all fields
  }
  fields_.clear();
}

}}  // namespace tracing::v1
