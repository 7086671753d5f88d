#include "tracing_core/collect/span_trace.h"

#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/model/text_escape.h"

namespace tracing { inline namespace v1 {

struct SpanTrace::Content {
  struct Entry {
    Metadata const* metadata = nullptr;
    StoredValues values;

    explicit Entry(SpanRef span) noexcept : metadata(&span.metadata()) {
      retain(*metadata);
      auto const lock = span.lock();
      values.copy_from(span.values());
    }
    Entry(Entry const&) = delete;
    Entry& operator=(Entry const&) = delete;
    ~Entry() { release(*metadata); }
  };
  std::vector<std::unique_ptr<Entry>> entries;  // innermost first
};

SpanTrace SpanTrace::capture() noexcept {
  SpanTrace result;
  Subscriber* const subscriber = current_subscriber();
  Registry* const registry = subscriber == nullptr ? nullptr : subscriber->as_registry();
  if (registry == nullptr) {
    result.status_ = Status::unsupported;
    return result;
  }
  try {
    auto content = std::make_shared<Content>();
    registry->visit_current_spans(
        [](void* context, SpanRef span) {
          auto& entries = static_cast<Content*>(context)->entries;
          entries.push_back(std::make_unique<Content::Entry>(span));
        },
        content.get());
    if (content->entries.empty()) return result;
    result.content_ = std::move(content);
    result.status_ = Status::captured;
  } catch (...) {  // out of memory
  }
  return result;
}

std::size_t SpanTrace::size() const noexcept { return content_ == nullptr ? 0 : content_->entries.size(); }

void SpanTrace::visit(void (*each)(void* context, Metadata const& metadata, StoredValues const& values),
                      void* context) const {
  if (content_ == nullptr) return;
  for (auto const& entry : content_->entries) each(context, *entry->metadata, entry->values);
}

namespace {

void append_fields(TextBuffer& out, Metadata const& metadata, StoredValues const& stored) {
  std::string_view before = "\n           with ";
  stored.for_each_last_group(metadata, [&](FieldValues const& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      Value const value = values.value(i);
      if (value.is_empty()) continue;
      out.append(before);
      out.append(values.name(i));
      out.push_back('=');
      append_debug(out, value);
      before = " ";
    }
  });
}

}  // namespace

std::string SpanTrace::to_string() const {
  InlineTextBuffer<512> out;
  std::size_t number = 0;
  for_each([&](Metadata const& metadata, StoredValues const& values) {
    if (number > 0) out.push_back('\n');
    std::string const index = std::to_string(number++);
    for (std::size_t i = index.size(); i < 4; ++i) out.push_back(' ');
    out.append(index);
    out.append(": ");
    append_sanitized_in_line(out, metadata.target());
    out.append("::");
    append_sanitized_in_line(out, metadata.name());
    append_fields(out, metadata, values);
    if (metadata.file().empty()) return;
    out.append("\n             at ");
    out.append(metadata.file());
    out.push_back(':');
    out.append(std::to_string(metadata.line()));
  });
  return std::string(out.view());
}

WithSpanTrace::~WithSpanTrace() = default;

SpanTrace span_trace_of(std::exception const& error) noexcept {
  if (auto const* const traced = dynamic_cast<WithSpanTrace const*>(&error)) return traced->span_trace();
  auto const* const nested = dynamic_cast<std::nested_exception const*>(&error);
  return nested == nullptr ? SpanTrace() : span_trace_of(nested->nested_ptr());
}

SpanTrace span_trace_of(std::exception_ptr const& error) noexcept {
  if (error == nullptr) return {};
  try {
    std::rethrow_exception(error);
  } catch (WithSpanTrace const& traced) {
    return traced.span_trace();
  } catch (std::exception const& e) {
    return span_trace_of(e);
  } catch (...) {
    return {};
  }
}

}}  // namespace tracing::v1
