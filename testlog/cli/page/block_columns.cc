#include "testlog/cli/page/block_columns.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "testlog/why/json_members.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/model/text_escape.h"

namespace testlog::cli::page {
namespace {

class Column {
 public:
  void add(std::uint64_t number) {
    for (; number >= 128; number >>= 7) bytes_ += static_cast<char>(number | 128);
    bytes_ += static_cast<char>(number);
  }
  void add_difference(std::int64_t to) {
    auto const difference =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(last_));
    add(static_cast<std::uint64_t>(difference) << 1 ^ static_cast<std::uint64_t>(difference >> 63));
    last_ = to;
  }
  std::string const& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
  std::int64_t last_ = 0;
};

void append_size(std::string& out, std::size_t size) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(size >> shift);
}

// Numbers the things of the recording that a block has, in the order in which they are asked for.
class Numbers {
 public:
  std::uint32_t operator[](std::uint32_t index) {
    auto const [at, is_new] = numbers_.try_emplace(index, static_cast<std::uint32_t>(chosen_.size()));
    if (is_new) chosen_.push_back(index);
    return at->second;
  }
  std::vector<std::uint32_t> const& chosen() const noexcept { return chosen_; }

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> numbers_;
  std::vector<std::uint32_t> chosen_;
};

void append_site(tracing::TextBuffer& out, tracing::Metadata const& metadata) {
  out.append("{\"level\":");
  out.append_uint(static_cast<std::uint64_t>(metadata.level()));
  out.append(metadata.is_span() ? ",\"span\":true" : ",\"span\":false");
  why::append_member(out, "target", metadata.target());
  why::append_member(out, "name", metadata.name());
  why::append_member(out, "file", metadata.file());
  why::append_number(out, "line", metadata.line());
  out.append(",\"fields\":[");  // null: the message
  auto const& parts = metadata.parts();
  for (std::size_t i = 0; i < parts.field_count; ++i) {
    if (i > 0) out.push_back(',');
    parts.fields[i].value_index == tracing::internal::kMessageValue
        ? out.append("null")
        : tracing::append_json_string(out, metadata.fields()[i]);
  }
  out.append("],\"message\":[");  // between its placeholders
  std::string_view const literal = tracing::internal::message_literal(parts);
  std::size_t done = 0;
  for (std::size_t i = 0; i < parts.placeholder_count; ++i) {
    tracing::append_json_string(out, literal.substr(done, parts.placeholders[i].offset - done));
    out.push_back(',');
    done = parts.placeholders[i].offset;
  }
  tracing::append_json_string(out, literal.substr(done));
  out.append("]}");
}

}  // namespace

std::string json_of_site(tracing::Metadata const& metadata) {
  tracing::InlineTextBuffer<512> out;
  append_site(out, metadata);
  return std::string(out.view());
}

namespace {

class BlockMaker {
 public:
  explicit BlockMaker(PageRecords const& records) : records_(records) { (void)texts_[0]; }

  Block make(std::uint32_t tag, std::size_t max_lines) {
    choose_lines(tag, max_lines);
    choose_spans(tag);
    start_ns_ = first_time();
    add_spans();
    add_lines();
    Block block{.lines = lines_.size(), .spans = spans_.size(), .left_out = left_out_};
    for (std::uint32_t const site : sites_.chosen()) block.sites.push_back(records_.sites[site].metadata);
    std::string const json = head();
    append_size(block.bytes, json.size());
    block.bytes += json;
    for (Column const* const column : {&begin_, &duration_, &span_track_, &parent_, &cause_, &span_site_, &first_line_,
                                       &time_, &track_, &span_, &site_, &kind_, &label_, &context_, &text_, &values_}) {
      append_size(block.bytes, column->bytes().size());
      block.bytes += column->bytes();
    }
    return block;
  }

 private:
  void choose_lines(std::uint32_t tag, std::size_t max_lines) {
    for (PageLine const& line : records_.lines)
      if (line.tag == tag) lines_.push_back(&line);
    if (lines_.size() <= max_lines) return;
    left_out_ = lines_.size() - max_lines;
    auto const middle = lines_.begin() + static_cast<std::ptrdiff_t>(max_lines / 2);
    cut_ = max_lines / 2;
    lines_.erase(middle, middle + static_cast<std::ptrdiff_t>(left_out_));
  }
  // The spans of the test, or if lines are left out of the lines that stay, and the spans around them.
  void choose_spans(std::uint32_t tag) {
    std::vector<bool> is_chosen(records_.spans.size(), false);
    if (left_out_ == 0)
      for (std::size_t i = 1; i < records_.spans.size(); ++i) is_chosen[i] = records_.spans[i].tag == tag;
    for (PageLine const* const line : lines_) is_chosen[line->span] = true;
    for (std::size_t i = records_.spans.size(); i-- > 1;)
      if (is_chosen[i]) is_chosen[records_.spans[i].parent] = true;
    number_of_span_.assign(records_.spans.size(), 0);
    for (std::uint32_t i = 1; i < records_.spans.size(); ++i) {
      if (!is_chosen[i]) continue;
      spans_.push_back(&records_.spans[i]);
      number_of_span_[i] = static_cast<std::uint32_t>(spans_.size());
    }
  }
  std::int64_t first_time() const {
    std::int64_t first = lines_.empty() ? INT64_MAX : lines_.front()->time_ns;
    for (PageSpan const* const span : spans_) first = std::min(first, span->begin_ns);
    return first == INT64_MAX ? 0 : first;
  }
  std::int64_t last_time() const {
    std::int64_t last = start_ns_;
    // The end of a test is not of interest here: it comes after the failure's report was printed.
    for (PageLine const* const line : lines_)
      if (line->kind != LineKind::headline) last = std::max(last, line->time_ns);
    for (PageSpan const* const span : spans_) last = std::max({last, span->begin_ns, span->end_ns});
    return last;
  }
  std::int64_t since_start(std::int64_t time_ns) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(time_ns) - static_cast<std::uint64_t>(start_ns_));
  }

  void add_spans() {
    for (PageSpan const* const span : spans_) {
      begin_.add_difference(since_start(span->begin_ns));
      duration_.add(span->end_ns < span->begin_ns ? 0 : static_cast<std::uint64_t>(span->end_ns - span->begin_ns) + 1);
      span_track_.add(tracks_[span->track]);
      std::uint32_t const parent = number_of_span_[span->parent];
      parent_.add(parent == 0 ? 0 : number_of_span_[index_of(*span)] - parent);
      cause_.add(span->cause == 0 ? 0 : number_of_span_[span->cause]);
      span_site_.add(site_number(span->site));
      first_line_.add(lines_before(span->first_line));
      add_values(span->site, span->first_value);
    }
  }
  void add_lines() {
    for (PageLine const* const line : lines_) {
      time_.add_difference(since_start(line->time_ns));
      track_.add(tracks_[line->track]);
      span_.add(number_of_span_[line->span]);
      site_.add(site_number(line->site));
      kind_.add(static_cast<std::uint64_t>(line->kind));
      label_.add(texts_[line->label]);
      context_.add(line->context == 0 ? 0 : texts_[line->context - 1] + 1);
      text_.add(line->text == 0 ? 0 : texts_[line->text - 1] + 1);
      if (line->site != 0) add_values(line->site, line->first_value);
    }
  }
  // Returns how many lines of the block precede a line of the recording.
  std::size_t lines_before(std::size_t line) const {
    PageLine const* const at = records_.lines.data() + line;
    return static_cast<std::size_t>(std::lower_bound(lines_.begin(), lines_.end(), at) - lines_.begin());
  }
  std::uint32_t site_number(std::uint32_t site) { return site == 0 ? 0 : sites_[site] + 1; }
  std::uint32_t index_of(PageSpan const& span) const {
    return static_cast<std::uint32_t>(&span - records_.spans.data());
  }
  void add_values(std::uint32_t site, std::size_t first) {
    for (std::size_t i = first; i < first + records_.sites[site].value_count; ++i) {
      std::uint64_t const value = records_.values[i];
      bool const is_text = value % 8 >= static_cast<std::uint64_t>(ValueType::text);
      values_.add(is_text ? texts_[static_cast<std::uint32_t>(value / 8)] * std::uint64_t{8} + value % 8 : value);
    }
  }

  std::string head() const {
    tracing::InlineTextBuffer<4096> out;
    out.append("{\"start\":[");  // seconds and nanoseconds
    constexpr std::int64_t kSecond = 1'000'000'000;
    std::int64_t const ns = ((start_ns_ % kSecond) + kSecond) % kSecond;
    out.append_int((start_ns_ - ns) / kSecond);
    out.push_back(',');
    out.append_int(ns);
    out.append("],\"end\":");
    out.append_int(since_start(last_time()));
    out.append(",\"origin\":");
    out.append_int(lines_.empty() ? 0 : since_start(lines_.front()->time_ns));
    why::append_number(out, "spans", spans_.size());
    why::append_number(out, "lines", lines_.size());
    why::append_number(out, "cut", cut_);
    why::append_number(out, "left_out", left_out_);
    out.append(",\"tracks\":[");
    for (std::uint32_t const track : tracks_.chosen()) {
      out.append(out.view().ends_with('[') ? "{" : ",{");
      why::append_member(out, "name", records_.tracks[track].name);
      out.append(records_.tracks[track].is_foreign ? ",\"foreign\":true}" : ",\"foreign\":false}");
    }
    out.append("],\"sites\":[");
    for (std::uint32_t const site : sites_.chosen()) {
      if (!out.view().ends_with('[')) out.push_back(',');
      append_site(out, *records_.sites[site].metadata);
    }
    out.append("],\"texts\":[");
    for (std::uint32_t const text : texts_.chosen()) {
      if (!out.view().ends_with('[')) out.push_back(',');
      tracing::append_json_string(out, records_.texts[text]);
    }
    out.append("]}");
    return std::string(out.view());
  }

  PageRecords const& records_;
  std::vector<PageLine const*> lines_;
  std::vector<PageSpan const*> spans_;
  std::vector<std::uint32_t> number_of_span_;  // from 1; 0: not chosen
  std::size_t left_out_ = 0, cut_ = 0;
  std::int64_t start_ns_ = 0;
  Numbers tracks_, sites_, texts_;
  Column begin_, duration_, span_track_, parent_, cause_, span_site_, first_line_, time_, track_, span_, site_, kind_,
      label_, context_, text_, values_;
};

}  // namespace

Block make_block(PageRecords const& records, std::uint32_t tag, std::size_t max_lines) {
  return BlockMaker(records).make(tag, max_lines);
}

}  // namespace testlog::cli::page
