#include "testlog/cli/recordings.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "testlog/cli/commands.h"
#include "testlog/cli/record_labels.h"
#include "testlog/cli/run_marks.h"
#include "testlog/cli/terminal.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/filter/combinators.h"
#include "tracing_core/format/field_format.h"
#include "tracing_core/format/span_prefix.h"
#include "tracing_core/perf/perf_filter.h"
#include "tracing_core/record/decode/recording_files.h"
#include "tracing_core/record/replay.h"
#include "tracing_core/record/ring/region.h"
#include "tracing_core/record/spans.h"

namespace testlog::cli {
namespace {

using tracing::internal::what_bounds;
using tracing::recording::Entry;
using tracing::recording::EntryType;
using tracing::recording::Losses;
using tracing::recording::Piece;
using tracing::recording::Recording;

void print_error(std::string const& command, std::string const& path, std::string const& text) {
  report("testlog " + command + ": " + printable(path) + ": " + text + "\n");
}

// Returns true if `path` is no file, but looks like the name of a test: Suite.Name or Suite.*
bool is_rather_a_test(std::string const& path) {
  using namespace tracing::recording;
  std::size_t const dot = path.find('.');
  if (dot == path.npos || dot + 1 == path.size()) return false;
  if (path.ends_with(kRecordingSuffix) || path.ends_with(kCompressedSuffix) || path.ends_with(".tar")) return false;
  auto const is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  std::error_code error;
  return is_capital(path[0]) && (path[dot + 1] == '*' || is_capital(path[dot + 1])) &&
         !std::filesystem::exists(path, error);
}

// A span that was not closed.
struct OpenSpan {
  tracing::recording::Span const* span = nullptr;
  std::uint64_t parent = 0;
};
// Finds the spans that were not closed.
struct OpenSpans {
  tracing::recording::Spans values;
  std::unordered_map<std::uint64_t, OpenSpan> by_key;

  // Reads the ends of the recording's tracks once more if it has open spans. So the first pass need not keep spans that
  // end, as most do.
  explicit OpenSpans(OpenedRecording const& file) {
    if (file.spans.empty()) return;
    file.recording->narrow([](Piece const&) { return false; });
    file.recording->for_each([&](Entry const& entry) {
      bool const begins = entry.type == EntryType::state || begins_span(entry.type);
      if ((!begins && entry.type != EntryType::values) || !file.spans.contains(entry.span)) return;
      Entry alone = entry;
      alone.parent = 0;  // only its values are needed
      values.follow(alone);
      OpenSpan& open = by_key[entry.span];
      open.span = values.current();
      if (begins) open.parent = entry.parent;
    });
    file.recording->widen();
  }
  std::string fields_of(std::uint64_t key) const {
    auto const found = by_key.find(key);
    tracing::InlineTextBuffer<256> text;
    if (found == by_key.end() || found->second.span == nullptr) return {};
    auto const append = [&text, fields = tracing::default_fields()](tracing::FieldValues const& group) {
      tracing::TextStyle const style{.sanitize_values = true};
      text.size() == 0 ? fields->append(text, group, style) : fields->append_recorded(text, 0, group, style);
    };
    found->second.span->values.for_each_last_group(*found->second.span->metadata, append);
    return std::string(text.view());
  }
};

// Returns the path of the innermost spans, with their fields. The spans of a recursion are one step.
std::string path_of(std::vector<std::uint64_t> const& open, OpenedRecording const& file, OpenSpans const& spans) {
  constexpr std::size_t kMaxNames = 32;
  struct Step {
    std::string_view name;
    std::size_t times;        // the number of spans with this name in a row
    std::uint64_t innermost;  // the innermost of these spans
  };
  std::vector<Step> steps;
  for (std::uint64_t const key : open) {
    auto const found = file.spans.find(key);
    std::string_view const name = found == file.spans.end() ? "?" : found->second;
    if (steps.empty() || steps.back().name != name) steps.push_back({name, 0, key});
    ++steps.back().times;
    steps.back().innermost = key;
  }
  std::string path = steps.size() > kMaxNames ? "..." : "";
  for (std::size_t i = steps.size() - std::min(steps.size(), kMaxNames); i < steps.size(); ++i) {
    std::string const fields = spans.fields_of(steps[i].innermost);
    std::string const times = std::to_string(steps[i].times);
    path.append(path.empty() ? "" : ":").append(steps[i].name);
    if (!fields.empty()) path.append("{").append(fields).append("}");
    if (steps[i].times > 1) path.append(fields.empty() ? " (" + times + " times)" : " (innermost of " + times + ")");
  }
  return path;
}

// Returns the innermost of the open spans that no thread is in.
std::vector<std::uint64_t> held_spans(OpenedRecording const& file, OpenSpans const& spans) {
  std::set<std::uint64_t> held, around;
  for (auto const& [key, span] : spans.by_key) held.insert(key);
  for (tracing::recording::TrackSummary const& track : file.recording->tracks())
    for (std::uint64_t const key : track.open) held.erase(key);
  for (std::uint64_t const key : held) around.insert(spans.by_key.at(key).parent);
  std::erase_if(held, [&around](std::uint64_t key) { return around.contains(key); });
  return {held.begin(), held.end()};
}

// Finds the pieces of a recording in which a filter may let an event pass.
class PieceFilter {
 public:
  explicit PieceFilter(tracing::EnvFilter filter) : filter_(std::move(filter)) {}

  bool may_pass(Piece const& piece) {
    bool has_undecided = false;
    bool const has_event = piece.has_callsite([&](tracing::Metadata const& callsite) {
      if (callsite.is_perf()) return true;
      if (callsite.is_span()) return false;
      tracing::Interest const interest = filter_.callsite_enabled(callsite);
      has_undecided |= interest == tracing::Interest::sometimes;
      return interest == tracing::Interest::always;
    });
    if (has_event || !has_undecided) return has_event;
    auto const& directives = filter_.dynamic_directives();
    return piece.has_span(
        [&](tracing::Metadata const& callsite) { return callsite.is_span() && directives.matches(callsite); },
        [&](tracing::FieldValues const& values) { return directives.may_match(values); });
  }

 private:
  tracing::EnvFilter filter_;
};

// Returns the path of a span, with the spans around it.
std::string path_to(std::uint64_t leaf, OpenedRecording const& file, OpenSpans const& spans) {
  constexpr std::size_t kMaxDepth = 1000;  // a damaged recording may have a span that is below itself
  std::vector<std::uint64_t> path;
  auto at = spans.by_key.find(leaf);
  for (; at != spans.by_key.end() && path.size() < kMaxDepth; at = spans.by_key.find(at->second.parent))
    path.push_back(at->first);
  std::reverse(path.begin(), path.end());
  return path_of(path, file, spans);
}

}  // namespace

std::string path_at_end(OpenedRecording const& file) {
  std::vector<std::uint64_t> const* open = nullptr;
  for (tracing::recording::TrackSummary const& track : file.recording->tracks()) {
    bool const is_main = static_cast<std::uint64_t>(track.thread.os_thread) == file.recording->process();
    if (!track.open.empty() && (open == nullptr || is_main)) open = &track.open;
  }
  return open == nullptr ? "" : path_of(*open, file, OpenSpans(file));
}

void OpenedRecording::learn(Entry const& entry) {
  constexpr std::size_t kStep = 65536;
  if (++learned % kStep == 0 && progress != nullptr) progress->step(kStep);
  if (entry.type == EntryType::mark) {
    if (is_test_begin(entry)) running[entry.tag] = test_of(entry);
    if (is_test_end(entry)) running.erase(entry.tag);
    return;
  }
  if (entry.metadata != nullptr) callsites.insert(entry.metadata);
  if (ends_span(entry.type)) {
    spans.erase(entry.span);
  } else if (entry.metadata != nullptr && entry.metadata->is_span()) {
    spans.try_emplace(entry.span, entry.metadata->name());
  }
}

void OutputLimit::check(OpenedRecording const& file) const {
  if (left_ > 0) return;
  throw std::runtime_error(printable(file.path) + ": stopped here: its lines have more than 64 MiB, and " +
                           std::to_string(kFactor) +
                           " times the size of its records; a filter or another selection makes fewer lines");
}

tracing::EnvFilter parsed_filter(std::string const& command, std::string const& directives) {
  std::vector<tracing::ParseError> errors;
  auto filter = tracing::EnvFilter::parse_lossy(directives, {}, &errors);
  if (!errors.empty()) throw UsageError(command + ": " + tracing::render(errors.front(), directives, "--filter"));
  return filter;
}

std::unique_ptr<tracing::Filter> filter_of(std::string const& command, std::string const& directives) {
  return tracing::with_perf_spans(tracing::to_filter(parsed_filter(command, directives)));
}

std::unique_ptr<OpenedRecording> open_recording(std::string const& command, std::string const& path) {
  std::string error;
  std::unique_ptr<Recording> recording;
  if (tracing::recording::is_tar(path)) {
    (void)tracing::recording::recordings_in_tar(path, error);
  } else {
    recording = Recording::read_file(path, error);
  }
  if (recording == nullptr) {
    std::string const show = shell_words({"testlog", "show", "--test", path});
    return print_error(command, path, error + (is_rather_a_test(path) ? "; to show a test: " + printable(show) : "")),
           nullptr;
  }
  return std::make_unique<OpenedRecording>(OpenedRecording{path, std::move(recording)});
}

std::string notes_of(std::string const& command, OpenedRecording const& file) {
  return notes_of(command, file, file.recording->lost());
}

std::string notes_of(std::string const& command, OpenedRecording const& file, Losses lost) {
  std::string notes;
  auto const add = [&](std::string const& text) {
    notes += "testlog " + command + ": " + printable(file.path) + ": " + text + "\n";
  };
  bool const is_whole = file.recording->lost().count == 0;  // OpenSpans reads the recording again, but not all of it
  OpenSpans const spans(file);
  for (tracing::recording::TrackSummary const& track : file.recording->tracks()) {
    if (track.open.empty()) continue;
    add("at its end " + name_of(track.thread) + " is in " + printable(path_of(track.open, file, spans)));
  }
  if (is_whole) {  // if records are lost, an open span may just lack its end
    constexpr std::size_t kMaxHeld = 10;
    auto const held = held_spans(file, spans);
    for (std::size_t i = 0; i < std::min(held.size(), kMaxHeld); ++i)
      add("at its end " + printable(path_to(held[i], file, spans)) + " is open, and no thread is in it");
    if (held.size() > kMaxHeld)
      add("at its end " + std::to_string(held.size() - kMaxHeld) + " more spans are open, and no thread is in them");
  }
  for (auto const& [tag, test] : file.running) add(printable(test) + " did not end");
  if (lost.count > 0)
    add((lost.is_exact ? "" : "at least ") + std::to_string(lost.count) + " earlier records were overwritten; " +
        what_bounds(file.recording->growth_error()) + (file.recording->growth_error() == 0 ? " keeps more" : ""));
  for (auto const& [tag, test] : file.selected) {
    std::uint64_t const of_test = file.recording->lost_of(tag);
    if (of_test > 0) add(std::to_string(of_test) + " of them were of " + printable(test));
  }
  if (std::uint64_t const missing = file.recording->interrupted(); missing > 0)
    add(std::to_string(missing) +
        " records are missing: they were made while their thread was making another one, as in a signal's "
        "handler");
  for (std::string const& problem : file.recording->problems()) add(problem);
  return notes;
}

LinePrinter::LinePrinter(std::string command, LineOptions options, Out out)
    : command_(std::move(command)), options_(std::move(options)), out_(std::move(out)) {}

// Notes the selected tests. Returns true if any test is in the selection.
bool LinePrinter::look_at_tests(RecordedTests const& tests, OpenedRecording& file) {
  bool has_any = false;
  for (auto const& [tag, test] : tests) {
    if (options_.selection.has(test)) file.selected.emplace(tag, test.name), has_any = true;
    if (seen_tests_.size() < kMaxSeenTests) seen_tests_.insert(test.name);
  }
  found_tests_ |= has_any;
  return has_any;
}

// Follows the tests of a recording: finds the test of the record that is to be printed, and when it began.
class LinePrinter::Tests final : public RecordPlace {
 public:
  explicit Tests(OpenedRecording& file)
      : tests_(*file.begun), outside_{tracing::recording::name_of_recording(file.path), file.recording->start()} {}

  void follow(Entry const& entry) {
    if (is_test_begin(entry)) tests_[entry.tag] = {test_of(entry), entry.time};
    if (is_test_end(entry)) tests_[entry.tag].has_ended = true;
    is_of_tests_ |= entry.type == EntryType::mark && entry.metadata->name() != "process";
    auto const found = tests_.find(entry.tag);
    now_ = found == tests_.end() ? nullptr : &found->second;
  }
  BegunTest const& now() const { return now_ == nullptr ? outside_ : *now_; }
  tracing::Instant begin() const noexcept override { return now().time; }
  std::string_view test() const noexcept override { return now_ == nullptr ? std::string_view() : now_->name; }
  bool is_outside_tests() const noexcept override { return now_ == nullptr && is_of_tests_; }
  bool is_late() const noexcept override { return now_ != nullptr && now_->has_ended; }

 private:
  BegunTests& tests_;
  BegunTest const outside_;
  BegunTest const* now_ = nullptr;
  bool is_of_tests_ = !tests_.empty();
};

// Puts a label before a record. If the record has lines above it for its spans, they have the label, too.
std::string LinePrinter::labelled(std::string const& label, std::string_view text) const {
  constexpr std::string_view kFurtherLine = "      ";  // of a value
  std::string result = label;
  while (options_.shortens_spans && !text.empty()) {
    std::string_view const line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    text.remove_prefix(line.size());
    result += line;
    if (!text.empty() && !text.starts_with(kFurtherLine)) result += label;
  }
  return result.append(text);
}

// Lets the recording leave out the pieces in which the options select nothing. Returns false if it leaves out nothing.
// Reads everything where lines depend on more than their spans, as the order of several recordings does on the times of
// all records.
bool LinePrinter::narrow(OpenedRecording const& file, RecordedTests const& tests, bool wants_outside,
                         bool is_only) const {
  bool const selects = options_.may_want != nullptr || options_.selection.is_narrow() || options_.filter != "trace";
  bool const needs_all = !is_only || file.is_new != nullptr ||
                         (options_.is_wanted != nullptr && options_.may_want == nullptr) ||
                         options_.span_events != tracing::SpanEvents::none;
  if (!selects || needs_all) return false;
  tracing::Instant first_begin = file.recording->start(), last_begin = first_begin;
  for (auto const& [tag, test] : tests) {
    first_begin = std::min(first_begin, test.begin);
    last_begin = std::max(last_begin, test.begin);
  }
  auto const is_selected = [&](std::uint32_t tag) {
    auto const found = tests.find(tag);
    return found == tests.end() ? wants_outside : options_.selection.has(found->second);
  };
  PieceFilter filter(parsed_filter(command_, options_.filter));
  return file.recording->narrow([&](Piece const& piece) {
    if (options_.may_want != nullptr && !options_.may_want(piece, first_begin, last_begin)) return false;
    if (options_.selection.is_narrow() && !piece.has_tag(is_selected)) return false;
    return filter.may_pass(piece);
  });
}

bool LinePrinter::add(OpenedRecording& file, bool is_only) {
  // The time of a line, at least the time of the line before: the order of a process's records is more exact than their
  // times.
  tracing::Instant time;
  Tests of_run(file);
  OutputLimit limit;
  limit.add(file);
  if (!is_only) ranges_.push_back({tracing::Instant{INT64_MAX}, tracing::Instant{INT64_MIN}});
  auto const print = [&](std::string_view line, bool has_label) {
    if (line.empty()) return;
    limit.spend(line.size());
    if (is_only) return out_(line);
    keep(time, line, has_label ? &of_run.now().name : nullptr);
  };
  bool const is_json = tracing::formatting::is_json(options_.format.kind);
  auto sink = tracing::make_sink([&](tracing::Level, std::string_view line) { print(line, !is_json); });
  tracing::FormatOptions format = options_.format;
  if (options_.shortens_spans) format.prefix = std::make_shared<tracing::SpanPrefix>();
  auto labelled = std::make_shared<RecordLabels>(std::move(format), options_.relative_time, *file.recording, of_run);
  auto const registry = tracing::RegistryBuilder()
                            .with(tracing::print_layer({.format = options_.format,
                                                        .event_format = std::move(labelled),
                                                        .span_events = options_.span_events,
                                                        .writer = tracing::to_sink(std::move(sink))}),
                                  filter_of(command_, options_.filter))
                            .build();
  bool const is_narrow = options_.selection.is_narrow();
  RecordedTests const tests =
      is_narrow || options_.may_want != nullptr ? recorded_tests_of(*file.recording) : RecordedTests();
  bool const has_outside =
      options_.selection.failed && options_.selection.tests.empty() && has_failed_outside_tests(*file.recording);
  found_tests_ |= has_outside;
  bool const has_any = !is_narrow || look_at_tests(tests, file) || has_outside;
  auto const is_wanted = [&](Entry const& entry) {
    if (file.is_new != nullptr && !file.is_new(entry)) return false;
    if (options_.is_wanted != nullptr && !options_.is_wanted(entry, of_run.now().time)) return false;
    if (!is_narrow) return true;
    auto const found = tests.find(entry.tag);
    return found == tests.end() ? has_outside : options_.selection.has(found->second);
  };
  bool const is_narrowed = narrow(file, tests, has_outside, is_only);
  tracing::recording::replay(*file.recording, *registry, [&](Entry const& entry) {
    limit.check(file);
    of_run.follow(entry);
    if ((entry.flags & tracing::internal::kForeign) == 0) time = std::max(time, entry.time);
    file.learn(entry);
    bool const wanted = is_wanted(entry);
    if (options_.marks && wanted && entry.type == EntryType::mark)
      print(text_of_mark(entry, options_.format), !is_json && !is_headline(entry));
    return wanted;
  });
  if (is_narrowed) {
    auto const left_out = file.recording->callsites_left_out();
    file.callsites.insert(left_out.begin(), left_out.end());
  }
  file.recording->widen();
  return has_any;
}

void LinePrinter::keep(tracing::Instant time, std::string_view text, std::string const* label) {
  if (label != nullptr && (labels_.empty() || labels_.back() != *label)) labels_.push_back(*label);
  waiting_.emplace(time, Line{std::string(text), label == nullptr ? kNoLabel : labels_.size() - 1});
  Range& range = ranges_.back();
  range = {std::min(range.first, time), std::max(range.last, time)};
}

void LinePrinter::pass(tracing::Instant time, Line const& line) {
  std::erase_if(ranges_, [time](Range const& range) { return range.last < time; });
  std::size_t active = 0;
  tracing::Instant last{INT64_MIN};
  for (Range const& range : ranges_) {
    if (range.first > time) continue;
    ++active;
    last = std::max(last, range.last);
  }
  if (active > 1) mixed_until_ = std::max(mixed_until_, last);
  bool const has_label = options_.names_tests || time <= mixed_until_;
  if (line.label == kNoLabel || !has_label) return out_(line.text);
  out_(labelled("[" + printable(labels_[line.label]) + "] ", line.text));
}

void LinePrinter::pass_until(tracing::Instant time) {
  auto const end = waiting_.lower_bound(time);
  for (auto at = waiting_.begin(); at != end; ++at) pass(at->first, at->second);
  waiting_.erase(waiting_.begin(), end);
}

void LinePrinter::finish() {
  for (auto const& [time, line] : waiting_) pass(time, line);
  waiting_.clear();
}

}  // namespace testlog::cli
