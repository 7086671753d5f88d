#include "testlog/why/tree_reader.h"

#include <memory>
#include <unordered_map>
#include <utility>

#include "testlog/why/divided_runs.h"

namespace testlog::why {
namespace {

using tracing::recording::Entry;
using tracing::recording::EntryType;
using tracing::recording::Recording;

struct Run {
  RunTree run;
  Names names;
  SitesOfRecording sites;
  std::unordered_map<std::uint64_t, NodeId> open{};    // by key
  std::unordered_map<std::uint64_t, NameId> groups{};  // by track
};

class TreeReader final : public DividedRuns<Run> {
 public:
  TreeReader(Recording& recording, std::string const& file,
             std::function<Names const*(std::string const& test)> const& names_of,
             std::function<void(RunTree)> const& add)
      : DividedRuns(recording), file_(file), names_of_(names_of), add_(add) {}

 private:
  std::unique_ptr<Run> begin(std::string const& test) override {
    Names const* const names = names_of_(test);
    if (names == nullptr) return nullptr;
    return std::unique_ptr<Run>(new Run{.run = {.file = file_, .test = test, .tree = SpanTree(main_thread())},
                                        .names = *names,
                                        .sites = SitesOfRecording(names->sites)});
  }

  void end(Run& run, RunEnd end) override {
    run.run.result = std::move(end.result);
    run.run.lost = end.lost;
    run.run.tree.finish(end.time.ns);
    add_(std::move(run.run));
  }

  void see(Run& run, Entry const& entry) override {
    if (begins_span(entry.type)) {
      open(run, entry);
    } else if (entry.type == EntryType::event) {
      add_values(run, add_event(run, entry), entry);
    } else if (ends_span(entry.type)) {
      auto const found = run.open.find(entry.span);
      if (found == run.open.end()) return;
      run.run.tree.end(found->second, entry.time.ns);
      run.open.erase(found);
    } else if (entry.type == EntryType::values && !entry.is_restated() && run.open.contains(entry.span)) {
      add_values(run, run.open[entry.span], entry);
    } else if (entry.type == EntryType::state && !run.open.contains(entry.span) &&
               (is_program() || entry.span_tag == entry.tag)) {
      open(run, entry);  // its beginning was overwritten
    }
  }

  // Returns the node of an open span; the root if the span did not begin in this run.
  static NodeId node_of(Run const& run, std::uint64_t span_key) {
    auto const found = span_key == 0 ? run.open.end() : run.open.find(span_key);
    return found == run.open.end() ? kRoot : found->second;
  }

  void open(Run& run, Entry const& entry) {
    NodeId const node = add_node(run, entry, node_of(run, entry.parent), node_of(run, span_around(entry)));
    run.run.tree.nodes()[node].is_open = true;
    run.open[entry.span] = node;
    add_values(run, node, entry);
  }

  static NodeId add_event(Run& run, Entry const& entry) {
    NodeId const around = node_of(run, entry.span);
    return add_node(run, entry, around, around);
  }

  // Adds a node below `parent`. Its site is inside that of `around`.
  static NodeId add_node(Run& run, Entry const& entry, NodeId parent, NodeId around) {
    SpanTree& tree = run.run.tree;
    SiteId const site = run.sites.site_of(*entry.metadata, tree.node(around).site);
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

  std::string const& file_;
  std::function<Names const*(std::string const& test)> const& names_of_;
  std::function<void(RunTree)> const& add_;
};

}  // namespace

void read_trees(Recording& recording, std::string const& file,
                std::function<Names const*(std::string const& test)> const& names_of,
                std::function<void(RunTree)> const& add) {
  TreeReader(recording, file, names_of, add).read();
}

}  // namespace testlog::why
