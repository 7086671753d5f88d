#include "testlog/why/tree_reader.h"

#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "tracing_core/record/tests.h"

namespace testlog::why {
namespace {

using tracing::recording::Entry;
using tracing::recording::EntryType;
using tracing::recording::Recording;
using tracing::recording::text_of_field;

class TreeReader {
 public:
  TreeReader(Recording& recording, std::string const& file,
             std::function<Names const*(std::string const& test)> const& names_of,
             std::function<void(RunTree)> const& add)
      : recording_(recording), file_(file), names_of_(names_of), add_(add) {}

  void read() {
    is_whole_ = !recording_.has(EntryType::mark);
    if (is_whole_) begin_run(0, "");
    recording_.for_each([this](Entry const& entry) {
      last_ = entry.time;
      if (entry.type == EntryType::mark) return see_mark(entry);
      auto const run = runs_.find(is_whole_ ? 0 : entry.tag);
      if (run != runs_.end()) see(*run->second, entry);
    });
    while (!runs_.empty()) end_run(runs_.begin(), "");
  }

 private:
  struct Run {
    RunTree run;
    Names names;
    SitesOfRecording sites;
    std::unordered_map<std::uint64_t, NodeId> open{};    // by key
    std::unordered_map<std::uint64_t, NameId> groups{};  // by track
  };
  using Runs = std::map<std::uint32_t, std::unique_ptr<Run>>;  // by tag

  void begin_run(std::uint32_t tag, std::string test) {
    if (auto const before = runs_.find(tag); before != runs_.end()) end_run(before, "");
    Names const* const names = names_of_(test);
    if (names == nullptr) return;
    runs_[tag] =
        std::unique_ptr<Run>(new Run{.run = {.file = file_, .test = std::move(test), .tree = SpanTree(main_thread())},
                                     .names = *names,
                                     .sites = SitesOfRecording(names->sites)});
  }

  std::uint64_t main_thread() const noexcept {
    for (tracing::recording::Thread const& thread : recording_.threads()) {
      if (thread.os_thread == static_cast<std::int64_t>(recording_.process())) return thread.number;
    }
    return 0;
  }

  void see_mark(Entry const& mark) {
    std::string_view const name = mark.metadata->name();
    if (name == "test_begin") return begin_run(mark.tag, text_of_field(mark, "test"));
    auto const run = runs_.find(mark.tag);
    if (name == "test_end" && run != runs_.end() && text_of_field(mark, "test") == run->second->run.test)
      end_run(run, text_of_field(mark, "result"));
  }

  void end_run(Runs::iterator at, std::string result) {
    RunTree& run = at->second->run;
    run.result = std::move(result);
    run.lost = is_whole_ ? recording_.lost().count : recording_.lost_of(at->first);
    run.tree.finish(last_.ns);
    add_(std::move(run));
    runs_.erase(at);
  }

  void see(Run& run, Entry const& entry) {
    if (begins_span(entry.type)) {
      open(run, entry);
    } else if (entry.type == EntryType::event) {
      add_values(run, add_node(run, entry, node_of(run, entry.span)), entry);
    } else if (ends_span(entry.type)) {
      auto const found = run.open.find(entry.span);
      if (found == run.open.end()) return;
      run.run.tree.end(found->second, entry.time.ns);
      run.open.erase(found);
    } else if (entry.type == EntryType::values && !entry.is_restated() && run.open.contains(entry.span)) {
      add_values(run, run.open[entry.span], entry);
    } else if (entry.type == EntryType::state && !run.open.contains(entry.span) &&
               (is_whole_ || entry.span_tag == entry.tag)) {
      open(run, entry);  // its beginning was overwritten
    }
  }

  // Returns the node of an open span; the root if the span did not begin in this run.
  static NodeId node_of(Run const& run, std::uint64_t span_key) {
    auto const found = span_key == 0 ? run.open.end() : run.open.find(span_key);
    return found == run.open.end() ? kRoot : found->second;
  }

  void open(Run& run, Entry const& entry) {
    NodeId const node = add_node(run, entry, node_of(run, entry.parent));
    run.run.tree.nodes()[node].is_open = true;
    run.open[entry.span] = node;
    add_values(run, node, entry);
  }

  static NodeId add_node(Run& run, Entry const& entry, NodeId parent) {
    SpanTree& tree = run.run.tree;
    SiteId const site = run.sites.site_of(*entry.metadata, tree.node(parent).site);
    NameId group = 0;
    if (tree.node(parent).track != entry.track) group = group_of(run, entry, site);
    return tree.add(site, parent, entry.track, entry.time.ns, group);
  }

  static NameId group_of(Run& run, Entry const& entry, SiteId site) {
    auto const [found, is_new] = run.groups.try_emplace(entry.track);
    if (!is_new) return found->second;
    Sites& sites = run.names.sites;
    Site const& first = sites.site(site);
    return found->second = sites.add_name(
               entry.track_name.empty() ? "a thread that begins in " + (first.path.empty() ? first.target : first.path)
                                        : group_of_thread(entry.track_name));
  }

  static void add_values(Run& run, NodeId node, Entry const& entry) {
    if (entry.values == nullptr) return;
    tracing::FieldValues const fields = entry.fields();
    Site const& site = run.names.sites.site(run.run.tree.node(node).site);
    for (std::size_t i = 0; i < fields.size() && site.first_field + i < site.fields_end; ++i) {
      tracing::Value const value = fields.value(i);
      bool const is_literal = value.kind() == tracing::ValueKind::message && entry.metadata->parts().unnamed_count == 0;
      if (value.is_empty() || is_literal) continue;
      run.run.tree.add_value(node, static_cast<FieldId>(site.first_field + i), run.names.texts.add(value));
    }
  }

  Recording& recording_;
  std::string const& file_;
  std::function<Names const*(std::string const& test)> const& names_of_;
  std::function<void(RunTree)> const& add_;
  bool is_whole_ = false;  // the recording has no tests and is one run
  tracing::Instant last_{};
  Runs runs_;
};

}  // namespace

void read_trees(Recording& recording, std::string const& file,
                std::function<Names const*(std::string const& test)> const& names_of,
                std::function<void(RunTree)> const& add) {
  TreeReader(recording, file, names_of, add).read();
}

}  // namespace testlog::why
