#include "testlog/cli/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace testlog::cli {
namespace {

std::error_code last_error() noexcept { return {errno, std::generic_category()}; }

}  // namespace

OutputFile::OutputFile(std::string const& path)
    : file_(path == "-" ? dup(STDOUT_FILENO) : open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (file_ < 0) error_ = last_error();
}

OutputFile::~OutputFile() { finish(); }

void OutputFile::write(std::string_view text) noexcept {
  while (!error_ && !text.empty()) {
    ssize_t const written = ::write(file_, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (written == 0 || errno != EINTR) {
      error_ = written == 0 ? std::make_error_code(std::errc::no_space_on_device) : last_error();
    }
  }
}

std::error_code OutputFile::finish() noexcept {
  // Some file systems tell only now that there was no room.
  if (file_ >= 0 && close(file_) != 0 && !error_) error_ = last_error();
  file_ = -1;
  return error_;
}

}  // namespace testlog::cli
