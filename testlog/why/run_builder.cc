#include "testlog/why/run_builder.h"

#include <algorithm>
#include <utility>

namespace testlog::why {
namespace {

using tracing::recording::Entry;
using tracing::recording::EntryType;

constexpr std::uint64_t key_of(StepId step, std::uint32_t count) noexcept {
  return (std::uint64_t{step} << 32) | count;
}

}  // namespace

SharedValues::Slot& SharedValues::slot_of(NameId name, std::uint64_t value, bool is_of_device) {
  if (slots_.empty()) slots_.resize(kSlots);
  std::uint64_t const key = value + (2 * std::uint64_t{name} + is_of_device) * 0x9e3779b97f4a7c15;
  Slot& slot = slots_[key % kSlots];
  if (slot.key != key) {
    slot.key = key;
    slot.places.clear();
  }
  return slot;
}

RunBuilder::RunBuilder(ComparedTest& test, std::vector<RunFeatures> const& failing) : sites_(test.sites) {
  for (RunFeatures const& run : failing) {
    Aim& aim = aims_.emplace_back();
    aim.has_stopped = run.has_stopped;
    for (CountedStep const& step : run.last_steps)
      aim.ranks.emplace(key_of(step.step, step.count), aim.ranks.size() + 1);
  }
  run_.points.resize(failing.size());
}

SiteFeatures& RunBuilder::at(SiteId site) {
  if (site >= run_.sites.size()) run_.sites.resize(sites_.sites().size());
  return run_.sites[site];
}

RunBuilder::Thread& RunBuilder::thread_of(Entry const& entry, SiteId site) {
  auto const [found, is_new] = threads_.try_emplace(entry.track);
  Thread& thread = found->second;
  if (!is_new) return thread;
  Sites& sites = sites_.sites();
  if (entry.track == run_.main_thread) {
    thread.group = sites.add_name("main");
  } else if (!entry.track_name.empty()) {
    thread.group = sites.add_name(group_of_thread(entry.track_name));
    run_.thread_names.try_emplace(entry.track, entry.track_name);
  } else {
    Site const& first = sites.site(site);
    thread.group = sites.add_name("a thread that begins in " + (first.path.empty() ? first.target : first.path));
  }
  return thread;
}

Moment RunBuilder::step(SiteId site, bool is_end, Entry const& entry) {
  Moment const now{++order_, entry.time.ns, entry.track};
  Thread& thread = thread_of(entry, site);
  SiteFeatures& features = at(site);
  if (has_failed_) {
    if (!is_end) ++features.later;
    return now;
  }
  if (!is_end) {
    ++features.count;
    if (!features.first) {
      features.first = now;
      if (thread.has_last) features.before = site_of(thread.last);
    }
    features.last = now;
    features.threads.see(std::uint64_t{thread.group} + 1, now);
  }
  StepId const step = step_of(site, is_end);
  if (thread.has_last)
    run_.sites[site_of(thread.last)].next_steps[why::is_end(thread.last)].see(std::uint64_t{step} + 1, now);
  thread.last = step;
  thread.has_last = true;
  thread.last_order = now.order;
  if (entry.track == run_.main_thread) main_step(step);
  return now;
}

void RunBuilder::main_step(StepId step) {
  if (step >= main_counts_.size()) main_counts_.resize(2 * sites_.sites().size());
  std::uint32_t const count = ++main_counts_[step];
  for (std::size_t i = 0; i < aims_.size(); ++i) meet(aims_[i], run_.points[i], step, count);
  if (!aims_.empty()) return;
  std::vector<CountedStep>& last = run_.last_steps;
  if (last.size() == 2 * kLastSteps) last.erase(last.begin(), last.begin() + kLastSteps);
  last.push_back({step, count});
}

void RunBuilder::meet(Aim& aim, Point& point, StepId step, std::uint32_t count) {
  if (std::exchange(aim.is_next, false)) {
    if (aim.has_stopped) {
      take(point);
      point.next_order = order_;
    } else {
      point.next_order = order_ - 1;
    }
  }
  auto const found = aim.ranks.find(key_of(step, count));
  if (found == aim.ranks.end() || found->second < aim.rank) return;
  aim.rank = found->second;
  aim.is_next = true;
  take(point);
}

void RunBuilder::take(Point& point) const {
  point.order = order_;
  point.counts.resize(run_.sites.size());
  point.open.resize(run_.sites.size());
  for (std::size_t i = 0; i < run_.sites.size(); ++i) {
    point.counts[i] = run_.sites[i].count;
    point.open[i] = run_.sites[i].open;
  }
}

Moment RunBuilder::begin_span(SiteId site, Entry const& entry) {
  if (!has_failed_) ++at(site).open;
  Moment const now = step(site, false, entry);
  add_fields(site, entry, now);
  return now;
}

void RunBuilder::end_span(OpenSpan const& span, Entry const& entry) {
  SiteFeatures& features = at(span.site);
  if (!has_failed_ && features.open > 0) --features.open;
  if (!has_failed_ && span.begin && entry.time.ns - span.begin.ns > features.longest_ns) {
    features.longest_ns = entry.time.ns - span.begin.ns;
    features.longest = span.begin;
    features.is_longest_open = false;
  }
  if (entry.type != EntryType::scope_end) ++order_;
}

void RunBuilder::leave_by_exception(SiteId site, Entry const& entry) {
  Moment& left = at(site).left;
  if (!has_failed_ && !left) left = {thread_of(entry, site).last_order, entry.time.ns, entry.track};
}

void RunBuilder::add_event(SiteId site, Entry const& entry) { add_fields(site, entry, step(site, false, entry)); }

void RunBuilder::add_values(SiteId site, Entry const& entry) {
  add_fields(site, entry, {++order_, entry.time.ns, entry.track});
}

void RunBuilder::add_fields(SiteId site, Entry const& entry, Moment const& moment) {
  if (has_failed_ || entry.values == nullptr) return;
  tracing::FieldValues const fields = entry.fields();
  FieldId const first = sites_.sites().site(site).first_field;
  if (first + fields.size() > run_.fields.size()) run_.fields.resize(sites_.sites().field_count());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    tracing::Value const value = fields.value(i);
    if (value.is_empty()) continue;
    bool const is_literal = value.kind() == tracing::ValueKind::message && entry.metadata->parts().unnamed_count == 0;
    if (is_literal) continue;
    run_.fields[first + i].see(value, moment);
    if (value.kind() == tracing::ValueKind::error) at(site).has_error = true;
    if (can_be_shared(value))
      share(sites_.sites().field(static_cast<FieldId>(first + i)).name, value, {site, moment, entry.has_own_time()});
  }
}

void RunBuilder::add_late(SiteId site, SiteId before, std::string const& test, Entry const& entry) {
  LateRecords& late = run_.late;
  if (has_failed_ || (late.count > 0 && late.test != test)) return;
  if (late.count++ == 0)
    late = {.test = test, .count = 1, .site = site, .before = before, .first = {++order_, entry.time.ns, entry.track}};
  if (!entry.track_name.empty()) run_.thread_names.try_emplace(entry.track, entry.track_name);
}

// Records that have their own time, such as those of a GPU, come late: they can be compared only with each other, by
// time.
void RunBuilder::share(NameId name, tracing::Value const& value, SharedValues::Place const& here) {
  SharedValues::Slot& slot = shared_.slot_of(name, id_of(value), here.has_own_time);
  for (SharedValues::Place const& place : slot.places) {
    bool const is_same_thread = place.moment.thread == here.moment.thread;
    if (place.site == here.site && is_same_thread) return;
    if (place.site == here.site || is_same_thread) continue;
    bool const is_later = !here.has_own_time || place.moment.ns <= here.moment.ns;
    SharedValues::Place const &first = is_later ? place : here, &second = is_later ? here : place;
    auto const [at, is_new] = run_.orders.try_emplace({first.site, second.site, name});
    if (is_new) at->second = {first.moment, text_of(value), second.moment.thread, here.has_own_time};
  }
  if (slot.places.size() < SharedValues::max_places(here.has_own_time)) slot.places.push_back(here);
}

void RunBuilder::fail(tracing::Instant time) {
  if (std::exchange(has_failed_, true)) return;
  run_.failure = {order_, time.ns, 0};
  std::vector<CountedStep>& last = run_.last_steps;
  if (last.size() > kLastSteps) last.erase(last.begin(), last.end() - kLastSteps);
}

void RunBuilder::leave_open(OpenSpan const& span) {
  std::int64_t const ns = run_.failure.ns - span.begin.ns;
  SiteFeatures& features = at(span.site);
  if (!span.begin || ns <= features.longest_ns) return;
  features.longest_ns = ns;
  features.longest = span.begin;
  features.is_longest_open = true;
}

RunFeatures RunBuilder::finish(tracing::Instant time, bool has_stopped) {
  run_.has_stopped = has_stopped;
  fail(time);
  for (std::size_t i = 0; i < aims_.size(); ++i) {
    Point& point = run_.points[i];
    bool const is_last = aims_[i].is_next;
    if (aims_[i].has_stopped && (is_last || point.order == 0)) take(point);
    if (is_last || point.order == 0) point.next_order = ~std::uint64_t{0};
  }
  return std::move(run_);
}

}  // namespace testlog::why
