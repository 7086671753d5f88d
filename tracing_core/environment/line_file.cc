#include "tracing_core/environment/line_file.h"

#include <system_error>
#include <utility>

#include "tracing_core/environment/ctest_run.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/support/scoped_no_cancellation.h"

namespace tracing { inline namespace v1 { namespace environment {

// Checks for a forked child before it takes a lock, which another thread of the parent may have held.
bool LineFile::open() noexcept {
  if (output_.is_in_forked_child()) return false;
  MutexLock const lock(mutex_);
  return is_open();
}

void LineFile::write(Level level, std::string_view text) noexcept {
  if (output_.is_in_forked_child()) return;
  MutexLock const lock(mutex_);
  if (!is_open()) return;
  file_->check_still();
  if (!test_is_root_) return file_->write(level, text);
  TextBuffer lines;
  for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
    for (char const c : test()) lines.push_back(c == ';' ? ':' : c);  // `;` separates frames
    lines.push_back(';');
    lines.append(text.substr(0, end + 1));
  }
  file_->write(level, lines.view());
}

void LineFile::set_test(std::string_view test) {
  bool const changes_file = path_.find("%t") != path_.npos;
  if ((!changes_file && !test_is_root_) || output_.is_in_forked_child()) return;
  MutexLock const lock(mutex_);
  test_ = test;
  if (!changes_file) return;
  if (file_ != nullptr) missing_ += file_->missing_lines();
  file_ = nullptr;
  failed_ = false;
}

void LineFile::report_missing(std::uint64_t dropped) {
  MutexLock const lock(mutex_);
  std::uint64_t const of_file = file_ == nullptr ? 0 : file_->missing_lines();
  report_missing_lines(output_.error_fd(), variable_, path_, dropped + missing_ + of_file);
}

bool LineFile::is_open() noexcept {
  if (file_ != nullptr || failed_) return file_ != nullptr;
  failed_ = true;
  ScopedNoCancellation const no_cancellation;  // open(2) is a cancellation point, too
  try {
    std::error_code error;
    std::string const path = filled_in(path_, test());
    if (run_began_) empty_if_older(path, *run_began_);
    bool const may_be_special = name_kind(path_) == FileName::given;
    file_ = FdSink::append_to(path, error, output_.error_fd(), end_of_broken_, may_be_special);
    if (error && !std::exchange(reported_, true)) output_.write_note("report", cannot_open(variable_, path, error));
  } catch (...) {  // out of memory
  }
  return file_ != nullptr;
}

}}}  // namespace tracing::v1::environment
