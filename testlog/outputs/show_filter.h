// ShowFilter: the directives that decide what is shown. They may change while the program runs.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/filter/env_filter.h"
#include "tracing_core/support/mutex.h"

namespace testlog { inline namespace v1 {

/// Forwards to the filter that is set now. A filter is made once for each different text and kept for good. A span
/// stays with the filter under which it was made. Thread-safe.
class ShowFilter final : public tracing::Filter {
 public:
  ShowFilter(std::string_view directives, std::vector<tracing::ParseError>* errors) { set(directives, errors); }

  /// Sets the valid directives and appends the others to `errors`, if not null. Returns true if that changed anything;
  /// the caller must then call tracing::rebuild_interest().
  bool set(std::string_view directives, std::vector<tracing::ParseError>* errors);
  tracing::EnvFilter const& current() const noexcept { return *current_.load(std::memory_order_acquire); }
  /// Returns the text of the filter that is set.
  std::string directives() const;

  /// Called around a fork, so that the child finds the lock free.
  void lock_for_fork() noexcept TRACING_NO_THREAD_SAFETY_ANALYSIS { mutex_.lock(); }
  void unlock_after_fork() noexcept TRACING_NO_THREAD_SAFETY_ANALYSIS { mutex_.unlock(); }

  tracing::Interest callsite_enabled(tracing::Metadata const& metadata) noexcept override;
  bool enabled(tracing::Metadata const& metadata) noexcept override { return now().enabled(metadata); }
  bool enabled_now(tracing::Metadata const& metadata) noexcept override { return now().enabled_now(metadata); }
  tracing::LevelFilter max_level_hint() const noexcept override { return current().max_level_hint(); }
  bool follows_spans() const noexcept override { return true; }
  bool follows_new_spans() const noexcept override { return current().follows_spans(); }
  void on_new_span(tracing::NewSpan const& span, std::uintptr_t& state) noexcept override;
  void on_record(tracing::FieldValues const& values, std::uintptr_t& state) noexcept override;
  void on_enter(std::uintptr_t state) noexcept override;
  void on_exit(std::uintptr_t state) noexcept override;
  void on_close(std::uintptr_t state) noexcept override;

 private:
  tracing::EnvFilter& now() const noexcept { return *current_.load(std::memory_order_acquire); }

  std::atomic<tracing::EnvFilter*> current_{nullptr};
  mutable tracing::support::Mutex mutex_;
  std::map<std::string, std::unique_ptr<tracing::EnvFilter>, std::less<>> filters_ TRACING_GUARDED_BY(mutex_);
};

}}  // namespace testlog::v1
