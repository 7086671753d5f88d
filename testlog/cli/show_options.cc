#include "testlog/cli/show_options.h"

#include <re2/re2.h>
#include <time.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>

#include "testlog/cli/choices.h"
#include "testlog/cli/commands.h"

namespace testlog::cli {
namespace {

using tracing::recording::Entry;
using tracing::recording::Piece;
using tracing::recording::Thread;

tracing::FormatOptions format_of(ShowOptions const& options) {
  tracing::FormatOptions format;
  format.kind = options.format;
  format.ansi = options.screen.is_coloured();
  format.value_sanitization = true;
  format.timer = options.time == "utc"     ? tracing::utc_timer()
                 : options.time == "local" ? tracing::local_timer()
                                           : nullptr;
  return format;
}

Moment moment_or_throw(char const* option, std::string const& text) {
  if (auto const moment = moment_of(text)) return *moment;
  throw UsageError("show: " + std::string(option) + " " + text +
                   ": expected a time since the test began, such as 1.5s or 200ms, or one as in the lines, such as "
                   "2026-01-08T23:56:09.977Z");
}

bool is_of_threads(std::string_view name, std::uint64_t number, std::string const& threads) {
  return matches_any(name, threads) || matches_any(std::to_string(number), threads);
}

std::string without_colors(std::string_view line) {
  std::string plain;
  while (!line.empty()) {
    std::size_t const escape = line.find('\x1b');
    plain += line.substr(0, escape);
    if (escape == line.npos) break;
    std::size_t const end = line.find('m', escape);
    line.remove_prefix(end == line.npos ? line.size() : end + 1);
  }
  return plain;
}

}  // namespace

std::optional<Moment> moment_of(std::string_view text) {
  static std::map<std::string_view, double> const kUnits{{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}};
  char const* const first = text.data() + (text.starts_with("+") ? 1 : 0);
  char const* const last = text.data() + text.size();
  double number = 0;
  auto const [end, error] = std::from_chars(first, last, number, std::chars_format::fixed);
  char const* const unit_begin = end != last && *end == ' ' ? end + 1 : end;
  auto const unit = kUnits.find(std::string_view(unit_begin, static_cast<std::size_t>(last - unit_begin)));
  if (error == std::errc() && number >= 0 && number < 1e9 && unit != kUnits.end())
    return Moment{true, static_cast<std::int64_t>(number * unit->second)};
  tm day{};
  double seconds = 0;
  char zone = 0, rest = 0;
  int const read = std::sscanf(std::string(text).c_str(), "%d-%d-%dT%d:%d:%lf%c%c", &day.tm_year, &day.tm_mon,
                               &day.tm_mday, &day.tm_hour, &day.tm_min, &seconds, &zone, &rest);
  if (read != 7 || zone != 'Z' || seconds < 0 || seconds >= 61) return std::nullopt;
  day.tm_year -= 1900;
  --day.tm_mon;
  return Moment{false, timegm(&day) * 1'000'000'000 + static_cast<std::int64_t>(seconds * 1e9)};
}

LineOptions lines_of(ShowOptions const& options) {
  LineOptions lines{.filter = options.filter,
                    .format = format_of(options),
                    .selection = options.selection,
                    .marks = true,
                    .relative_time = options.time == "relative",
                    .shortens_spans = options.report == "short" && options.grep.empty() &&
                                      options.format == tracing::FormatKind::full};
  for (tracing::SpanEvents const events : options.span_events) lines.span_events = lines.span_events | events;
  bool const has_begin = !options.since.empty(), has_end = !options.until.empty();
  Moment const since = has_begin ? moment_or_throw("--since", options.since) : Moment();
  Moment const until = has_end ? moment_or_throw("--until", options.until) : Moment();
  if (options.threads.empty() && !has_begin && !has_end) return lines;
  lines.is_wanted = [=, threads = options.threads](Entry const& entry, tracing::Instant begin) {
    bool const is_in_time =
        (!has_begin || since.after(begin) <= entry.time) && (!has_end || entry.time <= until.after(begin));
    return is_in_time && (threads.empty() || is_of_threads(entry.track_name, entry.track, threads));
  };
  lines.may_want = [=, threads = options.threads](Piece const& piece, tracing::Instant first, tracing::Instant last) {
    bool const may_be_in_time =
        (!has_begin || since.after(first) <= piece.last()) && (!has_end || piece.first() <= until.after(last));
    auto const is_wanted = [&](Thread const& thread) { return is_of_threads(thread.name, thread.number, threads); };
    return may_be_in_time && (threads.empty() || piece.has_thread(is_wanted));
  };
  return lines;
}

std::function<void(std::string_view)> grepped(ShowOptions const& options, std::function<void(std::string_view)> out) {
  if (options.grep.empty()) return out;
  auto const expression = std::make_shared<re2::RE2>(options.grep, re2::RE2::Quiet);
  if (!expression->ok()) throw UsageError("show: --grep " + options.grep + ": " + expression->error());
  return [expression, out = std::move(out)](std::string_view line) {
    std::string_view const text = line.ends_with('\n') ? line.substr(0, line.size() - 1) : line;
    if (re2::RE2::PartialMatch(without_colors(text), *expression)) out(line);
  };
}

void check_brief(CLI::App const& command) {
  for (CLI::Option const* const option : command.get_options()) {
    std::string const name = option->get_name();
    bool const is_used = option->get_positional() || name == "--brief" || name == "--failed" || name == "--no-pager" ||
                         name == "--run" || name == "--test";
    if (option->count() > 0 && !is_used)
      throw UsageError("show: --brief prints no records, so " + name +
                       " has no effect; expected --test, --run or RECORDING");
  }
}

void add_show_options(CLI::App& command, ShowOptions& options) {
  auto const selects = add_selection(command, options.selection);
  command.add_option("--thread", options.threads,
                     "Only records of these threads: names, with * and ?, or numbers, separated by :");
  command.add_option("--since", options.since,
                     "Only records from this time on: 1.5s or 200ms after their test, or the program, began, or a time "
                     "as in the lines");
  command.add_option("--until", options.until, "Only records up to this time");
  command.add_option("--grep", options.grep, "Only lines in which this regular expression (RE2) matches");
  command.add_option("--filter", options.filter, "Directives, as in TRACE_FILTER")->capture_default_str();
  Choices<tracing::FormatKind> const formats{{"full", tracing::FormatKind::full},
                                             {"compact", tracing::FormatKind::compact},
                                             {"pretty", tracing::FormatKind::pretty},
                                             {"json", tracing::FormatKind::json}};
  command.add_option("--format", options.format, "How records look: full, compact, pretty, json")
      ->transform(one_of(formats))
      ->default_str("full");
  command.add_flag_callback(
      "--json", [&options] { options.format = tracing::FormatKind::json; }, "The same as --format json");
  command
      .add_option("--report", options.report,
                  "The spans in front of lines, as TRACE_REPORT: short, without long fields where they leave no room "
                  "for the message; lines, or with --grep: all fields in every line")
      ->check(one_of({"short", "lines"}))
      ->capture_default_str();
  Choices<tracing::SpanEvents> const events{
      {"new", tracing::SpanEvents::new_span},  {"enter", tracing::SpanEvents::enter},
      {"exit", tracing::SpanEvents::exit},     {"close", tracing::SpanEvents::close},
      {"active", tracing::SpanEvents::active}, {"full", tracing::SpanEvents::full}};
  command
      .add_option(
          "--span-events", options.span_events,
          "Also changes of spans, as TRACE_SPAN_EVENTS: new, enter, exit, close, active, full; several with commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->transform(one_of(events));
  command
      .add_option("--time", options.time,
                  "The time at the start of each line: utc, local, relative (since the test began, as in failure "
                  "reports), none")
      ->check(one_of({"utc", "local", "relative", "none"}))
      ->capture_default_str();
  CLI::Option* const follow = command.add_flag(
      "-f,--follow", options.follow, "Also prints what is recorded from now on, until the processes have ended");
  for (CLI::Option* const option : selects) option->excludes(follow);
  command
      .add_flag("--brief", options.brief,
                "With --failed: five lines for each cause of failures, in place of the records")
      ->needs(selects.back());
  add_screen(command, options.screen);
}

}  // namespace testlog::cli
