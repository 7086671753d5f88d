#include "testlog/capture/death_tests.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "tracing_core/record/decode/recording_state.h"
#include "tracing_core/record/spans.h"
#include "tracing_core/support/fork.h"
#include "tracing_core/support/open_file.h"
#include "tracing_core/support/scoped_no_cancellation.h"

namespace testlog { inline namespace v1 {
namespace {

using tracing::Instant;
using tracing::Metadata;
using tracing::Parent;
using tracing::Track;
using tracing::Value;
using tracing::internal::ChunkWriter;
using tracing::internal::NewRecord;
using tracing::recording::Entry;
using tracing::recording::EntryType;
using tracing::recording::Recording;

constexpr char kFileName[] = "testlog-death-tests";
constexpr std::uint64_t kWriterTrack = tracing::internal::kMarksTrack - 1;

// The last record of a child's thread, so that it says where the thread was.
constexpr char kEndText[] = "endtestlogmessage";
constexpr tracing::internal::FieldEntry kEndFields[] = {tracing::internal::field_entry(10, "message", 7, 0)};
constexpr Metadata kEnd([] {
  tracing::internal::MetadataParts parts;
  parts.text = kEndText;
  parts.name_size = 3;
  parts.target_size = 7;
  parts.fields = kEndFields;
  parts.field_count = 1;
  parts.value_count = 1;
  parts.level = tracing::Level::info;
  parts.max_level = tracing::LevelFilter::trace;
  return parts;
}());

void describe_as_death_tests(ChunkWriter& writer) noexcept { writer.describe_thread("death tests"); }

// Copies the records of a child. Each copy names its track and its time, since another thread made the record.
class Copy {
 public:
  Copy(ChunkWriter& writer, Recording& child, std::size_t number, std::uint64_t& next_track)
      : writer_(writer), child_(child), name_("child " + std::to_string(number)), next_track_(next_track) {}

  void run() {
    child_.for_each([this](Entry const& entry) {
      spans_.follow(entry);
      bool const is_of_child = !entry.is_context && !entry.is_restated();
      if (is_of_child && entry.type != EntryType::mark) add(entry);
    });
    for (auto const& track : child_.tracks()) say_where_it_ended(track);
    for (auto& [number, thread] : threads_) {
      while (!thread.entered.empty()) exit(thread, thread.entered.back());
    }
    for (; !open_.empty(); open_.pop_back())
      write(record(EntryType::close, *open_.back().site, *last_), open_.back().key);
  }

 private:
  // A span in the copy.
  struct Span {
    std::uint64_t key;
    Metadata const* site;
    friend bool operator==(Span const&, Span const&) = default;
  };
  struct Thread {
    Track track() const noexcept { return {number, name}; }

    std::uint64_t number;
    std::string name;
    Instant last{};  // the time of its last record
    std::vector<Span> entered{};
  };

  Thread& thread_of(Entry const& entry) {
    auto const found = threads_.find(entry.track);
    if (found != threads_.end()) return found->second;
    std::string name = name_;
    if (!threads_.empty()) {
      std::string const own(entry.track_name);
      name += ": " + (own.empty() ? "thread " + std::to_string(entry.track) : own);
    }
    return threads_.emplace(entry.track, Thread{next_track_++, std::move(name)}).first->second;
  }

  // All parents are explicit.
  static NewRecord record(EntryType type, Metadata const& site, Thread const& thread, Value const* values = nullptr,
                          std::uint64_t parent = 0) noexcept {
    auto const kind = static_cast<std::uint8_t>(parent == 0 ? Parent::Kind::root : Parent::Kind::span);
    return {.type = type,
            .metadata = &site,
            .values = values,
            .flags = static_cast<std::uint8_t>(tracing::internal::kForeign | kind),
            .track = thread.number,
            .time_ns = thread.last.ns};
  }
  template <class... Keys>
  void write(NewRecord record, Keys... keys) noexcept {
    (record.refer_to(keys), ...);
    writer_.write(record, describe_as_death_tests);
  }

  // A span that was open when the child began begins in the copy where it is first needed.
  Span copy_of(tracing::recording::Span const& span) {
    if (auto const found = spans_in_copy_.find(span.key); found != spans_in_copy_.end()) return found->second;
    std::uint64_t const parent = span.parent == nullptr ? 0 : copy_of(*span.parent).key;
    Span copy{0, span.metadata};
    auto const begin = [&](Value const* values) {
      copy.key = writer_.next_key();
      NewRecord begun = record(EntryType::new_span, *span.metadata, *last_, values, parent);
      parent == 0 ? write(begun, copy.key) : write(begun, copy.key, parent);
    };
    span.values.for_each_group(*span.metadata, [&](tracing::FieldValues const& values) {
      if (copy.key == 0) return begin(values.statement_values());
      write(record(EntryType::values, *span.metadata, *last_, values.statement_values()), copy.key);
    });
    if (copy.key == 0) begin(nullptr);
    spans_in_copy_[span.key] = copy;
    open_.push_back(copy);
    return copy;
  }

  void exit(Thread& thread, Span span) {
    auto const found = std::find(thread.entered.rbegin(), thread.entered.rend(), span);
    if (found == thread.entered.rend()) return;  // the thread entered the span before the fork
    thread.entered.erase(std::next(found).base());
    write(record(EntryType::exit, *span.site, thread), span.key);
  }
  void close(Thread const& thread, Span span) {
    write(record(EntryType::close, *span.site, thread), span.key);
    std::erase(open_, span);
  }
  void add_event(Thread const& thread, Metadata const& site, Value const* values, std::uint64_t parent) {
    NewRecord const event = record(EntryType::event, site, thread, values, parent);
    parent == 0 ? write(event) : write(event, parent);
  }

  void add(Entry const& entry) {
    Thread& thread = thread_of(entry);
    last_ = &thread;
    thread.last = entry.time;
    writer_.describe_foreign_track(thread.track());
    tracing::recording::Span const* const around = spans_.current();
    if (entry.type == EntryType::event)
      return add_event(thread, *entry.metadata, entry.values, around == nullptr ? 0 : copy_of(*around).key);
    if (around == nullptr) return;
    bool const is_values = entry.type == EntryType::values && spans_in_copy_.contains(around->key);
    Span const span = copy_of(*around);
    if (enters_span(entry.type)) {
      write(record(EntryType::enter, *span.site, thread), span.key);
      thread.entered.push_back(span);
    }
    // copy_of() has already written these values if it has just added the span to the copy.
    if (is_values) write(record(EntryType::values, *entry.metadata, thread, entry.values), span.key);
    if (leaves_span(entry.type)) exit(thread, span);
    if (ends_span(entry.type)) close(thread, span);
  }

  void say_where_it_ended(tracing::recording::TrackSummary const& track) {
    auto const thread = threads_.find(track.thread.number);
    if (thread == threads_.end() || track.open.empty()) return;
    auto const innermost = spans_in_copy_.find(track.open.back());
    if (innermost == spans_in_copy_.end()) return;
    Value const message = Value::of_text("the process ended here");
    writer_.describe_foreign_track(thread->second.track());
    add_event(thread->second, kEnd, &message, innermost->second.key);
  }

  ChunkWriter& writer_;
  Recording& child_;
  std::string const name_;
  std::uint64_t& next_track_;
  tracing::recording::Spans spans_;
  std::unordered_map<std::uint64_t, Span> spans_in_copy_;  // by their key in the child
  std::vector<Span> open_;                                 // in the copy
  std::unordered_map<std::uint64_t, Thread> threads_;      // by their number in the child
  Thread const* last_ = nullptr;                           // the thread of the last record
};

// Takes or releases a lock that belongs to this process alone, unlike flock(2): processes that a child forks do not
// hold it. Returns false if another process holds it.
bool set_lock(int descriptor, short type) noexcept {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return fcntl(descriptor, F_SETLK, &lock) == 0;
}

// The parent gets the lock only while no child is alive, so it never empties a file in which a child records.
class ParentsLock {
 public:
  explicit ParentsLock(int descriptor) noexcept : descriptor_(descriptor), is_held_(set_lock(descriptor, F_WRLCK)) {}
  ParentsLock(ParentsLock const&) = delete;
  ParentsLock& operator=(ParentsLock const&) = delete;
  ~ParentsLock() {
    if (is_held_) set_lock(descriptor_, F_UNLCK);
  }
  bool is_held() const noexcept { return is_held_; }

 private:
  int const descriptor_;
  bool const is_held_;
};

}  // namespace

void DeathTests::open() noexcept {
  descriptor_ = memfd_create(kFileName, MFD_CLOEXEC);
  identity_ = tracing::support::file_identity(descriptor_);
}

std::string DeathTests::own_file() const {
  bool const is_there = descriptor_ >= 0 && tracing::support::file_identity(descriptor_) == identity_;
  return is_there ? "/proc/self/fd/" + std::to_string(descriptor_) : std::string();
}

// Looks through the descriptors of the parent, which does not pass the number: programs may look at their variables and
// arguments.
std::string DeathTests::file_of_parent() {
  std::string const folder = "/proc/" + std::to_string(getppid()) + "/fd";
  DIR* const all = opendir(folder.c_str());
  if (all == nullptr) return {};
  std::string found;
  while (dirent const* const entry = readdir(all)) {
    std::array<char, 64> target{};
    std::string const path = folder + "/" + entry->d_name;
    ssize_t const size = readlink(path.c_str(), target.data(), target.size());
    if (size > 0 &&
        std::string_view(target.data(), static_cast<std::size_t>(size)).starts_with(std::string("/memfd:") + kFileName))
      found = path;
  }
  closedir(all);
  return found;
}

bool DeathTests::move(tracing::internal::Region& region, bool threadsafe) noexcept {
  tracing::support::ScopedNoCancellation const no_cancellation;  // the caller is any thread of the program
  try {
    rlimit limit{};  // beyond it, ftruncate(2) would raise a signal
    bool const is_bound = getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < kMaxChildren * kBytesOfChild;
    std::string const path = is_bound ? std::string() : threadsafe ? file_of_parent() : own_file();
    int const descriptor = path.empty() ? -1 : ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return false;
    struct stat status {};
    bool is_moved = false;
    if (set_lock(descriptor, F_WRLCK) && fstat(descriptor, &status) == 0 && region.max_bytes() <= kBytesOfChild) {
      std::size_t const place = std::min(static_cast<std::size_t>(status.st_size) / kBytesOfChild, kMaxChildren - 1);
      auto const begin = static_cast<off_t>(place * kBytesOfChild);
      // Empties the last place if it is taken.
      bool const is_empty =
          ftruncate(descriptor, begin) == 0 && ftruncate(descriptor, begin + off_t{kBytesOfChild}) == 0;
      is_moved = is_empty && region.move_to(descriptor, static_cast<std::size_t>(begin));
    }
    if (!is_moved) close(descriptor);  // if moved, the file stays locked until the process ends
    return is_moved;
  } catch (...) {
    return false;
  }
}

std::size_t DeathTests::children() const noexcept {
  struct stat status {};
  if (descriptor_ < 0 || fstat(descriptor_, &status) != 0 || status.st_size == 0) return 0;
  bool const is_ours = tracing::support::file_identity(descriptor_) == identity_;
  return is_ours ? static_cast<std::size_t>(status.st_size) / kBytesOfChild : 0;
}

// A forked child must not read or empty the file, which may be its own memory.
bool DeathTests::is_child() const noexcept { return forks_when_made_ != tracing::support::fork_count(); }

void DeathTests::collect() {
  if (is_child()) return;
  tracing::support::MutexLock const lock(mutex_);
  std::size_t const count = children();
  if (count == 0) return;
  ParentsLock const file(descriptor_);
  if (!file.is_held()) return;
  for (std::size_t i = 0; i < count && collected_.size() < kMaxCollected; ++i) {
    std::string error;
    auto recording = tracing::recording::read_part(descriptor_, i * kBytesOfChild, kBytesOfChild, error);
    if (recording != nullptr) collected_.push_back(std::move(recording));
  }
  (void)!ftruncate(descriptor_, 0);
}

void DeathTests::add_to(tracing::internal::RecordStore const& store) {
  if (is_child()) return;
  collect();
  tracing::support::MutexLock const lock(mutex_);
  if (collected_.empty()) return;
  if (!parts_) {
    parts_.emplace(store.parts());
    parts_->tag_of_thread = nullptr;  // the copies belong to the running test
    writer_.start(*parts_, kWriterTrack, 0, describe_as_death_tests);
    (void)writer_.begin_chunk(describe_as_death_tests);  // for the names of the tracks
  }
  std::size_t number = 0;
  for (auto& recording : collected_) {
    Copy(writer_, *recording, ++number, next_track_).run();
    copied_.push_back(std::move(recording));
  }
  collected_.clear();
}

void DeathTests::forget() noexcept {
  if (is_child()) return;
  tracing::support::MutexLock const lock(mutex_);
  collected_.clear();
  if (children() == 0) return;
  ParentsLock const file(descriptor_);
  if (file.is_held()) (void)!ftruncate(descriptor_, 0);
}

}}  // namespace testlog::v1
