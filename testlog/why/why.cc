#include "testlog/why/why.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "testlog/why/differences.h"

namespace testlog::why {
namespace {

constexpr double kMinScore = 0.5;
constexpr std::size_t kMaxFound = 1000;  // with more, no common cause could be shown

// A difference, and all failing runs that have it.
struct Found {
  Difference difference;
  std::size_t failing = 0;     // the number of these runs
  std::int64_t before_ns = 0;  // from the difference to the failure, in the first of these runs
  double score = 0;
  double trust = 1;  // see set_trust()
};

// Returns the share of `count` in `all` runs, after adding one run that counts half.
double smoothed(double count, std::size_t all) noexcept { return (count + 0.5) / (static_cast<double>(all) + 1); }

// Returns the score of a difference that `having` of the failing runs have.
double score_of(Difference const& difference, std::size_t having, std::size_t failing) noexcept {
  return smoothed(static_cast<double>(having), failing) -
         smoothed(difference.share_passing * static_cast<double>(difference.passing), difference.passing);
}

std::string label_of(RunFeatures const& run, std::uint64_t thread) {
  if (thread == run.main_thread) return "main";
  auto const found = run.thread_names.find(thread);
  if (found == run.thread_names.end() || found->second.empty()) return "thread " + std::to_string(thread);
  return found->second;
}

std::vector<RunFeatures const*> pointers_to(std::span<RunFeatures const> runs) {
  std::vector<RunFeatures const*> all;
  for (RunFeatures const& run : runs) all.push_back(&run);
  return all;
}

// The number of differences of each kind.
using CountsByKind = std::array<double, static_cast<std::size_t>(CauseKind::late) + 1>;
double& count_of(CountsByKind& counts, CauseKind kind) noexcept { return counts[static_cast<std::size_t>(kind)]; }

// Returns how many differences of each kind a passing run has from the other passing runs, on average. A failing run
// has as many by chance. REQUIRES: three passing runs or more.
CountsByKind counts_by_chance(Sites const& sites, std::span<RunFeatures const> passing) {
  CountsByKind counts{};
  std::vector<RunFeatures const*> others = pointers_to(passing.subspan(1));
  for (std::size_t i = 0; i < passing.size(); ++i) {
    for (Difference const& difference : differences_of_passing(sites, passing[i], 0, others)) {
      if (score_of(difference, 1, 1) >= kMinScore)
        count_of(counts, difference.key.kind) += 1 / static_cast<double>(passing.size());
    }
    if (i < others.size()) others[i] = &passing[i];
  }
  return counts;
}

// Sets the trust in each difference: the share of the differences of its kind that are not there by chance. Two passing
// runs are too few to know this; then what no thread's speed changes comes first.
void set_trust(std::vector<Found>& all, Sites const& sites, std::size_t failing, std::span<RunFeatures const> passing) {
  if (passing.size() <= kMinPassing) {
    for (Found& found : all) {
      CauseKind const kind = found.difference.key.kind;
      bool const is_timeless = kind == CauseKind::value || kind == CauseKind::exception || kind == CauseKind::occurs;
      found.trust = is_timeless ? 1 : 0.75;
    }
    return;
  }
  CountsByKind counts{}, by_chance = counts_by_chance(sites, passing);
  for (Found const& found : all)
    count_of(counts, found.difference.key.kind) += static_cast<double>(found.failing) / static_cast<double>(failing);
  for (Found& found : all) {
    CauseKind const kind = found.difference.key.kind;
    double const trust = std::max(0.0, 1 - count_of(by_chance, kind) / count_of(counts, kind));
    found.trust = std::round(trust * 10) / 10;  // it is an estimate
  }
}

std::vector<Found> find_all(Sites const& sites, std::span<RunFeatures const> failing,
                            std::span<RunFeatures const> passing) {
  std::map<DifferenceKey, Found> by_key;
  std::vector<RunFeatures const*> const all_passing = pointers_to(passing);
  for (std::size_t i = 0; i < failing.size(); ++i) {
    for (Difference& difference : differences_of(sites, failing[i], i, all_passing)) {
      Found& found = by_key[difference.key];
      if (found.failing++ > 0) continue;
      Moment const& record = difference.record ? difference.record : difference.at;
      difference.cause.before_failure_ns = std::max<std::int64_t>(0, failing[i].failure.ns - record.ns);
      found.before_ns = std::max<std::int64_t>(0, failing[i].failure.ns - difference.at.ns);
      if (difference.at.thread != 0) difference.cause.thread = label_of(failing[i], difference.at.thread);
      found.difference = std::move(difference);
    }
  }
  std::vector<Found> all;
  for (auto& [key, found] : by_key) {
    Difference& difference = found.difference;
    difference.cause.share_failing = static_cast<double>(found.failing) / static_cast<double>(failing.size());
    difference.cause.share_passing = difference.share_passing;
    found.score = score_of(difference, found.failing, failing.size());
    double const least = difference.key.kind == CauseKind::late ? 0 : kMinScore;
    if (found.score > 0 && found.score >= least) all.push_back(std::move(found));
  }
  set_trust(all, sites, failing.size(), passing);
  return all;
}

// Scores, times the trust and the weight, that differ by less than a twentieth count as equal; then the earlier
// difference comes first.
void sort(std::vector<Found>& all) {
  auto const rank = [](Found const& one) {
    Cause const& cause = one.difference.cause;
    return std::tuple(-std::lround(one.score * one.trust * one.difference.weight * 20), -one.before_ns, cause.kind,
                      one.difference.at.order, one.difference.key);
  };
  std::sort(all.begin(), all.end(), [&rank](Found const& a, Found const& b) { return rank(a) < rank(b); });
}

// Tells which differences follow from others.
class Consequences {
 public:
  Consequences(Sites const& sites, std::span<RunFeatures const> failing, std::span<RunFeatures const> passing)
      : sites_(sites), failing_(failing), passing_(passing) {}

  // Returns true if each of two such differences could follow from the other; then the second in the list does.
  static bool is_symmetric(Found const& a, Found const& b) {
    CauseKind const kind = a.difference.cause.kind;
    return kind == b.difference.cause.kind && (kind == CauseKind::value || kind == CauseKind::order ||
                                               kind == CauseKind::thread || kind == CauseKind::missing);
  }

  // Returns true if `later` follows from `cause`, which is another difference.
  bool follows(Found const& later, Found const& cause) const {
    CauseKind const kind = later.difference.cause.kind, by = cause.difference.cause.kind;
    SiteId const site = later.difference.key.site, from = cause.difference.key.site;
    bool const is_inside = sites_.is_inside(site, from);
    if (is_left(later)) return is_left(cause) && sites_.is_inside(from, site);
    if (is_left(cause) && kind == CauseKind::missing)
      return is_inside ? later.difference.at.order >= cause.difference.at.order
                       : at_first(passing_, site).before == from;
    switch (kind) {
      case CauseKind::value: return is_repeated(later, cause);
      case CauseKind::order:
        return by != CauseKind::value && by != CauseKind::duration && by != CauseKind::late && touches(later, from);
      case CauseKind::occurs:
      case CauseKind::exception:
        return (by == CauseKind::occurs || by == CauseKind::exception) &&
               (is_inside || at_first(failing_, site).before == from);
      case CauseKind::missing:
        return by == CauseKind::missing && (is_inside || at_first(passing_, site).before == from ||
                                            later.difference.cause.thread == cause.difference.cause.thread);
      case CauseKind::count: return is_inside && by == CauseKind::count;
      case CauseKind::open: return by == CauseKind::open && sites_.is_inside(from, site);
      case CauseKind::duration:
        return (by == CauseKind::duration || by == CauseKind::open) && (site == from || sites_.is_inside(from, site));
      case CauseKind::late: return false;
      case CauseKind::thread: return by == CauseKind::thread && (is_inside || is_same_move(later, cause));
    }
    return false;
  }

 private:
  // Returns true if an exception left a span.
  static bool is_left(Found const& found) {
    return found.difference.key.kind == CauseKind::exception && found.difference.key.detail == kLeft;
  }

  static bool is_repeated(Found const& later, Found const& cause) {
    Cause const &a = later.difference.cause, &b = cause.difference.cause;
    return b.kind == CauseKind::value && a.field == b.field && a.here == b.here && a.there == b.there &&
           a.thread == b.thread;
  }

  // Returns true if both were on one group of threads in place of another.
  static bool is_same_move(Found const& later, Found const& cause) {
    Cause const &a = later.difference.cause, &b = cause.difference.cause;
    return a.here == b.here && a.there == b.there;
  }

  // Returns true if a step between two sites involves `site`: as either of them, or because it leaves out `site`.
  bool touches(Found const& step, SiteId site) const {
    if (!step.difference.cause.field.empty()) return false;
    SiteId const before = step.difference.other;
    if (site == before || site == step.difference.key.site) return true;
    for (RunFeatures const& run : passing_) {
      if (before >= run.sites.size()) continue;
      for (Values const& next : run.sites[before].next_steps) {
        if (next.find(std::uint64_t{step_of(site, false)} + 1) != nullptr) return true;
      }
    }
    return false;
  }

  // Returns the features of the site in the first run that has it.
  static SiteFeatures const& at_first(std::span<RunFeatures const> runs, SiteId site) {
    static SiteFeatures const nothing;
    for (RunFeatures const& run : runs) {
      if (site < run.sites.size() && run.sites[site].count > 0) return run.sites[site];
    }
    return nothing;
  }

  Sites const& sites_;
  std::span<RunFeatures const> const failing_, passing_;
};

// Leaves out each difference that follows from another difference, even if the other is left out, too.
std::vector<Cause> without_consequences(std::vector<Found>& all, Consequences const& consequences) {
  constexpr std::size_t kNone = ~std::size_t{0};
  std::vector<std::size_t> of(all.size(), kNone);
  auto const root_of = [&of](std::size_t i) {
    while (of[i] != kNone) i = of[i];
    return i;
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t k = 0; k < all.size() && of[i] == kNone; ++k) {
      bool const may_follow = k < i || !Consequences::is_symmetric(all[i], all[k]);
      if (may_follow && consequences.follows(all[i], all[k]) && root_of(k) != i) of[i] = k;
    }
  }
  std::vector<std::size_t> counts(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (of[i] != kNone) ++counts[root_of(i)];
  }
  std::vector<Cause> causes;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (of[i] != kNone) continue;
    all[i].difference.cause.consequences = counts[i];
    causes.push_back(std::move(all[i].difference.cause));
  }
  return causes;
}

}  // namespace

std::vector<Cause> causes_of(Sites const& sites, std::span<RunFeatures const> failing,
                             std::span<RunFeatures const> passing) {
  if (failing.empty() || passing.size() < kMinPassing) return {};
  std::vector<Found> all = find_all(sites, failing, passing);
  sort(all);
  if (all.size() > kMaxFound) all.resize(kMaxFound);
  return without_consequences(all, Consequences(sites, failing, passing));
}

Ignored ignored_in(std::span<RunFeatures const> failing, std::span<RunFeatures const> passing) {
  Ignored ignored;
  auto const has_lost = [](RunFeatures const& run) { return run.lost != 0; };
  ignored.overwritten_failing = static_cast<std::size_t>(std::count_if(failing.begin(), failing.end(), has_lost));
  ignored.overwritten_passing = static_cast<std::size_t>(std::count_if(passing.begin(), passing.end(), has_lost));
  std::size_t fields = 0;
  for (RunFeatures const& run : passing) fields = std::max(fields, run.fields.size());
  for (std::size_t field = 0; field < fields; ++field) {
    Values const* first = nullptr;
    bool varies = false;
    for (RunFeatures const& run : passing) {
      if (field >= run.fields.size() || run.fields[field].empty()) continue;
      if (first == nullptr) first = &run.fields[field];
      varies |= !run.fields[field].equals(*first);
    }
    if (varies) ++ignored.volatile_fields;
  }
  return ignored;
}

}  // namespace testlog::why
