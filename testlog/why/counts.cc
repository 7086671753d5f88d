#include "testlog/why/counts.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include "testlog/why/sites.h"
#include "tracing_core/format/amounts.h"
#include "tracing_core/model/text_escape.h"
#include "tracing_core/record/tests.h"

namespace testlog::why {
namespace {

using tracing::recording::Entry;
using tracing::recording::EntryType;

constexpr std::string_view kHeadline =
    "# testlog counts 1: test, target, spans and message, what, number; ~: it varies\n";
constexpr std::string_view kCount = "count";

std::optional<std::uint64_t> number_in(tracing::Value const& value) noexcept {
  if (value.kind() == tracing::ValueKind::u64) return value.as_u64();
  if (value.kind() == tracing::ValueKind::i64 && value.as_i64() >= 0) return value.as_u64();
  return std::nullopt;
}

std::string text_of_number(Counted const& counted, std::uint64_t number) {
  bool const is_size = counted.what.ends_with("bytes") || counted.what.ends_with("size");
  return is_size ? tracing::formatting::text_of_bytes(number) : std::to_string(number);
}

std::string name_of(Counted const& counted) {
  std::string const name = counted.site.empty() || counted.site.front() == '"'
                               ? counted.target + (counted.site.empty() ? "" : " ") + counted.site
                               : counted.site;
  return counted.what == kCount ? name : name + " " + counted.what;
}

}  // namespace

// Reads one recording.
class Counts::Reader {
 public:
  Reader(Counts& counts, tracing::recording::Recording& recording) : counts_(counts), recording_(recording) {}

  void read() {
    bool const is_whole = !recording_.runs_tests();
    if (is_whole) runs_[0];
    recording_.for_each([&](Entry const& entry) {
      if (entry.type == EntryType::mark) return see_mark(entry);
      auto const run = runs_.find(is_whole ? 0 : entry.tag);
      see(run == runs_.end() ? nullptr : &run->second, entry);
    });
    if (is_whole) end_run(0);
  }

 private:
  struct Sums {
    std::uint64_t count = 0;
    std::vector<std::uint64_t> fields{};
  };
  struct TestRun {
    std::string test;
    std::unordered_map<SiteId, Sums> sites;
  };

  void see_mark(Entry const& mark) {
    if (tracing::recording::is_test_begin(mark)) {
      runs_[mark.tag] = {tracing::recording::text_of_field(mark, "test"), {}};
    } else if (tracing::recording::is_test_end(mark) && runs_.contains(mark.tag)) {
      if (tracing::recording::text_of_field(mark, "result") == "passed") end_run(mark.tag);
      runs_.erase(mark.tag);
    }
  }

  SiteId site_of(std::uint64_t span) const {
    auto const found = open_.find(span);
    return span == 0 || found == open_.end() ? kNoSite : found->second;
  }

  void see(TestRun* run, Entry const& entry) {
    bool const begins = begins_span(entry.type) || entry.type == EntryType::state;
    if (ends_span(entry.type)) open_.erase(entry.span);
    if (entry.type == EntryType::values && !entry.is_restated() && site_of(entry.span) != kNoSite && run != nullptr)
      add_fields(run->sites[site_of(entry.span)], site_of(entry.span), entry);
    if (!begins && entry.type != EntryType::event) return;
    if (entry.type == EntryType::state && open_.contains(entry.span)) return;
    SiteId const site = known_.site_of(*entry.metadata, site_of(begins ? entry.parent : entry.span));
    if (begins) open_[entry.span] = site;
    if (run == nullptr || entry.type == EntryType::state) return;
    Sums& sums = run->sites[site];
    ++sums.count;
    add_fields(sums, site, entry);
  }

  void add_fields(Sums& sums, SiteId site, Entry const& entry) {
    if (entry.values == nullptr || counts_.fields_.empty()) return;
    Site const& names = sites_.site(site);
    tracing::FieldValues const values = entry.fields();
    sums.fields.resize(values.size());
    for (std::size_t i = 0; i < values.size() && names.first_field + i < names.fields_end; ++i)
      sums.fields[i] += number_in(values.value(i)).value_or(0);
  }

  void end_run(std::uint32_t tag) {
    TestRun const& run = runs_[tag];
    Run numbers;
    for (auto const& [site, sums] : run.sites) {
      Site const& names = sites_.site(site);
      std::string text = names.path;
      if (!names.message.empty()) text += (text.empty() ? "\"" : " \"") + names.message + '"';
      Counted counted{tracing::sanitized_in_line(run.test), tracing::sanitized_in_line(names.target),
                      tracing::sanitized_in_line(text), std::string(kCount)};
      numbers[counted] += sums.count;
      for (std::size_t i = 0; i < sums.fields.size(); ++i) {
        std::string const& field = sites_.name(sites_.field(static_cast<FieldId>(names.first_field + i)).name);
        if (std::find(counts_.fields_.begin(), counts_.fields_.end(), field) == counts_.fields_.end()) continue;
        counted.what = tracing::sanitized_in_line(field);
        numbers[counted] += sums.fields[i];
      }
    }
    counts_.add_run(tracing::sanitized_in_line(run.test), numbers);
  }

  Counts& counts_;
  tracing::recording::Recording& recording_;
  Sites sites_;
  SitesOfRecording known_{sites_};
  std::map<std::uint32_t, TestRun> runs_;
  std::unordered_map<std::uint64_t, SiteId> open_;
};

void Counts::add(tracing::recording::Recording& recording) { Reader(*this, recording).read(); }

void Counts::add_run(std::string const& test, Run const& run) {
  bool const is_first = tests_[test]++ == 0;
  for (auto const& [counted, number] : run) {
    auto const [at, is_new] = numbers_.try_emplace(counted, number);
    if (is_new ? !is_first : at->second != number) at->second.reset();
  }
  auto const first = numbers_.lower_bound({test, "", "", ""});
  for (auto at = first; at != numbers_.end() && at->first.test == test; ++at) {
    if (!run.contains(at->first)) at->second.reset();
  }
}

std::optional<std::uint64_t> Counts::number_of(Counted const& counted) const {
  auto const found = numbers_.find(counted);
  return found == numbers_.end() ? std::optional<std::uint64_t>(0) : found->second;
}

std::string Counts::text() const {
  std::string text(kHeadline);
  for (auto const& [counted, number] : numbers_) {
    for (std::string const* const part : {&counted.test, &counted.target, &counted.site, &counted.what})
      text.append(*part).append(1, '\t');
    text.append(number ? std::to_string(*number) : "~").append(1, '\n');
  }
  return text;
}

std::optional<Counts> Counts::parse(std::string_view text, std::string& error) {
  if (!text.starts_with(kHeadline)) {
    error = "is no file of testlog counts: it begins with other bytes";
    return std::nullopt;
  }
  Counts counts;
  std::size_t line = 1;
  for (text.remove_prefix(kHeadline.size()); !text.empty();) {
    ++line;
    std::string_view rest = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), rest.size() + 1));
    std::vector<std::string> parts;
    for (std::size_t tab = rest.find('\t'); tab != rest.npos && parts.size() < 4; tab = rest.find('\t')) {
      parts.emplace_back(rest.substr(0, tab));
      rest.remove_prefix(tab + 1);
    }
    std::uint64_t number = 0;
    auto const [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    bool const is_number = problem == std::errc() && end == rest.data() + rest.size();
    if (parts.size() != 4 || (rest != "~" && !is_number)) {
      error = "line " + std::to_string(line) + " is wrong; expected four texts and a number, separated by tabs";
      return std::nullopt;
    }
    counts.tests_[parts[0]] = 1;
    counts.numbers_[{parts[0], parts[1], parts[2], parts[3]}] =
        is_number ? std::optional<std::uint64_t>(number) : std::nullopt;
  }
  return counts;
}

namespace {

using TestsBySite = std::map<std::string, std::vector<std::string>>;

void append_groups(std::string& text, TestsBySite const& groups, std::string_view verb_of_one, std::string_view verb) {
  for (auto const& [site, tests] : groups) {
    text += tests.size() == 1 ? tests.front() + " " : std::to_string(tests.size()) + " tests ";
    text.append(tests.size() == 1 ? verb_of_one : verb).append(" ").append(site).append(1, '\n');
  }
}

}  // namespace

std::string text_of_differences(Counts const& before, Counts const& now) {
  std::set<Counted> all;
  for (auto const& [counted, number] : before.numbers()) all.insert(counted);
  for (auto const& [counted, number] : now.numbers()) all.insert(counted);
  std::map<std::string, std::string> changed;  // by test
  TestsBySite gone, added;
  for (Counted const& counted : all) {
    if (!before.has_test(counted.test) || !now.has_test(counted.test)) continue;
    std::optional<std::uint64_t> const from = before.number_of(counted), to = now.number_of(counted);
    if (!from || !to || from == to) continue;
    std::string const test = counted.test.empty() ? "the program" : counted.test;
    if (counted.what == kCount && (*from == 0 || *to == 0)) {
      (*to == 0 ? gone : added)[name_of(counted)].push_back(test);
    } else if (before.number_of({counted.test, counted.target, counted.site, std::string(kCount)}) != 0U &&
               now.number_of({counted.test, counted.target, counted.site, std::string(kCount)}) != 0U) {
      std::string& line = changed[test];
      line += (line.empty() ? test + ": " : ", ") + name_of(counted) + " " + text_of_number(counted, *from) + " to " +
              text_of_number(counted, *to);
    }
  }
  std::string text;
  for (auto const& [test, line] : changed) text += line + "\n";
  append_groups(text, gone, "no longer reaches", "no longer reach");
  append_groups(text, added, "now reaches", "now reach");
  return text;
}

}  // namespace testlog::why
