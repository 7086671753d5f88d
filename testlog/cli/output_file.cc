#include "testlog/cli/output_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>

namespace testlog::cli {
namespace {

constexpr int kMostLinks = 40;  // as the system follows
constexpr int kMostNames = 1000;
constexpr std::size_t kMostAdded = 40;  // to a name
constexpr int kEndingSignals[] = {SIGHUP, SIGINT, SIGTERM};

std::error_code last_error() noexcept { return {errno, std::generic_category()}; }

std::size_t name_begin(std::string const& path) noexcept { return path.rfind('/') + 1; }
std::string folder_of(std::string const& path) {
  std::size_t const name = name_begin(path);
  return name == 0 ? "." : path.substr(0, name);
}

// The links of /proc name open files, which others may write to: what a shell opened for `> run.svg` is not to lose its name.
bool is_in_proc(std::string const& path) noexcept {
  struct statfs system {};
  return statfs(folder_of(path).c_str(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

// The path behind all links, where nothing need be; empty where a link names an open file, or itself.
std::string behind_links(std::string path) {
  for (int links = 0; links < kMostLinks; ++links) {
    char named[PATH_MAX];
    ssize_t const size = readlink(path.c_str(), named, sizeof(named));
    if (size < 0) return path;
    if (is_in_proc(path)) return {};
    std::string const link(named, static_cast<std::size_t>(size));
    path = link.starts_with('/') ? link : path.substr(0, name_begin(path)) + link;
  }
  return {};
}

bool is_mounted_by_itself(std::string const& path) noexcept {
  struct statx what {};
  return statx(AT_FDCWD, path.c_str(), 0, STATX_TYPE, &what) == 0 && (what.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

// The file that another can replace by a rename; empty: there is none, and it is opened as it is.
std::string replaceable(std::string const& path) {
  struct stat what {};
  bool const is_there = stat(path.c_str(), &what) == 0;
  if (is_there && !S_ISREG(what.st_mode)) return {};
  std::string target = behind_links(path);
  if (!is_there || target.empty()) return target;
  bool const is_fixed = access(folder_of(target).c_str(), W_OK | X_OK) != 0 || is_mounted_by_itself(target);
  return is_fixed ? std::string() : target;
}

// ---- what a signal removes ----

char const* volatile unfinished = nullptr;

void remove_and_end(int signal) {
  if (char const* const path = unfinished) unlink(path);
  raise(signal);  // which now does what it does to others
}

// Those that are ignored, as under nohup, remain so.
void remove_at_end(std::string const& path) noexcept {
  unfinished = path.c_str();
  for (int const signal : kEndingSignals) {
    struct sigaction before {};
    if (sigaction(signal, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_handler = remove_and_end;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    sigaction(signal, &action, nullptr);
  }
}

// ---- the file beside ----

// As the older file; what this process may not do is left undone.
bool take_after(int file, struct stat const& older) noexcept {
  if (fchown(file, older.st_uid, older.st_gid) != 0) (void)!fchown(file, static_cast<uid_t>(-1), older.st_gid);
  return fchmod(file, older.st_mode & 07777) == 0;
}

// Some file systems cannot.
bool bring_to_disk(int file) noexcept {
  return fsync(file) == 0 || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
}

}  // namespace

OutputFile::OutputFile(std::string const& path) {
  if (path != "-") target_ = replaceable(path);
  if (!target_.empty()) {
    open_beside();
    return;
  }
  file_ = path == "-" ? dup(STDOUT_FILENO) : open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) error_ = last_error();
}

OutputFile::~OutputFile() { give_up(); }

bool OutputFile::replaces(std::string const& path) { return path != "-" && !replaceable(path).empty(); }

void OutputFile::open_beside() {
  struct stat older {};
  int const there = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  is_older_ = there >= 0 && fstat(there, &older) == 0;
  error_ = there < 0 && errno != ENOENT ? last_error() : std::error_code();  // one that may not be written to stays
  if (there >= 0) close(there);
  if (error_) return;
  std::size_t const room = name_begin(target_) + NAME_MAX - kMostAdded;
  std::string const stem = target_.substr(0, std::min(target_.size(), room)) + "." + std::to_string(getpid());
  for (int i = 1; i < kMostNames && file_ < 0; ++i) {
    part_ = stem + (i == 1 ? "" : "." + std::to_string(i)) + ".part";
    file_ = open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, is_older_ ? 0600 : 0666);
    if (file_ < 0 && errno != EEXIST) break;
  }
  if (file_ < 0) {
    error_ = last_error();
    return part_.clear();
  }
  remove_at_end(part_);
  if (is_older_ && !take_after(file_, older)) error_ = last_error();
}

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
  // Of what is replaced nothing is left but this.
  if (is_older_ && !error_ && !bring_to_disk(file_)) error_ = last_error();
  // Some file systems tell only now that there was no room.
  if (file_ >= 0 && close(file_) != 0 && !error_) error_ = last_error();
  file_ = -1;
  if (!part_.empty() && !error_) {
    if (rename(part_.c_str(), target_.c_str()) == 0) {
      unfinished = nullptr;
      part_.clear();
    } else {
      error_ = last_error();
    }
  }
  give_up();
  return error_;
}

void OutputFile::give_up() noexcept {
  if (file_ >= 0) close(file_);
  file_ = -1;
  if (part_.empty()) return;
  unlink(part_.c_str());
  unfinished = nullptr;
  part_.clear();
}

}  // namespace testlog::cli
