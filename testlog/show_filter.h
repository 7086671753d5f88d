// Declares ShowFilter, the directives that decide what is shown, which may change while the program runs.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/filter/env_filter.h"

namespace testlog::inline v1 {

/// Asks the filter that is set now. Each text becomes a filter once and is kept, so their number is that of the texts a
/// program uses. Spans stay with the filter under which they were made. Thread-safe.
class ShowFilter final : public tracing::Filter {
 public:
  ShowFilter(std::string_view directives, std::vector<tracing::ParseError>* errors) { set(directives, errors); }

  /// Sets the directives that are right; the others are added to `errors`, where given. True where that changed anything:
  /// tracing::rebuild_interest() is then to be called.
  bool set(std::string_view directives, std::vector<tracing::ParseError>* errors);
  tracing::EnvFilter const& current() const noexcept { return *current_.load(std::memory_order_acquire); }
  /// The text that is set.
  std::string directives() const;

  /// So that the child of a fork finds the lock free.
  void lock_for_fork() { mutex_.lock(); }
  void unlock_after_fork() { mutex_.unlock(); }

  tracing::Interest callsite_enabled(tracing::Metadata const& metadata) noexcept override;
  bool enabled(tracing::Metadata const& metadata) noexcept override { return now().enabled(metadata); }
  bool enabled_now(tracing::Metadata const& metadata) noexcept override { return now().enabled_now(metadata); }
  tracing::LevelFilter max_level_hint() const noexcept override { return current().max_level_hint(); }
  bool follows_spans() const noexcept override { return true; }
  void on_new_span(tracing::NewSpan const& span, std::uintptr_t& state) noexcept override;
  void on_record(tracing::FieldValues const& values, std::uintptr_t& state) noexcept override;
  void on_enter(std::uintptr_t state) noexcept override;
  void on_exit(std::uintptr_t state) noexcept override;
  void on_close(std::uintptr_t state) noexcept override;

 private:
  tracing::EnvFilter& now() const noexcept { return *current_.load(std::memory_order_acquire); }

  std::atomic<tracing::EnvFilter*> current_{nullptr};
  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<tracing::EnvFilter>, std::less<>> filters_;  // guarded by mutex_
};

}  // namespace testlog::inline v1
