// Declares run_isolated(), which computes answers in processes of their own.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace conformance {

/// What came of one task: its answer, or how its process ended without one.
struct Outcome {
  std::string answer;
  std::string death;  ///< "killed by signal 11 (Segmentation fault)"; empty: it answered
};

/// How tasks are spread over processes.
struct Isolation {
  std::size_t tasks_per_process = 1;    ///< 1: each task begins in a process that has done nothing else
  std::size_t processes = 2;            ///< how many run at the same time
  std::chrono::milliseconds timeout{10'000};  ///< for one task; then its process is killed
};

/// Calls `answer(i)` for i in [0, count) in forked processes and returns the outcomes in that order. A process that dies
/// costs the task that it was at; those behind it get a new process. REQUIRES: this process has one thread.
std::vector<Outcome> run_isolated(std::size_t count, Isolation const& isolation,
                                  std::function<std::string(std::size_t task)> const& answer);

}  // namespace conformance
