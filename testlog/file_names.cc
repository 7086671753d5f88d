#include "testlog/file_names.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "tracing_core/export/open_file.h"
#include "tracing_core/export/write_all.h"

namespace testlog::inline v1 {
namespace {

// 0, or why it cannot be made.
int make_file(std::string const& path) noexcept {
  int const descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return errno;
  close(descriptor);
  return 0;
}

// Gives a file another name that no file has; 0, or why it cannot.
int move_file(std::string const& from, std::string const& to) noexcept {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL) return errno;  // which file systems say that cannot do it so
  if (link(from.c_str(), to.c_str()) != 0) return errno;
  unlink(from.c_str());
  return 0;
}

// Writes a file; 0, or why it cannot.
int write_file(std::string const& path, int flags, std::string_view text) noexcept {
  int const descriptor = tracing::internal::open_file(path.c_str(), O_WRONLY | flags);
  if (descriptor < 0) return errno;
  int const error = tracing::internal::write_block(descriptor, text);
  // Some file systems tell only now that there was no room.
  return close(descriptor) != 0 && error == 0 ? errno : error;
}

// Calls `make` with `path`, or with others like it for as long as it says EEXIST.
template <class F>
std::string with_free_name(std::string const& path, std::error_code& error, F make) {
  constexpr int kMostTries = 10'000;
  std::size_t const name = path.rfind('/') + 1;
  std::size_t const dot = path.rfind('.');
  std::size_t const stem = dot == path.npos || dot <= name ? path.size() : dot;
  std::string const own = path.substr(0, stem) + "." + std::to_string(getpid());
  std::string tried = path;
  for (int i = 1; i < kMostTries; ++i) {
    int const failure = make(tried);
    if (failure != EEXIST) {
      error.assign(failure, std::generic_category());
      return tried;
    }
    tried = own + (i == 1 ? std::string() : "." + std::to_string(i)) + path.substr(stem);
  }
  error.assign(EEXIST, std::generic_category());
  return tried;
}

}  // namespace

bool is_no_file(std::string const& path) noexcept {
  struct stat what {};
  return stat(path.c_str(), &what) == 0 && !S_ISREG(what.st_mode) && !S_ISDIR(what.st_mode);
}

std::string filled_in_test(std::string_view path, std::string_view test) {
  std::string out;
  for (std::size_t mark; (mark = path.find("%t")) != path.npos; path.remove_prefix(mark + 2)) {
    out += path.substr(0, mark);
    std::size_t const from = out.size();
    out += test;
    std::replace(out.begin() + static_cast<std::ptrdiff_t>(from), out.end(), '/', '_');
  }
  return out += path;
}

void append_filled_in_process(tracing::TextBuffer& out, std::string_view path) noexcept {
  for (std::size_t mark; (mark = path.find("%p")) != path.npos; path.remove_prefix(mark + 2)) {
    out.append(path.substr(0, mark));
    out.append_int(getpid());
  }
  out.append(path);
}

std::string filled_in(std::string_view path, std::string_view test) {
  tracing::InlineTextBuffer<512> out;
  append_filled_in_process(out, filled_in_test(path, test));
  return std::string(out.view());
}

void tell_missing_lines(int complain_to, std::string_view variable, std::string_view path, std::uint64_t count) noexcept {
  if (count == 0 || complain_to < 0) return;
  tracing::InlineTextBuffer<512> line;
  line.append("testlog: ");
  line.append_uint(count);
  line.append(count == 1 ? " line is missing in " : " lines are missing in ");
  line.append(variable);
  line.push_back('=');
  line.append(path);
  line.push_back('\n');
  (void)tracing::internal::write_once(complain_to, line.view());
}

std::string claim_file(std::string const& path, std::error_code& error) {
  error.clear();
  if (is_no_file(path)) return path;
  return with_free_name(path, error, make_file);
}

std::string make_whole_file(std::string const& path, std::string_view text, std::error_code& error) {
  if (path.ends_with('/')) {
    error = std::make_error_code(std::errc::is_a_directory);
    return path;
  }
  if (is_no_file(path)) {
    error.assign(write_file(path, O_APPEND, text), std::generic_category());
    return path;
  }
  std::string const part = path + "." + std::to_string(getpid()) + ".part";
  error.assign(write_file(part, O_CREAT | O_TRUNC, text), std::generic_category());
  std::string const made =
      error ? path : with_free_name(path, error, [&part](std::string const& tried) { return move_file(part, tried); });
  if (error) unlink(part.c_str());
  return made;
}

}  // namespace testlog::inline v1
