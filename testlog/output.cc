#include "testlog/output.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace testlog::inline v1 {
namespace {

// High up, so that what the program itself opens gets the numbers that it would get without us.
constexpr int kLowestDescriptor = 500;
constexpr int kPatience_ms = 1000;  // with a reader of a non-blocking pipe

int duplicate(int descriptor) noexcept {
  int const high = fcntl(descriptor, F_DUPFD_CLOEXEC, kLowestDescriptor);
  return high >= 0 ? high : fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
}

int open_high(std::string const& path) noexcept {
  int const low = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (low < 0) return low;
  int const high = duplicate(low);
  if (high < 0) return low;
  close(low);
  return high;
}

std::string filled_in(std::string_view path, std::string_view test) {
  std::string out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    char const next = path[i] == '%' && i + 1 < path.size() ? path[i + 1] : '\0';
    if (next == 'p') {
      out += std::to_string(getpid());
    } else if (next == 't') {
      std::size_t const from = out.size();
      out += test;
      std::replace(out.begin() + static_cast<std::ptrdiff_t>(from), out.end(), '/', '_');
    } else {
      out += path[i];
      continue;
    }
    ++i;
  }
  return out;
}

}  // namespace

void Output::open(std::string const& destination) {
  if (destination == "stderr" || destination == "stdout") {
    descriptor_ = duplicate(destination == "stdout" ? STDOUT_FILENO : STDERR_FILENO);
    return;
  }
  path_ = destination;
  open_path("outside_tests");
}

void Output::open_path(std::string_view test) {
  std::string const path = filled_in(path_, test);
  int const opened = open_high(path);
  if (opened >= 0) {
    if (descriptor_ < 0) {
      descriptor_ = opened;
    } else {
      dup3(opened, descriptor_, O_CLOEXEC);  // in place: another thread may be writing
      close(opened);
    }
    return;
  }
  std::string const problem = "testlog: TRACE_OUTPUT=" + path + " cannot be opened: " + std::strerror(errno) +
                              ". Using stderr; valid are stderr, stdout or a path that can be written to.\n";
  path_.clear();
  if (descriptor_ < 0) descriptor_ = duplicate(STDERR_FILENO);
  write(problem);
}

void Output::set_test(std::string_view test) {
  if (path_.find("%t") != path_.npos) open_path(test.empty() ? "outside_tests" : test);
}

void Output::write(std::string_view block) const noexcept {
  int const descriptor = descriptor_.load(std::memory_order_relaxed);
  if (descriptor < 0) return;
  int const error_before = errno;
  while (!block.empty()) {
    ssize_t const written = ::write(descriptor, block.data(), block.size());
    if (written > 0) {
      block.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd until_writable{descriptor, POLLOUT, 0};
      if (poll(&until_writable, 1, kPatience_ms) != 1) break;
    } else if (errno != EINTR) {
      break;
    }
  }
  errno = error_before;
}

bool Output::is_terminal() const noexcept { return isatty(descriptor()) == 1; }

}  // namespace testlog::inline v1
