// For tests of coroutines: a task, an awaiter that waits to be resumed, and a fixture that collects events.
#pragma once

#include <gtest/gtest.h>

#include <coroutine>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/emit/coroutine.h"
#include "tracing_core/tracing.h"

namespace coroutine_test {

using Lines = std::vector<std::string>;

// Collects each event with its spans, "a/b: message", and each span that closes, "close b".
class Journal final : public tracing::Layer {
 public:
  explicit Journal(Lines& lines) : lines_(lines) {}
  tracing::Hooks hooks() const noexcept override { return tracing::Hooks::event | tracing::Hooks::close; }
  void on_event(tracing::Event const& event, tracing::Context const& context) noexcept override {
    tracing::InlineTextBuffer<256> message;
    append_message(message, event.fields.value(0));
    add(path_of(context.event_span(event)) + ": " + std::string(message.view()));
  }
  void on_close(tracing::SpanRef span, tracing::Context const&) noexcept override {
    add("close " + std::string(span.metadata().name()));
  }

 private:
  static std::string path_of(tracing::SpanRef span) {
    std::string path;
    for (; span; span = span.parent()) path = std::string(span.metadata().name()) + (path.empty() ? "" : "/" + path);
    return path;
  }
  void add(std::string line) {
    std::lock_guard const lock(mutex_);
    lines_.push_back(std::move(line));
  }
  std::mutex mutex_;
  Lines& lines_;
};

class TracedPromise : public testing::Test {
 protected:
  Lines take() { return std::exchange(lines_, {}); }

  Lines lines_;
  std::shared_ptr<tracing::Registry> registry_ =
      tracing::RegistryBuilder().with(std::make_unique<Journal>(lines_)).build();
  tracing::ScopedDefault scope_{registry_};
};

// A task that starts when it is awaited and resumes its awaiter by symmetric transfer.
template <class T>
class Task {
 public:
  struct Promise;
  using promise_type = tracing::traced_promise<Promise>;
  struct Promise {
    struct Final {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept {
        return h.promise().continuation;
      }
      void await_resume() noexcept {}
    };
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(static_cast<promise_type&>(*this)));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    Final final_suspend() noexcept { return {}; }
    void return_value(T x) { value = std::move(x); }
    void unhandled_exception() { error = std::current_exception(); }

    std::coroutine_handle<> continuation = std::noop_coroutine();
    std::optional<T> value;
    std::exception_ptr error;
  };

  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&&) = delete;
  ~Task() { destroy(); }

  std::coroutine_handle<promise_type> handle() const { return handle_; }
  void start() { handle_.resume(); }
  bool done() const { return handle_.done(); }
  T result() { return Awaiter{handle_}.await_resume(); }
  void destroy() {
    if (handle_) std::exchange(handle_, {}).destroy();
  }

  struct Awaiter {
    std::coroutine_handle<promise_type> handle;
    bool await_ready() noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) noexcept {
      handle.promise().continuation = awaiting;
      return handle;
    }
    T await_resume() {
      if (handle.promise().error) std::rethrow_exception(handle.promise().error);
      return std::move(*handle.promise().value);
    }
  };
  Awaiter operator co_await() && noexcept { return Awaiter{handle_}; }

 private:
  std::coroutine_handle<promise_type> handle_;
};

// Suspends and stores the handle with which to resume.
struct Pause {
  std::coroutine_handle<>* suspended;
  bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) noexcept { *suspended = h; }
  int await_resume() noexcept { return 7; }
};

inline std::string current() {
  tracing::Span const span = tracing::Span::current();
  return span ? std::string(span.metadata()->name()) : "none";
}

}  // namespace coroutine_test
