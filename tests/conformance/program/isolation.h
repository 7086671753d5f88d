// Computes answers in separate processes.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace conformance {

/// The result of a task: its answer, or the way in which its process ended without an answer.
struct Outcome {
  std::string answer;
  std::string death;  ///< "killed by signal 11 (Segmentation fault)"; empty if it answered
};

/// Says how tasks are distributed to processes.
struct Isolation {
  std::size_t tasks_per_process = 1;          ///< 1: each task has a new process
  std::size_t processes = 2;                  ///< the maximum number of concurrent processes
  std::chrono::milliseconds timeout{10'000};  ///< for each task, after which its process is killed
};

/// Calls `answer(i)` for i in [0, count) in forked processes and returns the outcomes in that order. If a process dies,
/// only its current task has no answer; the tasks after that get a new process. REQUIRES: this process has one thread.
std::vector<Outcome> run_isolated(std::size_t count, Isolation const& isolation,
                                  std::function<std::string(std::size_t task)> const& answer);

}  // namespace conformance
