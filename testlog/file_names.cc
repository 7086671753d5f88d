#include "testlog/file_names.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace testlog::inline v1 {
namespace {

bool is_no_file(std::string const& path) noexcept {
  struct stat what {};
  return stat(path.c_str(), &what) == 0 && !S_ISREG(what.st_mode) && !S_ISDIR(what.st_mode);
}

// 0, or why it cannot be made.
int make_file(std::string const& path) noexcept {
  int const descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return errno;
  close(descriptor);
  return 0;
}

}  // namespace

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

std::string claim_file(std::string const& path, std::error_code& error) {
  constexpr int kMostTries = 10'000;
  error.clear();
  if (is_no_file(path)) return path;
  std::size_t const name = path.rfind('/') + 1;
  std::size_t const dot = path.rfind('.');
  std::size_t const stem = dot == path.npos || dot <= name ? path.size() : dot;
  std::string const own = path.substr(0, stem) + "." + std::to_string(getpid());
  std::string tried = path;
  for (int i = 1; i < kMostTries; ++i) {
    int const failure = make_file(tried);
    if (failure != EEXIST) {
      error.assign(failure, std::generic_category());
      return tried;
    }
    tried = own + (i == 1 ? std::string() : "." + std::to_string(i)) + path.substr(stem);
  }
  error.assign(EEXIST, std::generic_category());
  return tried;
}

}  // namespace testlog::inline v1
