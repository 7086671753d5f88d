// The sources of a recording's bytes: memory, a file, a part of a file, a compressed file.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <utility>

#include "tracing_core/record/decode/gzip_source.h"
#include "tracing_core/record/decode/recording_parts.h"
#include "tracing_core/record/decode/recording_state.h"
#include "tracing_core/record/decode/tar_file.h"
#include "tracing_core/record/ring/racing_copy.h"
#include "tracing_core/record/ring/region.h"

namespace tracing { inline namespace v1 { namespace recording {

namespace {

// Returns null if `state` is null, and then sets `error` if the source knows the reason.
std::unique_ptr<Recording> recording_of(std::unique_ptr<RecordingState> state,
                                        std::unique_ptr<RecordingSource> const& source, std::string& error) {
  if (state != nullptr) return std::make_unique<Recording>(std::move(state));
  if (std::string const problem = source->problem(); !problem.empty()) error = problem;
  return nullptr;
}

}  // namespace

// The memory of a region.
class RegionSource final : public RecordingSource {
 public:
  explicit RegionSource(internal::Region const& region) noexcept
      : region_(region), base_(reinterpret_cast<char const*>(&region.header())) {}
  std::size_t size() const noexcept override { return region_.size_bytes(); }
  std::size_t read(std::size_t offset, void* to, std::size_t bytes) const noexcept override {
    std::size_t const size = region_.size_bytes();  // it may grow meanwhile
    bytes = std::min(bytes, size - std::min(offset, size));
    internal::copy_racing(base_ + offset, static_cast<char*>(to), bytes);
    std::atomic_thread_fence(std::memory_order_acquire);
    return bytes;
  }

 private:
  internal::Region const& region_;
  char const* base_;
};

std::unique_ptr<RecordingSource> source_of(internal::Region const& region) {
  return std::make_unique<RegionSource>(region);
}

std::unique_ptr<Recording> read_region(internal::Region const& region, std::uint64_t from_ticks) {
  std::string error;
  auto state = RecordingState::read(RegionSource(region), from_ticks, error);
  return state == nullptr ? nullptr : std::make_unique<Recording>(std::move(state));
}

// All of a file, or a part of it.
class FileSource final : public RecordingSource {
 public:
  enum class Closes : bool { no, yes };
  FileSource(int descriptor, Closes closes, std::size_t begin, std::size_t size) noexcept
      : descriptor_(descriptor), closes_(closes == Closes::yes), begin_(begin), max_size_(size) {}
  FileSource(FileSource const&) = delete;
  FileSource& operator=(FileSource const&) = delete;
  ~FileSource() override {
    if (closes_) close(descriptor_);
  }
  std::size_t size() const noexcept override {
    struct stat status {};
    auto const end =
        fstat(descriptor_, &status) == 0 ? static_cast<std::size_t>(std::max<off_t>(status.st_size, 0)) : 0;
    return std::min(end - std::min(begin_, end), max_size_);
  }
  std::size_t read(std::size_t offset, void* to, std::size_t bytes) const noexcept override {
    bytes = std::min(bytes, max_size_ - std::min(offset, max_size_));
    std::size_t done = 0;
    while (done < bytes) {
      ssize_t const got =
          pread(descriptor_, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(begin_ + offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }
  bool can_read_later() const noexcept override { return closes_; }
  std::size_t next_data(std::size_t offset) const noexcept override {
    off_t const data = lseek(descriptor_, static_cast<off_t>(begin_ + offset), SEEK_DATA);
    if (data >= 0) return static_cast<std::size_t>(data) - begin_;
    return errno == ENXIO && offset < size() ? SIZE_MAX : offset;  // else the file system does not know
  }

 private:
  int const descriptor_;
  bool const closes_;
  std::size_t const begin_, max_size_;
};

std::unique_ptr<RecordingSource> open_bytes(std::string const& path, std::string& error, std::size_t begin,
                                            std::size_t size) {
  int const descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor >= 0) return std::make_unique<FileSource>(descriptor, FileSource::Closes::yes, begin, size);
  error = "could not be opened: " + std::generic_category().message(errno);
  return nullptr;
}

std::unique_ptr<RecordingSource> open_source(std::string const& path, std::string& error) {
  auto const [tar, name] = split_at_tar(path);
  std::shared_ptr<TarFile const> const table = tar.empty() ? nullptr : open_tar(tar);
  TarFile::Member member{0, SIZE_MAX};
  if (table != nullptr) {
    auto const found = table->members().find(name);
    if (found == table->members().end()) return error = "is not in the TAR", nullptr;
    member = found->second;
  }
  auto source = open_bytes(table == nullptr ? path : tar, error, member.offset, member.size);
  if (source == nullptr || !is_gzip(*source)) return source;
  return inflated(std::move(source), error);
}

std::unique_ptr<Recording> read_part(int descriptor, std::size_t begin, std::size_t size, std::string& error) {
  FileSource const file(descriptor, FileSource::Closes::no, begin, size);
  std::uint64_t start_ticks = 0;
  if (file.read(offsetof(internal::RegionHeader, start_ticks), &start_ticks, sizeof(start_ticks)) !=
      sizeof(start_ticks))
    start_ticks = 0;
  auto state = RecordingState::read(file, start_ticks, error);
  return state == nullptr ? nullptr : std::make_unique<Recording>(std::move(state));
}

std::unique_ptr<Recording> Recording::read_bytes(std::string_view bytes, std::string& error) {
  class Bytes final : public RecordingSource {
   public:
    explicit Bytes(std::string_view bytes) noexcept : bytes_(bytes) {}
    std::size_t size() const noexcept override { return bytes_.size(); }
    std::size_t read(std::size_t offset, void* to, std::size_t bytes) const noexcept override {
      return offset > bytes_.size() ? 0 : bytes_.copy(static_cast<char*>(to), bytes, offset);
    }

   private:
    std::string_view bytes_;
  };
  std::unique_ptr<RecordingSource> source = std::make_unique<Bytes>(bytes);
  if (is_gzip(*source)) source = inflated(std::move(source), error);
  return source == nullptr ? nullptr : recording_of(RecordingState::read(*source, 0, error), source, error);
}

std::unique_ptr<Recording> Recording::read_file(std::string const& path, std::string& error) {
  auto file = open_source(path, error);
  return file == nullptr ? nullptr : recording_of(RecordingState::read(file, error), file, error);
}

}}}  // namespace tracing::v1::recording
