// Where the bytes of a recording come from.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "tracing_core/record/racing_copy.h"
#include "tracing_core/record/reader_parts.h"
#include "tracing_core/record/region.h"

namespace tracing::inline v1::internal {

std::unique_ptr<Recording> Recording::read_region(Region const& region, std::uint64_t from_ticks) {
  class Memory final : public Source {
   public:
    explicit Memory(Region const& region) noexcept
        : region_(region), base_(reinterpret_cast<char const*>(&region.header())) {}
    std::size_t size() const noexcept override { return region_.size_bytes(); }
    std::size_t read(std::size_t offset, void* to, std::size_t bytes) const noexcept override {
      std::size_t const size = region_.size_bytes();  // it may grow meanwhile
      bytes = std::min(bytes, size - std::min(offset, size));
      copy_racing(base_ + offset, static_cast<char*>(to), bytes);
      std::atomic_thread_fence(std::memory_order_acquire);
      return bytes;
    }

   private:
    Region const& region_;
    char const* base_;
  };
  std::string error;
  return read(Memory(region), from_ticks, error);
}

std::unique_ptr<Recording> Recording::read_bytes(std::string_view bytes, std::string& error) {
  class Bytes final : public Source {
   public:
    explicit Bytes(std::string_view bytes) noexcept : bytes_(bytes) {}
    std::size_t size() const noexcept override { return bytes_.size(); }
    std::size_t read(std::size_t offset, void* to, std::size_t bytes) const noexcept override {
      return offset > bytes_.size() ? 0 : bytes_.copy(static_cast<char*>(to), bytes, offset);
    }

   private:
    std::string_view bytes_;
  };
  return read(Bytes(bytes), 0, error);
}

std::unique_ptr<Recording::Source> Recording::open_file(std::string const& path, std::string& error) {
  class File final : public Source {
   public:
    explicit File(int descriptor) noexcept : descriptor_(descriptor) {}
    File(File const&) = delete;
    File& operator=(File const&) = delete;
    ~File() override { close(descriptor_); }
    std::size_t size() const noexcept override {
      struct stat status {};
      return fstat(descriptor_, &status) == 0 ? static_cast<std::size_t>(std::max<off_t>(status.st_size, 0)) : 0;
    }
    std::size_t read(std::size_t offset, void* to, std::size_t bytes) const noexcept override {
      std::size_t done = 0;
      while (done < bytes) {
        ssize_t const got =
            pread(descriptor_, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += static_cast<std::size_t>(got);
      }
      return done;
    }
    std::size_t next_data(std::size_t offset) const noexcept override {
      off_t const data = lseek(descriptor_, static_cast<off_t>(offset), SEEK_DATA);
      if (data >= 0) return static_cast<std::size_t>(data);
      return errno == ENXIO && offset < size() ? SIZE_MAX : offset;  // else the file system does not know
    }

   private:
    int const descriptor_;
  };
  int const descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor >= 0) return std::make_unique<File>(descriptor);
  error = "could not be opened: " + std::generic_category().message(errno);
  return nullptr;
}

std::unique_ptr<Recording> Recording::read_file(std::string const& path, std::string& error) {
  auto const file = open_file(path, error);
  return file == nullptr ? nullptr : read(*file, 0, error);
}

}  // namespace tracing::inline v1::internal
