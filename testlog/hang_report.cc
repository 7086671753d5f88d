// The report of a process that does not go on: StateReport::write_hang().
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "testlog/state_report.h"
#include "tracing_core/internal/span_clock.h"

namespace testlog::inline v1 {
namespace {

constexpr std::size_t kMaxSpans = 32;  // of a thread, the innermost ones
constexpr std::size_t kLastRecords = 10;  // of a thread
constexpr std::size_t kBeginBytes = 64;   // for when a span began

// The letter of proc_pid_stat(5); 0 if the thread has ended.
char state_of(std::int64_t os_thread) noexcept {
  char path[64] = {};
  char digits[20];
  std::size_t count = 0;
  for (auto number = static_cast<std::uint64_t>(os_thread); number != 0; number /= 10)
    digits[count++] = static_cast<char>('0' + number % 10);
  char* at = path + std::string_view("/proc/self/task/").copy(path, sizeof(path));
  at = std::reverse_copy(digits, digits + count, at);
  std::string_view("/stat").copy(at, 5);
  int const file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[256];
  ssize_t const size = read(file, text, sizeof(text));
  close(file);
  std::string_view const line(text, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  std::size_t const name_end = line.rfind(')');  // the name may contain any character
  return name_end == line.npos || name_end + 2 >= line.size() ? 0 : line[name_end + 2];
}

}  // namespace

// False if the thread has ended.
bool StateReport::add_state_of_thread(std::int64_t os_thread) noexcept {
  if (os_thread == syscall(SYS_gettid)) return true;  // it is busy writing this
  char const state = state_of(os_thread);
  if (state == 'R') line_ << ", running,";
  if (state == 'S' || state == 'D') line_ << ", waiting,";
  if (state == 0) line_ << " has ended";
  return state != 0;
}

void StateReport::write_spans_of_thread(Session& session) noexcept {
  std::size_t const depth = std::min(reader_->depth(), kMaxSpans);
  if (depth < reader_->depth() || reader_->has_more_spans()) {
    line_ << "    (more spans around these)";
    line_.write_to(session.output());
  }
  for (std::size_t i = depth; i > 0; --i) {
    using Begin = DyingReader::Begin;
    Begin const begin = reader_->begin_of_span(i - 1);
    line_ << "    ";
    line_.set_reader(reader_);
    line_.add_span(reader_->span(i - 1), line_.room() - kBeginBytes,
                   [this, i](auto&& f) { reader_->for_each_group(i - 1, f); });
    line_.set_reader(nullptr);
    line_ << (begin.kind == Begin::made ? ", made " : ", entered ");
    if (begin.kind == Begin::before) line_ << "more than ";
    line_.add_duration(tracing::internal::ns_between(begin.ticks, reader_->until_ticks()));
    line_ << " ago";
    line_.write_to(session.output());
  }
}

void StateReport::write_last_records(Session& session, std::size_t track, std::uint64_t since_ticks,
                                     std::size_t count) noexcept {
  if (!reader_->go_to_end_of(track)) return;
  bool is_first = true;
  for (std::size_t i = 0; reader_->next(); ++i) {
    if (i + kLastRecords < count || reader_->ticks() < since_ticks) continue;
    if (is_first) {
      line_ << "   its last records:";
      line_.write_to(session.output());
      is_first = false;
    }
    line_ << "    ";
    write_record(session);
  }
  if (!is_first || since_ticks == 0) return;
  line_ << "   no records since the last report";
  line_.write_to(session.output());
}

void StateReport::write_thread(Session& session, std::size_t track, std::uint64_t since_ticks) noexcept {
  if (!reader_->go_to_end_of(track)) return;
  std::size_t count = 0;
  while (reader_->next()) ++count;
  reader_->go_to_open_spans(track);
  line_ << "  ";
  line_.add_thread(reader_->track(), reader_->os_thread());
  bool const is_alive = add_state_of_thread(reader_->os_thread());
  if (is_alive) line_ << (reader_->depth() == 0 ? " is in no span" : " is in");
  line_.write_to(session.output());
  if (is_alive) write_spans_of_thread(session);
  write_last_records(session, track, since_ticks, count);
}

void StateReport::write_hang(Session& session, HangInfo const& info) noexcept {
  line_.set_kind("hang_report");
  line_ << "---- " << info.cause << ": " << info.before;
  line_.add_text(info.name);
  line_ << ", for ";
  line_.add_duration(info.duration_ns);
  line_ << ": what each thread is doing ----";
  line_.write_to(session.output());
  if (session.capture().recording() != nullptr && reader_ != nullptr) {
    std::size_t const tracks = reader_->find_tracks(*session.capture().recording(), info.begin_ticks);
    bool const skips_tracks = reader_->skips_tracks();
    for (std::size_t i = 0; i < tracks; ++i) write_thread(session, i, info.since_ticks);
    line_ << (tracks == 0     ? "  no thread has recorded anything"
              : skips_tracks ? "  (further threads are not shown)"
                              : "");
  } else {
    line_ << "  nothing is recorded: " << (session.capture().recording() == nullptr ? session.capture().why_nothing() : "there was no memory");
  }
  line_.write_unless_empty(session.output());
  if (section_ != nullptr) section_(line_, session.output());
  write_path_of_recording(session);
  line_ << "---- end of the report ----";
  line_.write_to(session.output());
}

}  // namespace testlog::inline v1
