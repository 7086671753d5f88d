#include "tracing_core/export/chrome.h"

#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>

#include "tracing_core/export/chrome/chrome_output.h"
#include "tracing_core/export/chrome/chrome_record.h"
#include "tracing_core/export/print/line_buffer.h"
#include "tracing_core/support/span_clock.h"

namespace tracing { inline namespace v1 {
namespace {

using internal::ChromeOutput;
using internal::ChromeStream;

// A row in the style async. Viewers identify it by the id and the category, and let an end close the innermost open
// span of the row, so the spans of a row must be nested.
struct AsyncRow {
  std::uint64_t const id;
  std::shared_ptr<std::string const> const category;  // of the root; null: each span's own
  std::atomic<std::uint64_t> innermost;               // the id of the innermost open span of the row
};

// The place of a span in its row. Stored in each span.
struct InAsyncRow {
  std::shared_ptr<AsyncRow> row{};
  std::uint64_t outer = 0;  // the id of the span around it in the row; zero if it began the row
};

class ChromeLayer final : public Layer {
 public:
  ChromeLayer(ChromeOptions const& options, std::shared_ptr<ChromeOutput> output)
      : output_(std::move(output)),
        style_(options.style),
        has_one_row_for_all_(options.as_tracing_chrome),
        are_plain_(output_->records().are_plain()) {}

  Hooks hooks() const noexcept override {
    return Hooks::event |
           (style_ == ChromeStyle::threaded ? Hooks::enter | Hooks::exit : Hooks::new_span | Hooks::close);
  }
  void on_enter(SpanRef span, Context const& context) noexcept override { add_span('B', 0, span, context); }
  void on_exit(SpanRef span, Context const& context) noexcept override { add_span('E', 0, span, context); }

  void on_new_span(SpanRef span, NewSpan const&, Context const& context) noexcept override {
    try {
      add_async('b', *row_of_new(span, context).row, span, context);
    } catch (std::bad_alloc const&) {
      output_->count_dropped(1);
    }
  }
  void on_close(SpanRef span, Context const& context) noexcept override {
    InAsyncRow const* const in = span.extensions().get<InAsyncRow>();
    if (in == nullptr) return;
    add_async('e', *in->row, span, context);
    if (in->outer != 0) in->row->innermost.store(in->outer, std::memory_order_release);
  }

  void on_event(Event const& event, Context const& context) noexcept override {
    if (context.is_restored() || !output_->is_open()) return;
    if (is_plain(event) && is_plain(event.metadata(), context) && add_values(event, context)) return;
    add_text(context, [&](TextBuffer& out, internal::ChromePlace const& place) {
      output_->records().append_event(out, event, place);
    });
  }
  void flush() noexcept override { output_->flush(); }

 private:
  // Finds or makes the row of a new span: the row of its parent, unless another child of the parent is open there.
  // Since children close before their parents, the spans of a row are nested. A span with explicit times gets a row of
  // its own, since it may overlap any span.
  InAsyncRow const& row_of_new(SpanRef span, Context const& context) {
    InAsyncRow in;
    SpanRef const parent = span.parent();
    if (parent) {
      SpanLock const lock = parent.lock();
      if (InAsyncRow const* const above = parent.extensions().get<InAsyncRow>()) in.row = above->row;
    }
    std::uint64_t const id = span.id().value;
    std::uint64_t outer = parent ? parent.id().value : 0;
    bool const is_nested =
        in.row != nullptr && !context.is_dated() && in.row->innermost.compare_exchange_strong(outer, id);
    if (is_nested) {
      in.outer = outer;
    } else if (in.row == nullptr || !has_one_row_for_all_) {
      auto category = in.row != nullptr ? in.row->category : output_->records().category_of_root(span);
      in.row.reset(new AsyncRow{last_id_.fetch_add(1, std::memory_order_relaxed) + 1, std::move(category), id});
    }
    return span.extensions().get_or_add<InAsyncRow>(std::move(in));
  }
  void add_async(char phase, AsyncRow const& row, SpanRef span, Context const& context) const noexcept {
    bool const is_usual = row.category == nullptr || *row.category == span.metadata().target();
    std::string_view const category = row.category == nullptr ? std::string_view() : *row.category;
    add_span(phase, row.id, span, context, is_usual, category);
  }

  // Returns false for callsites made at run time, which may be destroyed before the record is formatted, and for
  // records with an explicit time, which was not read from the fast clock.
  bool is_plain(Metadata const& metadata, Context const& context) const noexcept {
    return are_plain_ && !metadata.parts().owned && !context.is_dated();
  }
  // Returns false for objects, which must be formatted while they exist, and for messages, which have format strings.
  static bool is_plain(Event const& event) noexcept {
    Value const* const values = event.fields.statement_values();
    if (values == nullptr) return false;
    for (std::size_t i = 0; i < event.metadata().parts().value_count; ++i) {
      ValueKind const kind = values[i].kind();
      if (kind == ValueKind::custom || kind == ValueKind::error || kind == ValueKind::message) return false;
    }
    return true;
  }

  void add_span(char phase, std::uint64_t id, SpanRef span, Context const& context, bool is_usual = true,
                std::string_view category = {}) const noexcept {
    if (context.is_restored() || !output_->is_open()) return;
    if (is_usual && is_plain(span.metadata(), context) && add_values(phase, id, span, context)) return;
    add_text(context, [&](TextBuffer& out, internal::ChromePlace const& place) {
      output_->records().append_span(out, phase, id, category, span, place);
    });
  }

  // These copy the values for the writer. They return false and do nothing if own_stream() returns null.
  bool add_values(char phase, std::uint64_t id, SpanRef span, Context const& context) const noexcept {
    ChromeStream* const stream = output_->own_stream(context.track());
    if (stream == nullptr) [[unlikely]]
      return false;
    std::uint64_t const ticks = support::ticks_now();
    SpanLock lock = span.lock();
    StoredValues const& values = span.values();
    bool const is_end = phase == 'E' || phase == 'e';
    std::size_t const begin = !output_->records().include_args() ? values.size_bytes()
                              : is_end                           ? values.first_group_bytes()
                                                                 : 0;
    add_record(*stream, phase, id, &span.metadata(), {values.data() + begin, values.size_bytes() - begin}, ticks, lock);
    return true;
  }
  bool add_values(Event const& event, Context const& context) const noexcept {
    ChromeStream* const stream = output_->own_stream(context.track());
    if (stream == nullptr) [[unlikely]]
      return false;
    std::uint64_t const ticks = support::ticks_now();
    StoredValues values;
    if (values.start(event.fields)) values.keep_payloads();
    SpanLock lock;
    add_record(*stream, 'i', 0, &event.metadata(), {values.data(), values.size_bytes()}, ticks, lock);
    return true;
  }
  // Releases the lock, since commit() may write.
  void add_record(ChromeStream& stream, char phase, std::uint64_t id, Metadata const* metadata, std::string_view groups,
                  std::uint64_t ticks, SpanLock& lock) const noexcept {
    using Record = internal::ChromeValuesRecord;
    std::size_t const bytes = sizeof(Record) + groups.size();
    char* const at = bytes > internal::kMaxChromeRecordBytes ? nullptr : output_->reserve(stream, bytes);
    if (at == nullptr) [[unlikely]]
      return output_->count_dropped(1);
    new (at) Record{
        {static_cast<std::uint32_t>(bytes), internal::ChromeRecordHead::Kind::values, phase, ticks}, metadata, id};
    if (!groups.empty()) std::memcpy(at + sizeof(Record), groups.data(), groups.size());
    if (lock.owns_lock()) lock.unlock();
    output_->commit(stream, bytes, ticks);
  }

  // Adds a record with the text that `append(out, place)` appends.
  template <class F>
  void add_text(Context const& context, F append) const noexcept {
    Track const& track = context.track();
    std::uint64_t const ticks = support::ticks_now();
    ChromeStream* const stream = output_->own_stream(track);
    internal::LineBuffer line;
    if (!line) [[unlikely]]
      return output_->count_dropped(1);
    append(*line, {output_->pid(), stream != nullptr ? stream->tid : output_->tid_of(track)});
    bool const has_time = context.is_dated();
    if (has_time) output_->records().end(*line, output_->time_of(context.time()));
    if (line->truncated()) [[unlikely]]
      return output_->count_dropped(1);
    output_->add_text(stream, track, line->view(), has_time, ticks);
  }

  std::shared_ptr<ChromeOutput> const output_;
  ChromeStyle const style_;
  bool const has_one_row_for_all_;  // all spans below one root share a row
  bool const are_plain_;
  std::atomic<std::uint64_t> last_id_{0};
};

// Creates the file of a trace. If that fails, sets `error` and returns no file.
ChromeOutput::Destination create_trace(std::string path, int error_fd, std::error_code& error) {
  if (path.empty()) path = internal::default_trace_path();
  return {internal::TraceFile::create(std::move(path), error_fd, error), nullptr};
}

}  // namespace

std::pair<std::unique_ptr<Layer>, ChromeGuard> chrome_layer(ChromeOptions options) {
  internal::ChromeProcess process = internal::ChromeProcess::current();
  if (options.as_tracing_chrome) process.pid = 1;
  return internal::chrome_layer_of(std::move(process), std::move(options));
}

std::pair<std::unique_ptr<Layer>, ChromeGuard> internal::chrome_layer_of(ChromeProcess process, ChromeOptions options) {
  std::error_code error;
  ChromeOutput::Destination destination;
  if (options.started) {
    destination.sink = options.sink;
    if (options.sink == nullptr) destination = create_trace(options.path, options.error_fd, error);
  }
  auto const output = ChromeOutput::make(std::move(destination), options, std::move(process), error);
  return {std::make_unique<ChromeLayer>(options, output), ChromeGuard(output)};
}

void internal::add_test_slice(ChromeGuard const& guard, char phase, std::string_view name, Track const& track,
                              Instant time) noexcept {
  if (guard.output_ != nullptr) guard.output_->add_slice(phase, name, track, time);
}

std::error_code internal::start_new_in(ChromeGuard const& guard, int descriptor, std::string path) noexcept {
  ChromeOutput* const output = guard.output_.get();
  try {
    output->start_new({TraceFile::adopt(descriptor, std::move(path), output->error_fd()), nullptr});
    return {};
  } catch (...) {
    close(descriptor);
    return std::make_error_code(std::errc::not_enough_memory);
  }
}

ChromeGuard::ChromeGuard(std::shared_ptr<ChromeOutput> const& output)
    : output_(output.get(), [output](ChromeOutput* own) { own->finish(); }) {}

void ChromeGuard::flush() const noexcept {
  if (output_ != nullptr) output_->flush();
}

std::error_code ChromeGuard::start_new(std::string path) const noexcept {
  if (output_ == nullptr) return {};
  if (output_->is_in_forked_child()) return std::make_error_code(std::errc::operation_not_permitted);
  std::error_code error;
  try {
    ChromeOutput::Destination destination = create_trace(std::move(path), output_->error_fd(), error);
    error ? output_->fail(error) : output_->start_new(std::move(destination));
  } catch (...) {
    error = std::make_error_code(std::errc::not_enough_memory);
  }
  return error;
}

void ChromeGuard::start_new(std::shared_ptr<LineSink> sink) const noexcept {
  if (output_ != nullptr) output_->start_new({nullptr, std::move(sink)});
}

void ChromeGuard::stop() const noexcept {
  if (output_ != nullptr) output_->close();
}

void ChromeGuard::begin_slice(std::string_view name) const noexcept {
  if (output_ != nullptr && output_->is_open()) output_->add_slice('B', name);
}

void ChromeGuard::end_slice(std::string_view name) const noexcept {
  if (output_ != nullptr && output_->is_open()) output_->add_slice('E', name);
}

std::error_code ChromeGuard::error() const noexcept {
  return output_ != nullptr ? output_->error() : std::error_code();
}

std::string ChromeGuard::path() const { return output_ != nullptr ? output_->path() : std::string(); }

bool ChromeGuard::is_behind() const noexcept {
  return output_ != nullptr && !output_->is_in_forked_child() && output_->is_behind();
}

std::uint64_t ChromeGuard::dropped() const noexcept { return output_ != nullptr ? output_->dropped() : 0; }

}}  // namespace tracing::v1
