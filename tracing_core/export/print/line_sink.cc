#include "tracing_core/export/line_sink.h"

#include <spdlog/details/log_msg.h>
#include <spdlog/formatter.h>

#include "tracing_core/export/spdlog_calls.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/support/mutex.h"

namespace tracing { inline namespace v1 {

// Formats messages of spdlog loggers. Our own lines are not formatted here.
struct LineSink::Formatting {
  support::Mutex mutex;
  std::unique_ptr<spdlog::formatter> formatter TRACING_GUARDED_BY(mutex);
};

LineSink::LineSink() : formatting_(std::make_unique<Formatting>()) {}
LineSink::~LineSink() = default;

void LineSink::log(spdlog::details::log_msg const& message) {
  Level const level = from_spdlog(message.level);
  spdlog::memory_buf_t formatted;
  {
    support::MutexLock const lock(formatting_->mutex);
    if (formatting_->formatter != nullptr) formatting_->formatter->format(message, formatted);
  }
  if (formatted.size() > 0) return write(level, {formatted.data(), formatted.size()});
  InlineTextBuffer<512> line;
  line.append({message.payload.data(), message.payload.size()});
  if (line.empty() || line.view().back() != '\n') line.push_back('\n');
  write(level, line.view());
}

void LineSink::set_pattern(std::string const& pattern) { set_formatter(internal::make_pattern_formatter(pattern)); }

void LineSink::set_formatter(std::unique_ptr<spdlog::formatter> formatter) {
  support::MutexLock const lock(formatting_->mutex);
  formatting_->formatter = std::move(formatter);
}

}}  // namespace tracing::v1
