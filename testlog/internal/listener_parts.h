// What the listeners of Catch2 and doctest share.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "testlog/test_run.h"
#include "tracing_core/tracing.h"

namespace testlog { inline namespace v1 { namespace internal {

template <std::size_t N>
bool is_in(std::string_view word, std::string_view const (&words)[N]) noexcept {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

/// Returns the name that a command line has with backslashes before some characters. It lives until the next call.
inline std::string_view without_backslashes(std::string_view name) {
  static auto& plain = *new std::string;  // never destroyed: reports at the end of the process name it
  plain.clear();
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '\\' && i + 1 < name.size()) ++i;
    plain += name[i];
  }
  return plain;
}

class Stopwatch {
 public:
  void start() noexcept { began_ = std::chrono::steady_clock::now(); }
  std::int64_t elapsed_ms() const noexcept {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began_).count();
  }

 private:
  std::chrono::steady_clock::time_point began_{};
};

/// A failure that the framework has no place for: it is printed, and the status of the process will be 1.
inline bool has_late_failure = false;
inline void fail_late(char const* file, int line, std::string const& message) {
  has_late_failure = true;
  std::fprintf(stderr, "%s:%d: %s\n", file, line, message.c_str());
  test_run::part({.file = file, .line = line, .message = message});
}

/// Starts testlog. To be called before other initialisers, so that what it registers for exit() runs last.
inline void start(framework::Framework const& framework, framework::Process const& process) {
  on_exit(
      [](int status, void*) {
        if (status != 0 || !has_late_failure) return;
        std::fflush(nullptr);
        _exit(1);
      },
      nullptr);
  test_run::start(framework, process);
}

/// The sections of the running test that this thread is in, as spans.
class SectionSpans {
 public:
  void begin(std::string_view name) {
    spans_.push_back(TRACE_MAKE_SPAN(info, "section", tracing::kv("name", name)).entered());
  }
  void end() noexcept {
    if (!spans_.empty()) spans_.pop_back();
  }
  void end_all() noexcept {
    while (!spans_.empty()) spans_.pop_back();
  }

 private:
  std::vector<tracing::EnteredSpan> spans_;
};

}}}  // namespace testlog::v1::internal
