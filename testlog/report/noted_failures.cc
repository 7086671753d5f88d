#include "testlog/report/noted_failures.h"

#include <algorithm>
#include <utility>

#include "tracing_core/model/text_escape.h"
#include "tracing_core/support/short_text.h"
#include "tracing_core/support/thread_info.h"

namespace testlog { inline namespace v1 {
namespace {

constexpr std::size_t kMaxBytes = 200;  // of a message; the message of a death test has its expanded macros

// Returns the message on one line, since its first line alone often says nothing: `Expected equality of these values:`
// or `Failed`.
std::string on_one_line(std::string_view message) {
  constexpr std::string_view kFailed = "Failed\n";
  if (message.starts_with(kFailed) && message.size() > kFailed.size()) message.remove_prefix(kFailed.size());
  std::string line;
  while (!message.empty() && line.size() <= kMaxBytes) {
    std::string_view const part = message.substr(0, message.find('\n'));
    message.remove_prefix(std::min(part.size() + 1, message.size()));
    std::string_view const words = tracing::support::trimmed(part, " ");
    if (!words.empty()) line.append(line.empty() ? "" : " ").append(words);
  }
  return line;
}

// Cuts a long message at the end of a character.
void append_message(tracing::TextBuffer& out, std::string_view line) {
  std::size_t end = std::min(line.size(), kMaxBytes);
  while (end > 0 && end < line.size() && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;
  tracing::append_sanitized_in_line(out, line.substr(0, end));
  if (end < line.size()) out.append("...");
}

std::string text_of(framework::Part const& failure) {
  tracing::InlineTextBuffer<512> text;
  if (failure.file != nullptr) {
    tracing::append_sanitized_in_line(text, failure.file);
    text.append(":");
    text.append_int(failure.line);
    text.append(": ");
  }
  append_message(text, on_one_line(failure.message));
  return std::string(text.view());
}

}  // namespace

void NotedFailures::add(framework::Part const& failure, std::string_view path, Owner owner, std::uint64_t ticks) {
  tracing::support::ThreadInfo const& thread = tracing::support::this_thread_info();
  tracing::support::MutexLock const lock(mutex_);
  if (failures_.size() >= kMax) {
    ++more_;
  } else {
    failures_.push_back({ticks, thread.number, std::string(thread.name), std::string(path), text_of(failure), owner});
  }
}

std::vector<NotedFailure> NotedFailures::take() {
  tracing::support::MutexLock const lock(mutex_);
  if (more_ > 0) {
    NotedFailure last = failures_.back();
    last.path.clear();
    last.owner = {};
    last.text = "... and " + std::to_string(more_) + " more failures after this one";
    failures_.push_back(std::move(last));
  }
  more_ = 0;
  return std::exchange(failures_, {});
}

}}  // namespace testlog::v1
