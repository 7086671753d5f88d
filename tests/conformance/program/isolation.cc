#include "isolation.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <system_error>

namespace conformance {
namespace {

using Clock = std::chrono::steady_clock;
using Answer = std::function<std::string(std::size_t)>;

struct Range {
  std::size_t begin;
  std::size_t end;
};

void write_all(int fd, void const* data, std::size_t size) {
  for (char const* at = static_cast<char const*>(data); size > 0;) {
    ssize_t const written = ::write(fd, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) _exit(125);
    at += written;
    size -= static_cast<std::size_t>(written);
  }
}

// Sends each answer as its size and its bytes.
[[noreturn]] void work(Range range, int pipe, Answer const& answer) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (std::size_t task = range.begin; task < range.end; ++task) {
    std::string const text = answer(task);
    std::uint64_t const size = text.size();
    write_all(pipe, &size, sizeof(size));
    write_all(pipe, text.data(), text.size());
  }
  _exit(0);
}

// A process and the bytes received from it so far.
struct Worker {
  pid_t pid;
  int pipe;
  Range left;
  Clock::time_point deadline;
  std::string received;
};

Worker start(Range range, std::chrono::milliseconds timeout, Answer const& answer) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  pid_t const pid = fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid == 0) {
    close(ends[0]);
    work(range, ends[1], answer);
  }
  close(ends[1]);
  return {pid, ends[0], range, Clock::now() + timeout, {}};
}

void take_answers(Worker& worker, std::chrono::milliseconds timeout, std::vector<Outcome>& outcomes) {
  std::uint64_t size = 0;
  while (worker.left.begin < worker.left.end && worker.received.size() >= sizeof(size)) {
    std::memcpy(&size, worker.received.data(), sizeof(size));
    if (worker.received.size() - sizeof(size) < size) return;
    outcomes[worker.left.begin++].answer = worker.received.substr(sizeof(size), size);
    worker.received.erase(0, sizeof(size) + size);
    worker.deadline = Clock::now() + timeout;
  }
}

std::string describe(int status) {
  if (WIFSIGNALED(status)) {
    int const number = WTERMSIG(status);
    return "killed by signal " + std::to_string(number) + " (" + strsignal(number) + ")";
  }
  return "ended with exit status " + std::to_string(WEXITSTATUS(status));
}

// Reads more output of a worker. Returns false at the end of the output.
bool read_some(Worker& worker) {
  char room[65536];
  ssize_t const count = ::read(worker.pipe, room, sizeof(room));
  if (count < 0) return errno == EINTR;
  worker.received.append(room, static_cast<std::size_t>(count));
  return count > 0;
}

std::string finish(Worker& worker, bool timed_out, std::chrono::milliseconds timeout) {
  if (timed_out) kill(worker.pid, SIGKILL);
  int status = 0;
  while (waitpid(worker.pid, &status, 0) < 0 && errno == EINTR) {
  }
  close(worker.pipe);
  return timed_out ? "no answer within " + std::to_string(timeout.count()) + " ms" : describe(status);
}

}  // namespace

std::vector<Outcome> run_isolated(std::size_t count, Isolation const& isolation, Answer const& answer) {
  std::fflush(nullptr);  // otherwise each process would write the buffered text again
  std::vector<Outcome> outcomes(count);
  std::deque<Range> waiting;
  for (std::size_t begin = 0; begin < count; begin += isolation.tasks_per_process) {
    waiting.push_back({begin, std::min(count, begin + isolation.tasks_per_process)});
  }
  std::vector<Worker> workers;
  while (!waiting.empty() || !workers.empty()) {
    while (!waiting.empty() && workers.size() < isolation.processes) {
      workers.push_back(start(waiting.front(), isolation.timeout, answer));
      waiting.pop_front();
    }
    std::vector<pollfd> polls;
    auto first_deadline = Clock::time_point::max();
    for (Worker const& worker : workers) {
      polls.push_back({worker.pipe, POLLIN, 0});
      first_deadline = std::min(first_deadline, worker.deadline);
    }
    auto const wait = std::chrono::ceil<std::chrono::milliseconds>(first_deadline - Clock::now());
    poll(polls.data(), polls.size(), static_cast<int>(std::max<std::int64_t>(0, wait.count())));
    for (std::size_t i = workers.size(); i-- > 0;) {
      Worker& worker = workers[i];
      bool const is_open = polls[i].revents == 0 || read_some(worker);
      take_answers(worker, isolation.timeout, outcomes);
      bool const timed_out = is_open && Clock::now() >= worker.deadline;
      if (is_open && !timed_out) continue;
      std::string const death = finish(worker, timed_out, isolation.timeout);
      if (worker.left.begin < worker.left.end) {
        outcomes[worker.left.begin++].death = death;
        if (worker.left.begin < worker.left.end) waiting.push_back(worker.left);
      }
      workers.erase(workers.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return outcomes;
}

}  // namespace conformance
