#include "testlog/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "testlog/file_names.h"

namespace testlog::inline v1 {
namespace {

// High up, so that what the program itself opens gets the numbers that it would get without us.
constexpr int kLowestDescriptor = 500;

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

}  // namespace

void Output::open(std::string const& destination) {
  if (destination == "stderr" || destination == "stdout") {
    use(duplicate(destination == "stdout" ? STDOUT_FILENO : STDERR_FILENO));
    return;
  }
  path_ = destination;
  changes_with_tests_ = destination.find("%t") != destination.npos;
  standard_error_ = duplicate(STDERR_FILENO);
  open_path("outside_tests");
}

// Takes the descriptor over.
void Output::use(int descriptor) noexcept {
  write_all_ = tracing::internal::writing_to(descriptor);
  if (descriptor_ < 0) {
    descriptor_ = descriptor;
  } else if (descriptor >= 0) {
    dup3(descriptor, descriptor_, O_CLOEXEC);  // in place: another thread may be writing
    close(descriptor);
  }
}

void Output::open_path(std::string_view test) {
  std::string const path = filled_in(path_, test);
  int const opened = open_high(path);
  if (opened >= 0) return use(opened);
  std::string const problem = "testlog: TRACE_OUTPUT=" + path + " cannot be opened: " + std::strerror(errno) +
                              ". Using stderr; valid are stderr, stdout or a path that can be written to.\n";
  changes_with_tests_ = false;
  told_ = true;
  use(duplicate(standard_error_));
  write(problem);
}

void Output::set_test(std::string_view test) {
  if (changes_with_tests_) open_path(test.empty() ? "outside_tests" : test);
}

int Output::write_out(std::string_view block) noexcept {
  int const descriptor = descriptor_.load(std::memory_order_relaxed);
  if (descriptor < 0) return 0;
  int const error_before = errno;
  int const error = write_all_.load(std::memory_order_relaxed)(descriptor, block);
  errno = error_before;
  return error;
}

void Output::write(std::string_view block) noexcept {
  if (int const error = write_out(block)) [[unlikely]] tell_once(error);
}

// There is nobody to tell that the standard error takes nothing.
void Output::tell_once(int error) noexcept {
  if (standard_error_ < 0 || told_.exchange(true)) return;
  int const error_before = errno;
  try {
    std::string const problem = "testlog: TRACE_OUTPUT=" + path_ + " cannot be written to: " +
                                std::generic_category().message(error) + ". What follows may be missing there.\n";
    tracing::internal::writing_to(standard_error_)(standard_error_, problem);
  } catch (...) {
  }
  errno = error_before;
}

bool Output::is_terminal() const noexcept { return isatty(descriptor()) == 1; }

}  // namespace testlog::inline v1
