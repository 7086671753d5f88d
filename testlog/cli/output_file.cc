#include "testlog/cli/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace testlog::cli {
namespace {

constexpr std::size_t kPieceBytes = 64 * 1024;

std::error_code last_error() noexcept { return {errno, std::generic_category()}; }

}  // namespace

OutputFile::OutputFile(std::string const& path, tracing::support::FileName name) : target_(path) {
  if (path == "-") {
    file_ = dup(STDOUT_FILENO);
  } else if (name == tracing::support::FileName::formed || replaces(path)) {
    file_ = tracing::support::create_part(path, part_);
  } else {
    file_ = tracing::support::open_file(path.c_str(), O_WRONLY);
  }
  if (file_ < 0) error_ = last_error();
  waiting_.reserve(kPieceBytes);
}

OutputFile::~OutputFile() {
  if (part_.empty()) flush();
  if (file_ >= 0) close(file_);
  if (!part_.empty()) unlink(part_.c_str());
}

bool OutputFile::replaces(std::string const& path) noexcept {
  return path != "-" && !tracing::support::is_special_file(path.c_str());
}

void OutputFile::write(std::string_view text) noexcept {
  if (waiting_.size() + text.size() > kPieceBytes) flush();
  text.size() > kPieceBytes ? write_out(text) : void(waiting_ += text);
}

void OutputFile::flush() noexcept {
  write_out(waiting_);
  waiting_.clear();
}

void OutputFile::write_out(std::string_view text) noexcept {
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
  flush();
  // Some file systems report only now that they are full.
  if (file_ >= 0 && close(file_) != 0 && !error_) error_ = last_error();
  file_ = -1;
  if (part_.empty() || error_) return error_;
  if (rename(part_.c_str(), target_.c_str()) != 0) {
    error_ = last_error();
  } else {
    part_.clear();
  }
  return error_;
}

int open_input(std::string const& path) noexcept {
  return path == "-" ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
}

std::string name_of_input(std::string const& path) { return path == "-" ? "standard input" : path; }

bool is_same_file(std::string const& input, std::string const& path) noexcept {
  struct stat first {};
  struct stat second {};
  int const found = input == "-" ? fstat(STDIN_FILENO, &first) : stat(input.c_str(), &first);
  return found == 0 && stat(path.c_str(), &second) == 0 && S_ISREG(first.st_mode) && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

}  // namespace testlog::cli
