#include "tracing_core/environment/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "tracing_core/environment/file_names.h"
#include "tracing_core/environment/thread_labels.h"
#include "tracing_core/model/text_escape.h"
#include "tracing_core/support/fork.h"
#include "tracing_core/support/open_file.h"
#include "tracing_core/support/short_text.h"

namespace tracing { inline namespace v1 { namespace environment {
namespace {

int duplicate(int descriptor) noexcept { return fcntl(descriptor, F_DUPFD_CLOEXEC, 3); }

}  // namespace

std::string_view without_frame(std::string_view text) noexcept {
  constexpr std::string_view kBegin = "---- ", kEnd = " ----";
  text = trimmed(text, " \n");
  if (text.starts_with(kBegin)) text.remove_prefix(kBegin.size());
  if (text.ends_with(kEnd)) text.remove_suffix(kEnd.size());
  return text;
}

void Output::open(std::string const& destination, bool is_json, bool is_json_stream) {
  fork_count_ = fork_count();
  has_json_records_ = is_json;
  if (destination == "stderr" || destination == "stdout") {
    int const descriptor = duplicate(destination == "stdout" ? STDOUT_FILENO : STDERR_FILENO);
    blocks_signals_ = internal::may_raise_signal(descriptor);
    use(descriptor);
    is_json_file_ = is_json && is_json_stream && !is_terminal();
    return;
  }
  path_ = destination;
  is_json_file_ = is_json;
  standard_error_ = duplicate(STDERR_FILENO);
  standard_error_identity_ = file_identity(standard_error_);
  changes_with_tests_ = destination.find("%t") != destination.npos;
  open_path({});
  // A descriptor that becomes another file later may then raise a signal.
  blocks_signals_ = changes_with_tests_ || internal::may_raise_signal(this->descriptor());
}

// Takes ownership of the descriptor.
void Output::use(int descriptor) noexcept {
  if (descriptor_ < 0 || !lines_.is_still(descriptor_)) {
    descriptor_ = descriptor;
  } else if (descriptor >= 0) {
    dup3(descriptor, descriptor_, O_CLOEXEC);  // in place, since another thread may be writing
    close(descriptor);
  }
  lines_.opened(descriptor_);
}

void Output::open_path(std::string_view test) {
  std::string const path = filled_in(path_, test.empty() ? outside_tests_ : test);
  int const opened = open_to_append(path.c_str(), name_kind(path_));
  int const error = opened < 0 ? errno : 0;
  use(error == 0 ? opened : duplicate(standard_error_));
  if (error == 0) return lines_.check_file(path);
  changes_with_tests_ = false;
  is_json_file_ = false;
  reported_ = true;
  write_note("report", "testlog: TRACE_OUTPUT=" + path +
                           ": could not be opened: " + why_not_opened({error, std::generic_category()}) +
                           "; expected stderr, stdout or a path that can be written to\n");
}

void Output::set_test(std::string_view test) {
  if (descriptor() >= 0) lines_.check_still(descriptor());
  if (changes_with_tests_) open_path(test);
}

int Output::write_lines(std::string_view lines, internal::Turns turns) noexcept {
  count_write();
  int const error_before = errno;
  int const descriptor = this->descriptor();
  int const error = descriptor < 0 ? 0 : lines_.write(descriptor, blocks_signals_, lines, turns);
  errno = error_before;
  return error;
}

void Output::write(std::string_view lines) noexcept {
  if (int const error = write_lines(lines, internal::Turns::take)) [[unlikely]]
    report_once(error);
}

std::string Output::note(std::string_view kind, std::string_view test, std::string_view text,
                         Track const* track) const {
  InlineTextBuffer<1024> line;
  if (!is_json_file()) {
    if (kind != "report") return std::string(text);
    append_sanitized(line, text);
    return std::string(line.view());
  }
  line.append("{\"kind\":\"");
  line.append(kind);
  line.push_back('"');
  if (!test.empty()) {
    line.append(",\"test\":");
    append_json_string(line, test);
  }
  if (track != nullptr) {
    InlineTextBuffer<64> thread;
    append_thread_name(thread, *track);
    line.append(",\"thread\":");
    append_json_string(line, thread.view());
  }
  line.append(",\"text\":");
  append_json_string(line, without_frame(text));
  line.append("}\n");
  return std::string(line.view());
}

void Output::report_once(int error) noexcept {
  if (path_.empty() || error == lines_.kNotOurs || reported_.exchange(true)) return;
  int const error_before = errno;
  try {
    internal::write_once(error_fd(), "testlog: could not write TRACE_OUTPUT=" + path_ + ": " +
                                         std::generic_category().message(error) + "; lines may be missing\n");
  } catch (...) {  // out of memory
  }
  errno = error_before;
}

void Output::report_missing() noexcept {
  if (path_.empty() || is_in_forked_child()) return;  // a child has a copy of its parent's count
  report_missing_lines(error_fd(), "TRACE_OUTPUT", path_, lines_.missing());
}

int Output::error_fd() const noexcept {
  if (standard_error_ < 0) return lines_.is_still(descriptor()) ? descriptor() : -1;
  return file_identity(standard_error_) == standard_error_identity_ ? standard_error_ : -1;
}

bool Output::is_in_forked_child() const noexcept { return fork_count_ != fork_count(); }

bool Output::is_terminal() const noexcept { return isatty(descriptor()) == 1; }

}}}  // namespace tracing::v1::environment
