// Coroutines: with traced_promise, a coroutine keeps its spans on any thread that resumes it.
#include <chrono>
#include <coroutine>
#include <cstdlib>
#include <thread>
#include <utility>

#include <tracing_core/dispatch/thread_name.h>
#include <tracing_core/emit/coroutine.h>
#include <tracing_core/tracing.h>

#include "collect.h"

namespace loader {

// An ordinary coroutine task, except for the line with traced_promise.
class Task {
 public:
  struct Promise {
    Task get_return_object();
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct ResumeAwaiting {
        std::coroutine_handle<> continuation;
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<>) noexcept { return continuation; }
        void await_resume() noexcept {}
      };
      return ResumeAwaiting{continuation};
    }
    void return_value(int x) noexcept { value = x; }
    void unhandled_exception() { std::abort(); }

    std::coroutine_handle<> continuation = std::noop_coroutine();
    int value = 0;
  };
  using promise_type = tracing::traced_promise<Promise>;

  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  std::coroutine_handle<promise_type> handle() const { return handle_; }  // needed by tracing::instrument()

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) noexcept {
    handle_.promise().continuation = awaiting;
    return handle_;
  }
  int await_resume() const noexcept { return handle_.promise().value; }

 private:
  std::coroutine_handle<promise_type> handle_;
};

Task Task::Promise::get_return_object() {
  return Task(std::coroutine_handle<promise_type>::from_promise(static_cast<promise_type&>(*this)));
}

// Resumes the awaiting coroutine on a new thread.
struct OnThread {
  std::thread& thread;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> coroutine) const {
    std::thread& started = thread;  // the coroutine may end and destroy this awaiter before the assignment below
    started = std::thread([coroutine] {
      tracing::set_thread_name("disk");
      examples::work_for(std::chrono::milliseconds(1));
      coroutine.resume();
    });
  }
  void await_resume() const noexcept {}
};

Task read(std::thread& disk, int block) {
  TRACE_FN(info, block);
  TRACE_INFO("asking the disk");
  co_await OnThread{disk};
  TRACE_INFO("read");
  co_return 4096;
}

Task load(std::thread& disk) {
  TRACE_SPAN(info, "load");
  int const bytes = co_await read(disk, 7);
  TRACE_INFO("loaded {} bytes", bytes);
  co_return bytes;
}

}  // namespace loader

int main(int argc, char** argv) {
  auto [chrome, chrome_guard] = examples::trace_if_asked(argc, argv);
  auto const tracing_guard =
      examples::init({.threads = tracing::ThreadLabels::on}, tracing::RegistryBuilder().with(std::move(chrome)));
  int const id = 1;
  std::thread disk;
  loader::Task const task = tracing::instrument(TRACE_MAKE_SPAN(info, "request", id), loader::load(disk));
  task.handle().resume();
  disk.join();
  examples::work_for(std::chrono::milliseconds(1));
  TRACE_INFO("done");
}
