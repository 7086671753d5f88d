#include "testlog/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <system_error>

#include "testlog/file_names.h"
#include "tracing_core/export/fork_count.h"
#include "tracing_core/model/text_buffer.h"

namespace testlog::inline v1 {
namespace {

// Holds any path that can be opened, so that it takes no memory.
using OwnPath = tracing::InlineTextBuffer<2 * PATH_MAX>;

// High up, so that what the program itself opens gets the numbers that it would get without us.
constexpr int kLowestDescriptor = 500;

int duplicate(int descriptor) noexcept {
  int const high = fcntl(descriptor, F_DUPFD_CLOEXEC, kLowestDescriptor);
  return high >= 0 ? high : fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
}

int open_high(char const* path) noexcept {
  int const low = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (low < 0) return low;
  int const high = duplicate(low);
  if (high < 0) return low;
  close(low);
  return high;
}

}  // namespace

void Output::open(std::string const& destination) {
  forks_ = tracing::internal::fork_count();
  if (destination == "stderr" || destination == "stdout") {
    int const descriptor = duplicate(destination == "stdout" ? STDOUT_FILENO : STDERR_FILENO);
    write_all_ = tracing::internal::writing_to(descriptor);
    return use(descriptor);
  }
  path_ = destination;
  changes_with_tests_ = destination.find("%t") != destination.npos;
  changes_with_processes_ = destination.find("%p") != destination.npos;
  if (changes_with_processes_) tracing::internal::count_forks();
  standard_error_ = duplicate(STDERR_FILENO);
  // Another thread may be writing when it becomes another file, or the standard error where that cannot be opened.
  write_all_ = tracing::internal::write_anywhere;
  open_path(kOutsideTests);
  if (!changes_with_tests_ && !changes_with_processes_) write_all_ = tracing::internal::writing_to(this->descriptor());
}

// Takes the descriptor over.
void Output::use(int descriptor) noexcept {
  if (descriptor_ < 0) {
    descriptor_ = descriptor;
  } else if (descriptor >= 0) {
    dup3(descriptor, descriptor_, O_CLOEXEC);  // in place: another thread may be writing
    close(descriptor);
  }
}

void Output::open_path(std::string_view test) {
  unsigned const next = of_test_.load(std::memory_order_relaxed) + 1;
  of_tests_[next % of_tests_.size()] = filled_in_test(path_, test);
  of_test_.store(next, std::memory_order_release);
  if (int const error = open_own()) {
    changes_with_tests_ = false;
    tell_not_opened(error);
  }
}

// The file of this process and test, else the standard error: then it returns why. Async-signal-safe.
int Output::open_own() noexcept {
  std::string const& path = of_tests_[of_test_.load(std::memory_order_acquire) % of_tests_.size()];
  OwnPath own;
  append_filled_in_process(own, path);
  own.push_back('\0');
  forks_ = tracing::internal::fork_count();
  int const opened = path.size() < PATH_MAX ? open_high(own.view().data()) : (errno = ENAMETOOLONG, -1);
  int const error = opened < 0 ? errno : 0;
  use(error == 0 ? opened : duplicate(standard_error_));
  if (error == 0) lines_.look_at(descriptor(), own.view().data());
  return error;
}

// A child's first line is not to stand in its parent's file.
void Output::leave_parents_file(bool may_tell) noexcept {
  missing_of_parent_ = lines_.missing();
  int const error = open_own();
  if (error != 0 && may_tell) tell_not_opened(error);
}

void Output::tell_not_opened(int error) noexcept {
  told_ = true;
  try {
    write("testlog: TRACE_OUTPUT=" + own_path() + " cannot be opened: " + std::generic_category().message(error) +
          ". Using stderr; valid are stderr, stdout or a path that can be written to.\n");
  } catch (...) {  // without memory nothing can be said
  }
}

std::string Output::own_path() const {
  OwnPath own;
  append_filled_in_process(own, of_tests_[of_test_.load(std::memory_order_acquire) % of_tests_.size()]);
  return std::string(own.view());
}

void Output::set_test(std::string_view test) {
  if (changes_with_tests_) open_path(test.empty() ? kOutsideTests : test);
}

// A load where the file is every process's, two where it is not.
bool Output::is_of_parent() const noexcept {
  return changes_with_processes_ && forks_.load(std::memory_order_relaxed) != tracing::internal::fork_count();
}

int Output::write_out(std::string_view block, bool may_tell) noexcept {
  int const error_before = errno;
  if (is_of_parent()) [[unlikely]] leave_parents_file(may_tell);
  int const descriptor = this->descriptor();
  int const error = descriptor < 0 ? 0 : lines_.write(descriptor, write_all_, block);
  errno = error_before;
  return error;
}

void Output::write(std::string_view block) noexcept {
  if (int const error = write_out(block, true)) [[unlikely]] tell_once(error);
}

// There is nobody to tell that the standard error takes nothing.
void Output::tell_once(int error) noexcept {
  if (standard_error_ < 0 || told_.exchange(true)) return;
  int const error_before = errno;
  try {
    tracing::internal::write_once(standard_error_, "testlog: TRACE_OUTPUT=" + path_ + " cannot be written to: " +
                                                       std::generic_category().message(error) +
                                                       ". What follows may be missing there.\n");
  } catch (...) {
  }
  errno = error_before;
}

// A forked child that has no file of its own knows what its parent lacks, and not which of it is its own.
void Output::tell_missing() noexcept {
  if (standard_error_ < 0 || forks_ != tracing::internal::fork_count()) return;
  tell_missing_lines(standard_error_, "TRACE_OUTPUT", path_, lines_.missing() - missing_of_parent_);
}

bool Output::is_terminal() const noexcept { return isatty(descriptor()) == 1; }

}  // namespace testlog::inline v1
