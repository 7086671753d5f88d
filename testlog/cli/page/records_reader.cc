#include "testlog/cli/page/records_reader.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "testlog/cli/page/line_composer.h"
#include "testlog/cli/record_labels.h"
#include "tracing_core/record/entry.h"
#include "tracing_core/record/tests.h"

namespace testlog::cli::page {
namespace {

using tracing::Metadata;
using tracing::recording::Entry;
using tracing::recording::EntryType;

// What the page calls a field of a mark about the process. Empty: it says nothing to people, or the index has it.
std::string_view label_of(std::string_view field, std::string_view value) {
  struct Label {
    std::string_view field, label, usual;
  };
  constexpr Label kLabels[] = {{"directory", "", ""},
                               {"command", "", ""},
                               {"run", "", ""},
                               {"traceparent", "", ""},
                               {"tracestate", "", ""},
                               {"pid", "process", ""},
                               {"googletest", "GoogleTest", "unknown"},
                               {"attempt", "attempt", "1"},
                               {"number", "repetition", "0"},
                               {"seed", "random seed", ""},
                               {"shards", "shards", "1"},
                               {"shard", "shard", "0"}};
  for (Label const& one : kLabels)
    if (one.field == field) return value == one.usual ? "" : one.label;
  return field;
}

LineKind kind_of(Entry const& entry) {
  if (entry.type != EntryType::mark) return LineKind::event;
  std::string_view const name = entry.metadata->name();
  if (name == "failure" || name == "signal" || name == "exit") return LineKind::failure;
  return name == "skip" ? LineKind::skip : LineKind::headline;
}

class Reader {
 public:
  Reader(PageRecords& records, OpenedRecording& file) : records_(records), composer_(records) {
    if (!file.recording->has(EntryType::values)) return;
    file.recording->for_each([this](Entry const& entry) {
      if (entry.type == EntryType::values && !entry.is_restated()) late_.insert(entry.span);
    });
  }

  // Notes an entry. If it has lines, add_line() is called after it.
  void follow(Entry const& entry) {
    now_ = &entry;
    if (entry.type == EntryType::mark) note_environment(entry);
    if (begins_span(entry.type) || entry.type == EntryType::state) add_span(entry);
    if (enters_span(entry.type)) enter(entry);
    if (entry.type == EntryType::follows_from) records_.spans[index_of(entry.span)].cause = index_of(entry.cause);
    if (entry.type == EntryType::values && !entry.is_restated()) {
      if (std::uint32_t const span = index_of(entry.span); span != 0)
        composer_.replace_values(records_.spans[span].first_value, *entry.metadata, entry.values);
    }
    if (!ends_span(entry.type)) return;
    if (std::uint32_t const span = index_of(entry.span); span != 0) records_.spans[span].end_ns = entry.time.ns;
    spans_.erase(entry.span);
  }

  // Adds the text of the entry that was noted last: a line, or the lines of a mark.
  void add_line(std::string_view text) {
    Entry const& entry = *now_;
    PageLine line{.time_ns = entry.time.ns, .track = track_of(entry), .tag = entry.tag, .kind = kind_of(entry)};
    if (entry.type == EntryType::event) {
      line.site = site_of(*entry.metadata);
      line.span = index_of(entry.span);
      line.first_value = composer_.add_values(*entry.metadata, entry.values);
    }
    if (text.ends_with('\n')) text.remove_suffix(1);
    std::size_t const end = text.find('\n');
    if (end == text.npos && line.site != 0) {
      composer_.divide(line, text);
      records_.lines.push_back(line);
      return;
    }
    line.site = 0;
    for (;;) {
      std::size_t const next = text.find('\n');
      line.text = records_.texts.number_of(text.substr(0, next)) + 1;
      records_.lines.push_back(line);
      if (next == text.npos) break;
      text.remove_prefix(next + 1);
      line.kind = LineKind::continuation;
    }
  }

 private:
  void note_environment(Entry const& mark) {
    std::string_view const name = mark.metadata->name();
    if (name != "process" && name != "ci" && name != "repetition") return;
    tracing::FieldValues const fields = mark.fields();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      std::string value = tracing::recording::text_of_field(mark, fields.name(i));
      std::string_view const label = label_of(fields.name(i), value);
      auto const has_label = [&](auto const& known) { return known.first == label; };  // of the first repetition
      if (!value.empty() && !label.empty() &&
          std::none_of(records_.environment.begin(), records_.environment.end(), has_label))
        records_.environment.emplace_back(label, std::move(value));
    }
  }
  std::uint32_t site_of(Metadata const& metadata) {
    auto const [at, is_new] = sites_.try_emplace(&metadata, static_cast<std::uint32_t>(records_.sites.size()));
    if (is_new) records_.sites.push_back({&metadata, value_count_of(metadata)});
    return at->second;
  }
  std::uint32_t index_of(std::uint64_t key) const {
    auto const found = spans_.find(key);
    return found == spans_.end() ? 0 : found->second;
  }
  std::uint32_t track_of(Entry const& entry) {
    auto const [at, is_new] = tracks_.try_emplace(entry.track, static_cast<std::uint32_t>(records_.tracks.size()));
    if (is_new) {
      std::string const name = name_of({entry.track, 0, std::string(entry.track_name)});
      records_.tracks.push_back({entry.track, name, entry.track != entry.writer});
    }
    return at->second;
  }

  void add_span(Entry const& entry) {
    auto const [at, is_new] = spans_.try_emplace(entry.span, static_cast<std::uint32_t>(records_.spans.size()));
    if (!is_new) return;
    bool const is_restored = entry.type == EntryType::state;
    std::uint32_t const parent = index_of(entry.parent);
    records_.spans.push_back({.begin_ns = entry.time.ns,
                              .track = track_of(entry),
                              .parent = parent,
                              .site = site_of(*entry.metadata),
                              .tag = is_restored ? entry.span_tag : entry.tag,
                              .first_value = composer_.add_values(*entry.metadata, entry.values),
                              .first_line = records_.lines.size(),
                              .has_late_values = records_.spans[parent].has_late_values || late_.contains(entry.span)});
  }
  void enter(Entry const& entry) {
    PageSpan& span = records_.spans[index_of(entry.span)];
    if (std::exchange(span.has_track, true) || index_of(entry.span) == 0) return;
    span.track = track_of(entry);
  }

  PageRecords& records_;
  LineComposer composer_;
  Entry const* now_ = nullptr;
  std::unordered_set<std::uint64_t> late_;  // spans that get values after their beginning
  std::unordered_map<Metadata const*, std::uint32_t> sites_;
  std::unordered_map<std::uint64_t, std::uint32_t> spans_;   // open ones, by key
  std::unordered_map<std::uint64_t, std::uint32_t> tracks_;  // by number
};

}  // namespace

std::unique_ptr<PageRecords> read_records(OpenedRecording& file) {
  auto records = std::make_unique<PageRecords>();
  Reader reader(*records, file);
  LineOptions options{.marks = true, .is_wanted = [&reader](Entry const& entry, tracing::Instant) {
                        reader.follow(entry);
                        return true;
                      }};
  options.format.value_sanitization = true;
  options.format.timer = tracing::utc_timer();
  LinePrinter printer("report", std::move(options), [&reader](std::string_view line) { reader.add_line(line); });
  try {
    printer.add(file, /*is_only=*/true);
  } catch (std::runtime_error const& error) {
    records->stopped = error.what();
  }
  return records;
}

}  // namespace testlog::cli::page
