// Entries are separated by blank lines and look like this, with optional parts in brackets:
//
//     kernel.cu(5): error[ #20-D]: identifier "x" is undefined
//       [more of the message]
//     [    y = x;]
//     [        ^]
//     [          detected during instantiation of ...]
//
//     nvrtc: error: invalid value for --gpu-architecture (-arch)
//     At end of source: error: expected a "}"
//     ptxas warning : Registers are spilled to local memory in function 'k'
//     ptxas info    : Compiling entry function 'k' for 'sm_90'
#include "tracing_core/cuda/compile_log.h"
#include "tracing_core/support/short_text.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace tracing { inline namespace v1 { namespace cuda {
namespace {

using tracing::support::trimmed;
using tracing::support::without_leading;

constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kDigits = "0123456789";

// Returns the number at the beginning of `digits`; 0 if it does not begin with a digit.
std::uint64_t number(std::string_view digits) {
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Takes `error:`, `warning #20-D:` and so on, with the blanks after it.
std::optional<Severity> take_severity(std::string_view& text) {
  struct Word {
    std::string_view text;
    Severity severity;
  };
  static constexpr Word kWords[] = {
      {"error", Severity::error},          {"catastrophic error", Severity::error},
      {"internal error", Severity::error}, {"fatal error", Severity::error},
      {"fatal", Severity::error},          {"Command-line error", Severity::error},
      {"warning", Severity::warning},      {"Command-line warning", Severity::warning},
      {"remark", Severity::remark},        {"note", Severity::remark},
      {"info", Severity::remark},
  };
  for (Word const& word : kWords) {
    std::string_view rest = text;
    if (!take(rest, word.text)) continue;
    rest = without_leading(rest, kBlanks);
    if (take(rest, "#")) {
      rest = without_leading(rest, kDigits);
      take(rest, "-D");
      rest = without_leading(rest, kBlanks);
    }
    if (!take(rest, ":")) continue;
    text = trimmed(rest);
    return word.severity;
  }
  return std::nullopt;
}

// Parses an entry with a place: `file(5): error: text`.
std::optional<CompileMessage> placed(std::string_view line) {
  for (std::size_t close = line.find("): "); close != line.npos; close = line.find("): ", close + 1)) {
    std::size_t const open = line.find_last_not_of(kDigits, close == 0 ? 0 : close - 1);
    if (open == line.npos || line[open] != '(' || open + 1 >= close) continue;
    CompileMessage message{.file = line.substr(0, open),
                           .line = number(line.substr(open + 1, close - open - 1)),
                           .text = line.substr(close + 3)};
    if (auto const severity = take_severity(message.text)) {
      message.severity = *severity;
      return message;
    }
  }
  return std::nullopt;
}

// Parses `ptxas file, line 5; error   : ...` or `ptxas error   : ...`, after the word `ptxas`.
std::optional<CompileMessage> of_ptxas(std::string_view line) {
  CompileMessage message{.text = trimmed(line)};
  static constexpr std::string_view kLine = ", line ";
  std::size_t const place = message.text.find(kLine);
  std::size_t const semicolon = place == line.npos ? line.npos : message.text.find("; ", place);
  if (semicolon != line.npos) {
    message.file = message.text.substr(0, place);
    message.line = number(message.text.substr(place + kLine.size()));
    message.text.remove_prefix(semicolon + 2);
  }
  auto const severity = take_severity(message.text);
  if (!severity) return std::nullopt;
  message.severity = *severity;
  return message;
}

// Parses the first line of an entry.
std::optional<CompileMessage> entry(std::string_view line) {
  if (line.empty() || kBlanks.find(line.front()) != kBlanks.npos) return std::nullopt;
  if (auto message = placed(line)) return message;
  if (take(line, "ptxas ")) return of_ptxas(line);
  CompileMessage message{.text = line};
  if (!take(message.text, "nvrtc: ")) take(message.text, "At end of source: ");
  auto const severity = take_severity(message.text);
  if (!severity) return std::nullopt;
  message.severity = *severity;
  return message;
}

// Returns the number before `unit`.
std::optional<std::uint64_t> amount(std::string_view line, std::string_view unit) {
  std::size_t const end = line.find(unit);
  if (end == line.npos || end == 0) return std::nullopt;
  std::size_t const before = line.find_last_not_of(kDigits, end - 1);
  std::size_t const first = before == line.npos ? 0 : before + 1;
  if (first == end) return std::nullopt;
  return number(line.substr(first, end - first));
}

std::string_view in_quotes(std::string_view text) {
  std::size_t const first = text.find('\'');
  std::size_t const last = first == text.npos ? text.npos : text.find('\'', first + 1);
  return last == text.npos ? std::string_view() : text.substr(first + 1, last - first - 1);
}

void read_amounts(KernelUsage& usage, std::string_view line) {
  if (auto const n = amount(line, " registers")) usage.registers = *n;
  if (auto const n = amount(line, " bytes smem")) usage.shared_bytes = *n;
  if (auto const n = amount(line, " bytes stack frame")) usage.stack_bytes = *n;
  if (auto const n = amount(line, " bytes spill stores")) usage.spill_store_bytes = *n;
  if (auto const n = amount(line, " bytes spill loads")) usage.spill_load_bytes = *n;
}

class Reader {
 public:
  CompileLog read(std::string_view log) {
    while (!log.empty()) {
      std::size_t const end = std::min(log.find('\n'), log.size());
      line(log.substr(0, end));
      log.remove_prefix(std::min(end + 1, log.size()));
    }
    close();
    return std::move(result_);
  }

 private:
  void line(std::string_view line) {
    if (trimmed(line).empty()) {
      close();
    } else if (auto const message = entry(line)) {
      close();
      // Remarks of ptxas name the resources of functions; each takes one line.
      open_ = !line.starts_with("ptxas") || message->severity != Severity::remark;
      if (open_)
        result_.messages.push_back(*message);
      else
        usage(message->text);
    } else if (open_) {
      more(result_.messages.back(), line);
    } else {
      usage(line);
    }
  }

  // Takes a further line of an entry. The line before a caret is source.
  void more(CompileMessage& message, std::string_view line) {
    if (!message.source_text.empty()) {
      extend(message.context, trimmed(line));
    } else if (trimmed(line) == "^" && !previous_.empty()) {
      message.source_text = trimmed(previous_);
      previous_ = {};
    } else {
      if (!previous_.empty()) extend(message.text, trimmed(previous_));
      previous_ = line;
    }
  }

  void close() {
    if (open_ && !previous_.empty()) extend(result_.messages.back().text, trimmed(previous_));
    open_ = false;
    previous_ = {};
  }

  // Extends `text` to the end of `part`, a later part of the log.
  static void extend(std::string_view& text, std::string_view part) {
    if (text.empty())
      text = part;
    else
      text = {text.data(), static_cast<std::size_t>(part.data() + part.size() - text.data())};
  }

  void usage(std::string_view line) {
    if (line.find("Compiling entry function") != line.npos) {
      result_.usage.push_back({.name = std::string(in_quotes(line))});
      current_ = true;
    } else if (std::size_t const at = line.find("Function properties for "); at != line.npos) {
      // The log also lists the functions that an entry function calls.
      std::string_view const name = trimmed(line.substr(at + 24));
      current_ = !result_.usage.empty() &&
                 (name == result_.usage.back().name || name == "'" + result_.usage.back().name + "'");
    } else if (!result_.usage.empty() && (current_ || line.find("Used ") != line.npos)) {
      read_amounts(result_.usage.back(), line);
    }
  }

  CompileLog result_;
  std::string_view previous_;  // the latest line of the open entry: source if a caret follows, otherwise text
  bool open_ = false;          // further lines belong to the last message
  bool current_ = false;       // the next amounts belong to the last function
};

}  // namespace

CompileLog parse_compile_log(std::string_view log) { return Reader().read(log); }

}}}  // namespace tracing::v1::cuda
