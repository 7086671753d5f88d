#include "tracing_core/export/trace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "tracing_core/export/open_file.h"
#include "tracing_core/export/write_all.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1::internal {
namespace {

constexpr std::size_t kPage = 4096;  // or a multiple of it

bool is_regular_file(int descriptor) noexcept {
  struct stat what {};
  return fstat(descriptor, &what) == 0 && S_ISREG(what.st_mode);
}

}  // namespace

std::unique_ptr<TraceFile> TraceFile::create(std::string path, int complain_to, std::error_code& error) {
  int const descriptor = open_new_file(path.c_str(), O_WRONLY | O_APPEND);
  if (descriptor < 0) {
    error.assign(errno, std::generic_category());
    return nullptr;
  }
  error.clear();
  return std::unique_ptr<TraceFile>(new TraceFile(descriptor, std::move(path), complain_to));
}

TraceFile::TraceFile(int descriptor, std::string path, int complain_to) noexcept
    : descriptor_(descriptor), path_(std::move(path)), is_regular_(is_regular_file(descriptor)), complain_to_(complain_to) {}

TraceFile::~TraceFile() { close(descriptor_); }

bool TraceFile::append(std::string_view text) noexcept {
  int const saved = errno;
  int const error = write_block(descriptor_, text);
  if (error == 0) [[likely]] {
    size_ += text.size();
  } else {
    // A part of it may be there, and half a record would spoil what follows.
    if (is_regular_) (void)!ftruncate(descriptor_, static_cast<off_t>(size_));
    if (!std::exchange(failed_, true)) tell_trace_failure(complain_to_, path_, error);
  }
  errno = saved;
  return error == 0;
}

std::size_t TraceFile::blanks_before(std::size_t size, std::uint64_t place) noexcept {
  if (size > kPage) return 0;
  std::size_t const left = kPage - static_cast<std::size_t>(place % kPage);
  return size <= left ? 0 : left;
}

bool TraceFile::go_to_page_offset(std::uint64_t place) noexcept {
  std::size_t const missing = static_cast<std::size_t>((place - size_) % kPage);
  if (missing == 0) [[likely]] return true;
  InlineTextBuffer<kPage> blanks;
  blanks.append(missing, ' ');
  return append(blanks.view());
}

void TraceFile::tell_missing(std::uint64_t count) const noexcept {
  if (count == 0 || complain_to_ < 0) return;
  InlineTextBuffer<512> line;
  line.append("tracing: ");
  line.append_uint(count);
  line.append(count == 1 ? " record is missing in the trace " : " records are missing in the trace ");
  line.append(path_);
  line.push_back('\n');
  (void)write_once(complain_to_, line.view());
}

void tell_trace_failure(int complain_to, std::string_view path, int error) noexcept {
  if (complain_to < 0) return;
  InlineTextBuffer<512> line;
  line.append("tracing: cannot write the trace ");
  line.append(path);
  line.append(": ");
  append_error(line, error);
  line.push_back('\n');
  (void)write_once(complain_to, line.view());
}

}  // namespace tracing::inline v1::internal
