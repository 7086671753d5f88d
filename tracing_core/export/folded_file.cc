#include "tracing_core/export/folded_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "tracing_core/export/fd_sink.h"

namespace tracing::inline v1::internal {
namespace {

// A file of lines. Begins a new line behind one that broke off: else the two would be read as one stack that never was.
class FoldedFile final : public LineSink {
 public:
  FoldedFile(std::shared_ptr<FdSink> file, bool breaks_off) : file_(std::move(file)), breaks_off_(breaks_off) {}

  // Called for one block at a time.
  void write(Level level, std::string_view text) noexcept override {
    std::uint64_t const failed_before = file_->failed_writes();
    if (breaks_off_) file_->write(level, "\n");
    if (file_->failed_writes() == failed_before) file_->write(level, text);
    breaks_off_ = file_->failed_writes() != failed_before;
  }

 private:
  std::shared_ptr<FdSink> const file_;
  bool breaks_off_;
};

// How long a file is, and whether it ends in a line that broke off; 0 where that cannot be known.
off_t broken_size(int file) noexcept {
  struct stat what {};
  char last = '\n';
  bool const holds_text = fstat(file, &what) == 0 && S_ISREG(what.st_mode) && what.st_size > 0;
  bool const is_known = holds_text && pread(file, &last, 1, what.st_size - 1) == 1;
  return is_known && last != '\n' ? what.st_size : 0;
}

// The first pages of what another process is writing can be seen while it copies the others. A write of nothing waits for
// it: a file that is as long as before broke off in earnest.
bool breaks_off(std::string const& path) noexcept {
  int const file = open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  off_t size = broken_size(file);
  for (off_t before = 0; size != 0 && size != before; size = broken_size(file)) {
    before = size;
    if (::write(file, "", 0) != 0) break;
  }
  close(file);
  return size != 0;
}

}  // namespace

std::shared_ptr<LineSink> open_folded_file(std::string const& path, int complain_to, std::error_code& error) {
  std::shared_ptr<FdSink> file = FdSink::append_to(path, error, complain_to);
  if (file == nullptr) return nullptr;
  return std::make_shared<FoldedFile>(std::move(file), breaks_off(path));
}

}  // namespace tracing::inline v1::internal
