#include "testlog/why/differences.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "testlog/why/noise.h"
#include "tracing_core/format/amounts.h"

namespace testlog::why {
namespace {

constexpr std::size_t kMaxListed = 3;
// Of a field with more values than are listed: they are data, of which a run may have more or fewer.
constexpr double kWeightOfMany = 0.75;

SiteFeatures const kNothing;
Values const kNoValues;

SiteFeatures const& at(RunFeatures const& run, SiteId site) noexcept {
  return site < run.sites.size() ? run.sites[site] : kNothing;
}
Values const& values_at(RunFeatures const& run, FieldId field) noexcept {
  return field < run.fields.size() ? run.fields[field] : kNoValues;
}

std::string in_words(std::string_view verb, std::uint32_t count) {
  return std::string(verb) + (count == 1 ? " once" : " " + std::to_string(count) + " times");
}

// Returns `a`, `a, b` or `one of 12 values`.
std::string list_of(Values const& values, std::function<std::string(SeenValue const&)> const& text_of) {
  if (values.seen().size() > kMaxListed) return "one of " + std::to_string(values.seen().size()) + " others";
  std::string list;
  for (SeenValue const& value : values.seen()) list.append(list.empty() ? "" : ", ").append(text_of(value));
  return list;
}

std::string text_of_classes(unsigned classes) {
  std::string text;
  for (unsigned i = 1; i <= static_cast<unsigned>(ValueClass::error); ++i) {
    if ((classes & (1U << i)) != 0) text.append(text.empty() ? "" : " or ").append(name(static_cast<ValueClass>(i)));
  }
  return text.empty() ? "another value" : text;
}

class Comparison {
 public:
  Comparison(Sites const& sites, RunFeatures const& run, bool has_failed, std::size_t index,
             std::span<RunFeatures const* const> passing)
      : sites_(sites), run_(run), has_failed_(has_failed), index_(index), passing_(passing) {
    complete_ = static_cast<std::size_t>(
        std::count_if(passing.begin(), passing.end(), [](RunFeatures const* one) { return one->lost == 0; }));
  }

  std::vector<Difference> find() {
    for (FieldId field = 0; field < run_.fields.size(); ++field) compare_values(field);
    for (SiteId site = 0; site < sites_.size(); ++site) {
      compare_occurrence(site);
      compare_exceptions(site);
      compare_count(site);
      compare_threads(site);
      compare_steps(site, false);
      compare_steps(site, true);
      compare_open(site);
      compare_duration(site);
    }
    compare_orders();
    compare_late();
    return std::move(found_);
  }

 private:
  template <class F>
  bool all_passing(F f) const {
    return std::all_of(passing_.begin(), passing_.end(), [&f](RunFeatures const* one) { return f(*one); });
  }
  // Returns true if `f` holds for all passing runs that are complete, which must be two or more.
  template <class F>
  bool all_complete(F f) const {
    return complete_ >= kMinPassing && all_passing([&](RunFeatures const& one) { return one.lost != 0 || f(one); });
  }

  Difference& add(CauseKind kind, SiteId site, std::uint64_t detail, Moment const& moment) {
    Difference& difference = found_.emplace_back();
    difference.key = {kind, site, detail};
    difference.at = moment;
    difference.passing = passing_.size();
    difference.cause.kind = kind;
    difference.cause.site = sites_.site(site);
    return difference;
  }

  // Returns true if all passing runs have the same values: the field of a record that all of them have.
  bool agree(std::function<Values const&(RunFeatures const&)> const& values_of) const {
    Values const& first = values_of(*passing_.front());
    return !first.empty() && all_passing([&](RunFeatures const& one) { return values_of(one).equals(first); });
  }

  void compare_values(FieldId field) {
    Values const& here = values_at(run_, field);
    auto const values_of = [field](RunFeatures const& run) -> Values const& { return values_at(run, field); };
    if (!agree(values_of)) return compare_classes(field);
    Values const& there = values_at(*passing_.front(), field);
    for (SeenValue const& value : here.seen()) {
      if (there.find(value.id) != nullptr) continue;
      Difference& difference = add(CauseKind::value, sites_.field(field).site, field, value.first);
      difference.cause.field = sites_.name(sites_.field(field).name);
      difference.cause.here = value.text;
      difference.cause.there = list_of(there, [](SeenValue const& one) { return one.text; });
      if (there.seen().size() > kMaxListed) difference.weight = kWeightOfMany;
      return;
    }
  }

  void compare_classes(FieldId field) {
    unsigned const classes = values_at(*passing_.front(), field).classes();
    if (classes == 0 ||
        !all_passing([&](RunFeatures const& one) { return values_at(one, field).classes() == classes; }))
      return;
    Values const& here = values_at(run_, field);
    unsigned const others = here.classes() & ~classes;
    for (unsigned i = 1; i <= static_cast<unsigned>(ValueClass::error); ++i) {
      if ((others & (1U << i)) == 0) continue;
      SeenValue const& value = here.first_of(static_cast<ValueClass>(i));
      Difference& difference = add(CauseKind::value, sites_.field(field).site, field, value.first);
      difference.cause.field = sites_.name(sites_.field(field).name);
      difference.cause.here = value.text;
      difference.cause.there = text_of_classes(classes);
      return;
    }
  }

  void compare_occurrence(SiteId site) {
    SiteFeatures const& here = at(run_, site);
    if (count_here(site) == 0) return compare_missing(site);
    std::size_t with = 0, without = 0;
    for (RunFeatures const* const one : passing_) {
      if (at(*one, site).count > 0) {
        ++with;
      } else if (one->lost == 0) {
        ++without;
      }
    }
    if (without == 0 || with + without < kMinPassing) return;
    Difference& difference = add(here.has_error ? CauseKind::exception : CauseKind::occurs, site, 0, here.first);
    difference.passing = with + without;
    difference.share_passing = static_cast<double>(with) / static_cast<double>(with + without);
    if (!here.has_error && with == 0) add_usual_place(difference.cause, site);
    Site const& names = sites_.site(site);
    for (FieldId field = names.first_field; here.has_error && field < names.fields_end; ++field) {
      unsigned const bit = 1U << static_cast<unsigned>(ValueClass::error);
      if ((values_at(run_, field).classes() & bit) == 0) continue;
      difference.cause.field = sites_.name(sites_.field(field).name);
      difference.cause.here = values_at(run_, field).first_of(ValueClass::error).text;
    }
  }

  // A statement that is new at this place may be known from another place, in all passing runs.
  void add_usual_place(Cause& cause, SiteId site) const {
    Site const& new_one = sites_.site(site);
    if (new_one.file.empty()) return;
    for (SiteId id = 0; id < sites_.size(); ++id) {
      Site const& other = sites_.site(id);
      if (id == site || other.line != new_one.line || other.file != new_one.file || other.message != new_one.message ||
          other.is_span != new_one.is_span)
        continue;
      if (!all_complete([id](RunFeatures const& one) { return at(one, id).count > 0; })) continue;
      cause.here = place_around(new_one);
      cause.there = place_around(other);
      return;
    }
  }
  std::string place_around(Site const& site) const {
    return site.around == kNoSite ? "in no span" : "in " + sites_.site(site.around).path;
  }

  // Compares whether exceptions left spans, in runs that have such spans.
  void compare_exceptions(SiteId site) {
    SiteFeatures const& here = at(run_, site);
    if (!here.left) return;
    std::size_t with = 0, without = 0;
    for (RunFeatures const* const one : passing_) {
      if (at(*one, site).count > 0) ++(at(*one, site).left ? with : without);
    }
    if (without == 0 || with + without < kMinPassing) return;
    Difference& difference = add(CauseKind::exception, site, kLeft, here.left);
    difference.passing = with + without;
    difference.share_passing = static_cast<double>(with) / static_cast<double>(with + without);
    difference.cause.here = "left by an exception";
  }

  std::uint32_t count_here(SiteId site) const noexcept {
    return has_failed_ ? at(run_, site).count : count_at_point(run_, site);
  }
  std::uint32_t later_here(SiteId site) const noexcept {
    return has_failed_ ? at(run_, site).later : at(run_, site).count - count_at_point(run_, site);
  }

  // Returns true if a passing run had come to the site where the failing run was when it failed.
  bool had_come_to(RunFeatures const& one, SiteId site) const noexcept {
    Moment const& first = at(one, site).first;
    if (!first) return false;
    if (first.order <= one.points[index_].order) return true;
    return later_here(site) == 0 && first.order <= one.points[index_].next_order;
  }

  void compare_missing(SiteId site) {
    if (run_.lost != 0) return;
    auto const without =
        static_cast<std::size_t>(std::count_if(passing_.begin(), passing_.end(), [&](RunFeatures const* one) {
          return one->lost == 0 && !had_come_to(*one, site);
        }));
    if (complete_ < kMinPassing || without == complete_) return;
    Difference& difference = add(CauseKind::missing, site, 0, when_due(site));
    difference.passing = complete_;
    difference.share_passing = static_cast<double>(without) / static_cast<double>(complete_);
    for (RunFeatures const* const one : passing_) {
      Values const& threads = at(*one, site).threads;
      if (!threads.empty()) difference.cause.thread = sites_.name(static_cast<NameId>(threads.seen().front().id - 1));
    }
  }

  // Returns when a missing record was due: after the record that precedes it in passing runs.
  Moment when_due(SiteId site) const noexcept {
    for (RunFeatures const* const one : passing_) {
      SiteId before = at(*one, site).before;
      for (int i = 0; i < 64 && before != kNoSite && at(run_, before).count == 0; ++i) before = at(*one, before).before;
      if (before != kNoSite && at(run_, before).count > 0)
        return {at(run_, before).last.order, at(run_, before).last.ns, 0};
    }
    return {run_.failure.order, run_.failure.ns, 0};
  }

  void compare_count(SiteId site) {
    std::uint32_t const here = count_here(site), all = at(*passing_.front(), site).count;
    if (here == 0 || all == 0 || run_.lost != 0 || here + later_here(site) == all) return;
    std::uint32_t const there = count_at_point(*passing_.front(), site);
    bool const agree = all_complete(
        [&](RunFeatures const& one) { return at(one, site).count == all && count_at_point(one, site) == there; });
    if (!agree || here == there) return;
    Difference& difference = add(CauseKind::count, site, 0, at(run_, site).last);
    difference.cause.here = in_words("recorded", here);
    difference.cause.there = in_words("", there).substr(1);
  }

  // Without a step that the main threads have in common, all of the passing run counts.
  std::uint32_t count_at_point(RunFeatures const& one, SiteId site) const noexcept {
    Point const& point = one.points[index_];
    if (point.order == 0) return at(one, site).count;
    return site < point.counts.size() ? point.counts[site] : 0;
  }

  void compare_threads(SiteId site) {
    auto const threads_of = [site](RunFeatures const& run) -> Values const& { return at(run, site).threads; };
    if (!agree(threads_of)) return;
    auto const text_of = [this](SeenValue const& one) { return sites_.name(static_cast<NameId>(one.id - 1)); };
    Values const& there = threads_of(*passing_.front());
    for (SeenValue const& value : threads_of(run_).seen()) {
      if (there.find(value.id) != nullptr) continue;
      Difference& difference = add(CauseKind::thread, site, 0, value.first);
      difference.cause.here = text_of(value);
      difference.cause.there = list_of(there, text_of);
      return;
    }
  }

  // Returns true if all complete passing runs reached the site equally often.
  bool is_regular(SiteId site) const {
    std::uint32_t const count = at(*passing_.front(), site).count;
    return count > 0 && all_complete([&](RunFeatures const& one) { return at(one, site).count == count; });
  }

  // Compares which steps follow on one thread. Skips a step that is not regular, since what follows it varies, too.
  void compare_steps(SiteId site, bool after_end) {
    if (run_.lost != 0) return;
    auto const steps_of = [=](RunFeatures const& run) -> Values const& { return at(run, site).next_steps[after_end]; };
    auto const is_regular_step = [this](SeenValue const& one) {
      return is_regular(site_of(static_cast<StepId>(one.id - 1)));
    };
    if (!agree(steps_of) || !is_regular(site)) return;
    std::vector<SeenValue> const& there = steps_of(*passing_.front()).seen();
    if (!std::all_of(there.begin(), there.end(), is_regular_step)) return;
    auto const text_of = [this](SeenValue const& one) { return text_of_step(static_cast<StepId>(one.id - 1)); };
    for (SeenValue const& value : steps_of(run_).seen()) {
      if (steps_of(*passing_.front()).find(value.id) != nullptr || !is_regular_step(value)) continue;
      SiteId const next = site_of(static_cast<StepId>(value.id - 1));
      Difference& difference = add(CauseKind::order, next, step_of(site, after_end), value.first);
      difference.other = site;
      difference.cause.here = text_of(value) + " directly after " + text_of_step(step_of(site, after_end));
      difference.cause.there = list_of(steps_of(*passing_.front()), text_of);
      return;
    }
  }

  std::string text_of_step(StepId step) const {
    Site const& site = sites_.site(site_of(step));
    std::string const text = !site.message.empty() ? '"' + site.message + '"'
                             : site.path.empty()   ? site.target
                                                   : site.path;
    return is_end(step) ? "the end of " + text : text;
  }

  void compare_open(SiteId site) {
    SiteFeatures const& here = at(run_, site);
    if (!run_.has_stopped || here.open == 0 || !here.threads.find(main_group())) return;
    bool const all_ended = all_complete([&](RunFeatures const& one) {
      std::vector<std::uint32_t> const& open = one.points[index_].open;
      return at(one, site).count > 0 && (site >= open.size() || open[site] == 0);
    });
    if (!all_ended) return;
    Difference& difference = add(CauseKind::open, site, 0, here.longest ? here.longest : here.last);
    difference.cause.here = "had not ended";
    difference.cause.there = "ended";
  }

  std::uint64_t main_group() const noexcept {
    for (NameId i = 0; i < sites_.name_count(); ++i) {
      if (sites_.name(i) == "main") return std::uint64_t{i} + 1;
    }
    return 0;
  }

  void compare_duration(SiteId site) {
    SiteFeatures const& here = at(run_, site);
    if (!here.longest || !all_passing([&](RunFeatures const& one) { return at(one, site).count > 0; })) return;
    std::int64_t longest = 0;
    for (RunFeatures const* const one : passing_) longest = std::max(longest, at(*one, site).longest_ns);
    if (!is_much_longer(here.longest_ns, longest)) return;
    Difference& difference = add(CauseKind::duration, site, 0, here.longest);
    difference.record = here.longest;
    difference.at.ns += longest;
    difference.cause.here = tracing::formatting::text_of_ns(static_cast<std::uint64_t>(here.longest_ns));
    if (here.is_longest_open) difference.cause.here += " and had not ended";
    difference.cause.there = "at most " + tracing::formatting::text_of_ns(static_cast<std::uint64_t>(longest));
  }

  void compare_orders() {
    if (run_.lost != 0) return;
    for (auto const& [order, pair] : run_.orders) {
      Order const reverse{order.second, order.first, order.name};
      bool const is_reversed = all_complete([&, &order = order](RunFeatures const& one) {
        return one.orders.contains(reverse) && !one.orders.contains(order);
      });
      if (!is_reversed) continue;  // this run may have both orders, as in a loop
      Difference& difference =
          add(CauseKind::order, order.first, std::uint64_t{order.second + 1} << 32 | order.name, pair.first);
      difference.other = order.second;
      difference.cause.there = "the other way round";
      std::string const first = text_of_step(step_of(order.first, false));
      std::string const second = text_of_step(step_of(order.second, false));
      if (pair.is_of_device) {  // streams tell them apart better than the number of their device
        difference.cause.here =
            "began on " + name_of(pair.first.thread) + " before " + second + " on " + name_of(pair.second_thread);
        continue;
      }
      difference.cause.field = sites_.name(order.name);
      difference.cause.here =
          first + " before " + second + " of the same " + difference.cause.field + " (" + pair.value + ")";
    }
  }

  std::string name_of(std::uint64_t thread) const {
    auto const found = run_.thread_names.find(thread);
    return found == run_.thread_names.end() ? "thread " + std::to_string(thread) : found->second;
  }

  // Threads that outlive their tests do so in many runs, and few of these fail: it is a difference unless all runs have
  // such a thread.
  void compare_late() {
    LateRecords const& here = run_.late;
    std::size_t with = 0, without = 0;
    for (RunFeatures const* const one : passing_) {
      Point const& point = one->points[index_];
      if (one->late.count > 0 && (point.order == 0 || one->late.first.order <= point.order)) {
        ++with;
      } else if (one->lost == 0) {
        ++without;
      }
    }
    if (here.count == 0 || without == 0 || with + without < kMinPassing) return;
    Difference& difference = add(CauseKind::late, here.site, 0, here.first);
    difference.passing = with + without;
    difference.share_passing = static_cast<double>(with) / static_cast<double>(with + without);
    std::string& text = difference.cause.here = "a thread of ";
    text += (here.test.empty() ? "an earlier test" : here.test) + ", which had ended, went on";
    if (here.before == kNoSite) return;
    Site const& before = sites_.site(here.before);
    text += " after " + text_of_step(step_of(here.before, false));
    if (!before.file.empty()) text += " (" + before.file + ":" + std::to_string(before.line) + ")";
  }

  Sites const& sites_;
  RunFeatures const& run_;
  bool const has_failed_;
  std::size_t const index_;
  std::span<RunFeatures const* const> const passing_;
  std::size_t complete_ = 0;
  std::vector<Difference> found_;
};

}  // namespace

std::vector<Difference> differences_of(Sites const& sites, RunFeatures const& failing, std::size_t index,
                                       std::span<RunFeatures const* const> passing) {
  return Comparison(sites, failing, true, index, passing).find();
}

std::vector<Difference> differences_of_passing(Sites const& sites, RunFeatures const& run, std::size_t index,
                                               std::span<RunFeatures const* const> others) {
  return Comparison(sites, run, false, index, others).find();
}

}  // namespace testlog::why
