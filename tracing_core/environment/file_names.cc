#include "tracing_core/environment/file_names.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "tracing_core/export/write_all.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/support/file_name.h"

namespace tracing { inline namespace v1 { namespace environment {
namespace {

// Calls `create` with `path`, and then with other names as long as `create` returns false with EEXIST in errno. Returns
// the last name.
template <class F>
std::string with_free_name(std::string const& path, std::error_code& error, F create) {
  constexpr int kMaxTries = 10'000;
  std::size_t const name = path.rfind('/') + 1;
  std::size_t const dot = path.rfind('.');
  std::size_t const stem = dot == path.npos || dot <= name ? path.size() : dot;
  std::string const own = path.substr(0, stem) + "." + std::to_string(getpid());
  std::string tried = path;
  for (int i = 1; !create(tried); ++i) {
    if (errno != EEXIST || i == kMaxTries) {
      error.assign(errno, std::generic_category());
      break;
    }
    tried = own + (i == 1 ? std::string() : "." + std::to_string(i)) + path.substr(stem);
  }
  return tried;
}

}  // namespace

std::string filled_in(std::string_view path, std::string_view test) {
  std::string out;
  for (std::size_t mark; (mark = path.find('%')) != path.npos;) {
    out += path.substr(0, mark);
    char const kind = mark + 1 < path.size() ? path[mark + 1] : '\0';
    if (kind == 'p') {
      out += std::to_string(getpid());
    } else if (kind == 't') {
      out += file_name_of(test);
    } else {
      out += '%';
    }
    path.remove_prefix(mark + (kind == 'p' || kind == 't' ? 2 : 1));
  }
  return out += path;
}

bool is_folder(std::string const& path) {
  std::error_code ignored;
  if (path.ends_with('/')) std::filesystem::create_directories(path, ignored);
  return path.ends_with('/') || std::filesystem::is_directory(path, ignored);
}

FileName name_kind(std::string_view path) noexcept {
  return path.find("%p") == path.npos && path.find("%t") == path.npos ? FileName::given : FileName::formed;
}

bool is_no_file(std::string const& path, FileName name) noexcept {
  return name == FileName::given && is_special_file(path.c_str());
}

UniqueFile create_unique_file(std::string const& path, FileName name, int flags, std::error_code& error) {
  error.clear();
  UniqueFile file{path};
  if (is_no_file(path, name)) {
    file.descriptor = open_file(path.c_str(), flags);
    if (file.descriptor < 0) error.assign(errno, std::generic_category());
    return file;
  }
  file.path = with_free_name(path, error, [&file, flags](std::string const& tried) {
    return (file.descriptor = create_file(tried.c_str(), flags)) >= 0;
  });
  return file;
}

CompleteFile::CompleteFile(std::string path, FileName name) : path_(std::move(path)) {
  descriptor_ = is_no_file(path_, name) ? open_file(path_.c_str(), O_WRONLY | O_APPEND) : create_part(path_, part_);
  if (descriptor_ < 0) error_ = errno;
}

CompleteFile::~CompleteFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!part_.empty()) unlink(part_.c_str());
}

void CompleteFile::write(std::string_view text) noexcept {
  if (error_ == 0) error_ = internal::write_once(descriptor_, text);
}

std::string CompleteFile::finish(std::error_code& error) {
  // Some file systems report a full disk only now.
  if (descriptor_ >= 0 && close(std::exchange(descriptor_, -1)) != 0 && error_ == 0) error_ = errno;
  error.assign(error_, std::generic_category());
  if (error || part_.empty()) return path_;
  // link() and not rename(), which would replace a file.
  return with_free_name(path_, error,
                        [this](std::string const& name) { return link(part_.c_str(), name.c_str()) == 0; });
}

std::string create_complete_file(std::string const& path, std::string_view content, std::error_code& error,
                                 FileName name) {
  CompleteFile file(path, name);
  file.write(content);
  return file.finish(error);
}

std::string why_not_opened(std::error_code const& error) {
  if (error == std::errc::too_many_symbolic_link_levels) return "it is a symbolic link, which is not followed";
  if (error == std::errc::file_exists) return "something else has this name";
  return error.message();
}

std::string cannot_open(std::string const& variable, std::string const& path, std::error_code const& error) {
  return "testlog: " + variable + "=" + path + ": could not be opened: " + why_not_opened(error) +
         "; expected a path that can be written to\n";
}

void report_missing_lines(int error_fd, std::string_view variable, std::string_view path,
                          std::uint64_t count) noexcept {
  if (count == 0 || error_fd < 0) return;
  InlineTextBuffer<512> line;
  line.append("testlog: ");
  line.append_uint(count);
  line.append(count == 1 ? " line is missing in " : " lines are missing in ");
  line.append(variable);
  line.push_back('=');
  line.append(path);
  line.push_back('\n');
  (void)internal::write_once(error_fd, line.view());
}

}}}  // namespace tracing::v1::environment
