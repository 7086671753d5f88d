// Where a region's memory comes from, and what becomes of the recording if there is no more of it.
#include "tracing_core/record/ring/region.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/support/sanitizers.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/record/ring/recording_child.h"

namespace tracing::internal { namespace {

using testing::HasSubstr;
using tracing_test::status_of_child;

constexpr std::size_t kMiB = std::size_t{1} << 20;

// Calls `f(begin, end, is_readable)` for the mappings of this process.
template <class F>
void for_each_mapping(F f) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::size_t end = 0;
    std::uintptr_t const first = std::stoull(line, &end, 16);
    std::uintptr_t const last = std::stoull(line.substr(end + 1), &end, 16);
    f(first, last, line[line.find(' ') + 1] == 'r');
  }
}

std::size_t mapped_bytes() {
  std::size_t bytes = 0;
  for_each_mapping([&](std::uintptr_t begin, std::uintptr_t end, bool) { bytes += end - begin; });
  return bytes;
}

// How many bytes can be read from the region's beginning on.
std::size_t readable_bytes(Region const& region) {
  auto const base = reinterpret_cast<std::uintptr_t>(&region.header());
  std::uintptr_t readable = base;
  for_each_mapping([&](std::uintptr_t begin, std::uintptr_t end, bool is_readable) {
    if (begin <= readable && end > readable && is_readable) readable = end;
  });
  return readable - base;
}

// What RLIMIT_DATA counts.
std::size_t data_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmData:")) return std::stoull(line.substr(7)) * 1024;
  return 0;
}

void set_limit(int resource, std::size_t bytes) {
  rlimit limit{};
  getrlimit(static_cast<__rlimit_resource>(resource), &limit);
  limit.rlim_cur = bytes;
  setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

std::size_t grow_to_the_end(Region& region) {
  std::size_t taken = 0;
  for (std::uint32_t at = 0, count = region.header().usable; taken < count; ++taken) {
    if ((at = region.take()) == Region::kNone) break;
    region.publish(at);
    region.give_back(at);
  }
  return taken;
}

class RegionMemory : public testing::Test {
 protected:
  std::unique_ptr<Region> make(bool in_file, std::size_t bytes) {
    return in_file ? Region::make_file(folder_ / "a.rec", bytes, error_) : Region::make_anonymous(bytes);
  }

  tracing_test::TemporaryFolder const folder_;
  std::error_code error_;
};

// A tool that reads all readable memory, such as the leak check of valgrind, meets neither the end of the file nor
// hundreds of megabytes of zeros.
TEST_F(RegionMemory, CannotBeReadBeforeItIsThere) {
  for (bool const in_file : {false, true}) {
    auto const region = make(in_file, 64 * kMiB);
    ASSERT_NE(region, nullptr);
    for (int groups = 0; groups < 3; ++groups) {
      EXPECT_EQ(in_file ? std::filesystem::file_size(folder_ / "a.rec") : region->size_bytes(), region->size_bytes());
      EXPECT_EQ(readable_bytes(*region), region->size_bytes()) << groups;
      std::size_t const before = region->size_bytes();
      while (region->size_bytes() == before) {
        std::uint32_t const chunk = region->take();
        region->chunk(chunk)[kChunkBytes - 1] = 1;
        region->publish(chunk);
        region->give_back(chunk);
      }
    }
  }
}

TEST_F(RegionMemory, CutsAFileAfterItsLastUsedChunk) {
  auto region = make(true, 64 * kMiB);
  ASSERT_NE(region, nullptr);
  auto const fill = [&region](int count) {
    for (; count > 0; --count) {
      std::uint32_t const chunk = region->take();
      std::memset(region->chunk(chunk), 'x', kChunkBytes);
      region->publish(chunk);
      region->give_back(chunk);
    }
  };
  auto const size = [this] { return std::filesystem::file_size(folder_ / "a.rec"); };
  fill(3);
  region->cut_unused();
  EXPECT_EQ(size(), offset_of_chunk(3));
  EXPECT_EQ(region->size_bytes(), size());
  fill(70);  // it grows again
  EXPECT_EQ(status_of_child([&region] { region->cut_unused(), _exit(0); }), 0);
  EXPECT_EQ(size(), offset_of_chunk(127) + kChunkBytes) << "by a child, while its parent goes on";
  region.reset();
  EXPECT_EQ(size(), offset_of_chunk(73));
}

TEST_F(RegionMemory, KeepsTheHeadsOfAGroupThatItHasBegun) {
  auto region = make(true, 64 * kMiB);
  ASSERT_NE(region, nullptr);
  std::uint32_t last = 0;
  while (region->size_bytes() <= offset_of_head(64)) {
    last = region->take();
    region->publish(last);
    region->give_back(last);
  }
  ASSERT_LT(last, 64u) << "it grew ahead";
  region.reset();
  EXPECT_EQ(std::filesystem::file_size(folder_ / "a.rec"), offset_of_chunk(65));
}

TEST_F(RegionMemory, IsCutWhileThreadsTakeChunks) {
  for (int round = 0; round < 20; ++round) {
    auto const region = make(true, 8 * kMiB);
    ASSERT_NE(region, nullptr);
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&region] {
        for (int n = 0; n < 100; ++n) {
          std::uint32_t const chunk = region->take();
          if (chunk == Region::kNone) continue;
          region->chunk(chunk)[kChunkBytes - 1] = 1;  // a signal if it has no memory
          region->publish(chunk);
          region->give_back(chunk);
        }
      });
    }
    for (int n = 0; n < 100; ++n) region->cut_unused();
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(region->growth_error(), 0);
    std::filesystem::remove(folder_ / "a.rec");
  }
}

// The child of a death test moves it, which must not cost more where its parent has recorded much.
TEST_F(RegionMemory, MovesWithChunksThatHaveOwnersAndTheLastOnes) {
  auto const region = Region::make_anonymous(8 * kMiB);
  ASSERT_NE(region, nullptr);
  auto const fill = [&](std::uint32_t count) {
    for (; count > 0; --count) {
      std::uint32_t const chunk = region->take();
      std::memset(region->chunk(chunk), 'x', kChunkBytes);
      region->publish(chunk);
      if (count > 1) region->give_back(chunk);
    }
  };
  fill(1);
  fill(8 * kMiB / kChunkBytes - 1);
  std::uint32_t const last = region->take();
  region->give_back(last);
  int const descriptor = memfd_create("region", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(descriptor, static_cast<off_t>(region->max_bytes())), 0);
  ASSERT_TRUE(region->move_to(descriptor, 0));
  EXPECT_TRUE(region->has_moved());
  EXPECT_FALSE(region->is_private());
  struct stat status {};
  ASSERT_EQ(fstat(descriptor, &status), 0);
  EXPECT_LT(static_cast<std::size_t>(status.st_blocks) * 512, 2 * kMiB);
  std::uint32_t kept = 0, owned = 0;
  for (std::uint32_t i = 0; i < region->chunk_count(); ++i) {
    kept += region->head(i).generation != 0 ? 1 : 0;
    owned += region->head(i).owned != 0 && region->chunk(i)[kChunkBytes - 1] == 'x' ? 1 : 0;
  }
  EXPECT_EQ(owned, 2u);
  EXPECT_GE(kept, 16u);
  close(descriptor);
}

TEST_F(RegionMemory, TakesFewAddressesForASmallLimit) {
  for (bool const in_file : {false, true}) {
    std::size_t const before = mapped_bytes();
    auto const region = make(in_file, kMiB);
    EXPECT_LT(mapped_bytes() - before, 24 * kMiB);
  }
}

TEST_F(RegionMemory, TakesAQuarterOfTheAddressesThatAreAllowed) {
  if (TESTLOG_ASAN != 0 || TESTLOG_TSAN != 0) GTEST_SKIP() << "sanitizers need more addresses";
  for (bool const in_file : {false, true}) {
    int const status = status_of_child([&] {
      std::size_t const before = mapped_bytes();
      std::size_t const allowed = before + 40 * kMiB;
      set_limit(RLIMIT_AS, allowed);
      auto const region = make(in_file, 64 * kMiB);
      if (region == nullptr) _exit(1);
      if (mapped_bytes() - before > allowed / 4 + kMiB || region->growth_error() != ENOMEM) _exit(2);
      _exit(grow_to_the_end(*region) < 64 ? 3 : 0);
    });
    EXPECT_EQ(status, 0) << in_file;
  }
}

TEST_F(RegionMemory, IsSmallRatherThanNone) {
  if (TESTLOG_ASAN != 0 || TESTLOG_TSAN != 0) GTEST_SKIP() << "sanitizers need more addresses";
  int const status = status_of_child([&] {
    set_limit(RLIMIT_AS, mapped_bytes() + 3 * kMiB);
    auto const region = make(false, 64 * kMiB);
    _exit(region != nullptr && grow_to_the_end(*region) >= 16 ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
}

// RLIMIT_DATA counts what can be written, whether it is used or not.
TEST_F(RegionMemory, GoesRoundWhereDataIsLimited) {
  if (TESTLOG_ASAN != 0 || TESTLOG_TSAN != 0) GTEST_SKIP() << "sanitizers need more memory";
  int const status = status_of_child([&] {
    set_limit(RLIMIT_DATA, data_bytes() + 8 * kMiB);
    auto const region = make(false, 64 * kMiB);
    if (region == nullptr) _exit(1);
    if (region->growth_error() != 0) _exit(2);
    if (grow_to_the_end(*region) != region->header().usable) _exit(3);
    _exit(region->growth_error() == ENOMEM && region->chunk_count() >= 64 ? 0 : 4);
  });
  EXPECT_EQ(status, 0);
}

TEST_F(RegionMemory, UsesWhatAFileOfLimitedSizeHasRoomFor) {
  constexpr std::size_t kRoom = offset_of_chunk(20) + 100;  // in the middle of a group, and of a chunk
  set_limit(RLIMIT_FSIZE, kRoom);
  auto const region = make(true, 64 * kMiB);
  ASSERT_NE(region, nullptr) << error_.message();
  EXPECT_EQ(region->growth_error(), 0);
  EXPECT_EQ(grow_to_the_end(*region), region->header().usable);
  set_limit(RLIMIT_FSIZE, RLIM_INFINITY);
  EXPECT_EQ(region->chunk_count(), 20u);
  EXPECT_EQ(what_bounds(region->growth_error()), "the recording could not grow: File too large (ulimit -f)");
}

TEST_F(RegionMemory, SaysThatItsDescriptorWasClosed) {
  auto const region = make(true, 64 * kMiB);
  for (auto const& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (std::filesystem::read_symlink(entry.path(), ignored) == folder_ / "a.rec")
      close(std::stoi(entry.path().filename()));
  }
  EXPECT_EQ(grow_to_the_end(*region), region->header().usable);
  EXPECT_EQ(region->chunk_count(), 4u);
  EXPECT_EQ(what_bounds(region->growth_error()), "the recording could not grow: its descriptor was closed");
  EXPECT_EQ(what_bounds(0), "TRACE_RECORD_LIMIT");
  EXPECT_THAT(what_bounds(ENOSPC), HasSubstr("No space left on device"));
}

TEST_F(RegionMemory, GrowsInAForkedChildAlthoughAThreadOfTheParentWasGrowingIt) {
  if (TESTLOG_TSAN != 0) GTEST_SKIP() << "ThreadSanitizer allows no threads while the process forks";
  for (int i = 0; i < 100; ++i) {
    auto const region = make(false, 64 * kMiB);
    std::atomic<bool> has_begun{false};
    std::thread growing([&] {
      has_begun = true;
      grow_to_the_end(*region);
    });
    while (!has_begun) {
    }
    int const status = status_of_child([&] {
      region->end_growth_of_parent();
      grow_to_the_end(*region);
      _exit(region->chunk_count() == region->header().usable ? 0 : 1);
    });
    growing.join();
    ASSERT_EQ(status, 0) << i;
  }
}

// As a program that sandboxes itself may do.
bool refuse(std::vector<long> const& calls) {
  std::vector<sock_filter> code{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (long const call : calls) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_F(RegionMemory, GoesRoundWhereAFilterRefusesSystemCalls) {
  if (TESTLOG_ASAN != 0 || TESTLOG_TSAN != 0) GTEST_SKIP() << "sanitizers need these calls";
  std::vector<std::vector<long>> const all{{SYS_pwrite64},
                                           {SYS_mprotect},
                                           {SYS_fstat, SYS_newfstatat},
                                           {SYS_fstat, SYS_newfstatat, SYS_pwrite64, SYS_mprotect, SYS_rt_sigprocmask}};
  for (auto const& calls : all) {
    int const status = status_of_child([&] {
      auto const region = make(true, 64 * kMiB);
      if (region == nullptr) _exit(1);
      if (!refuse(calls)) _exit(2);
      if (grow_to_the_end(*region) != region->header().usable) _exit(3);
      _exit(region->growth_error() == EPERM && region->chunk_count() == 4 ? 0 : 4);
    });
    std::filesystem::remove(folder_ / "a.rec");
    if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "no filters of system calls";
    EXPECT_EQ(status, 0) << calls.front();
  }
}

// ---- whose file it is ----

class RegionFile : public RegionMemory {
 protected:
  std::string const path_ = folder_ / "a.rec";
};

TEST_F(RegionFile, IsForItsUserAlone) {
  mode_t const before = umask(0);
  auto const region = make(true, kMiB);
  umask(before);
  EXPECT_EQ(std::filesystem::status(path_).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(RegionFile, TakesThePlaceOfWhatOthersPutThere) {
  namespace fs = std::filesystem;
  std::string const victim = folder_.write("victim", "");
  auto const expect_replaced = [&](char const* what) {
    auto const region = Region::make_file(path_, kMiB, error_, Region::Existing::replace);
    EXPECT_NE(region, nullptr) << what << ": " << error_.message();
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path_))) << what;
    EXPECT_EQ(fs::file_size(victim), 0u) << what;
    fs::remove(path_);
  };
  fs::create_symlink(victim, path_);
  expect_replaced("a link");
  fs::create_symlink(folder_ / "missing", path_);
  expect_replaced("a dangling link");
  EXPECT_FALSE(fs::exists(folder_ / "missing"));
  fs::create_hard_link(victim, path_);
  expect_replaced("a second name");
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  expect_replaced("a pipe");
  if (geteuid() != 0) return;
  int const theirs = open(folder_.write("a.rec", "").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(chown(path_.c_str(), 65534, 65534), 0);
  expect_replaced("an empty file of another user, who has it open");
  char byte = 0;
  EXPECT_EQ(read(theirs, &byte, 1), 0);
  close(theirs);
}

TEST_F(RegionFile, LeavesWhatIsThereIfItIsToBeKept) {
  std::filesystem::create_symlink(folder_.write("victim", ""), path_);
  EXPECT_EQ(make(true, kMiB), nullptr);
  EXPECT_EQ(error_.value(), ELOOP);
  std::filesystem::remove(path_);
  folder_.write("a.rec", "content");
  EXPECT_EQ(make(true, kMiB), nullptr);
  EXPECT_EQ(error_, std::errc::file_exists);
  EXPECT_EQ(folder_.read("a.rec"), "content");
}

}}  // namespace tracing::internal
