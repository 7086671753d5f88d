#include "cuda_cpu/fatbin/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cuda_cpu/ptx/link.h"

namespace cuda_cpu::fatbin {
namespace {

bool runs_on(Entry const& entry, int capability) noexcept {
  if (entry.suffix == 'a') return entry.arch == capability;
  return entry.arch <= capability && (entry.suffix != 'f' || entry.arch / 10 == capability / 10);
}

// Returns the key by which choose() compares entries: it takes the entry with the smallest rank.
auto rank(Entry const& entry, int capability) noexcept {
  bool const runs = runs_on(entry, capability);
  bool const is_specific = entry.suffix != '\0';
  return std::tuple(!runs, !runs && is_specific, runs ? -entry.arch : entry.arch, is_specific);
}

// Returns the targets of the entries of one kind, each once: "sm_75 and sm_86".
std::string targets_of(std::span<Entry const> entries, Kind kind) {
  std::vector<std::string> targets;
  for (auto const& entry : entries)
    if (entry.kind == kind && std::ranges::find(targets, entry.target()) == targets.end())
      targets.push_back(entry.target());
  std::string text;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (i != 0) text += i + 1 == targets.size() ? " and " : ", ";
    text += targets[i];
  }
  return text;
}

// Returns the target to compile PTX for, chosen among the targets that the program already has code for.
int suggested(std::span<Entry const> entries, int capability) noexcept {
  int best = 0;
  for (auto const& entry : entries) {
    bool const is_better = entry.arch <= capability ? entry.arch > best || best > capability
                                                    : best == 0 || (best > capability && entry.arch < best);
    if (entry.arch <= kNewestTarget && is_better) best = entry.arch;
  }
  return best != 0 ? best : 75;
}

// Returns true for the PTX of libcudadevrt, which nvcc adds as one more unit when it links a program for PTX only.
bool is_device_runtime(std::string_view text) noexcept { return text.find(" __CNPRT_VERSION_NUMBER__") != text.npos; }

Result<Ptx> linked(std::vector<Ptx> units, int capability) {
  if (units.empty()) return Error{ErrorKind::no_ptx, why_no_ptx({}, capability)};
  if (units.size() == 1) return std::move(units.front());
  std::vector<std::string_view> texts;
  Ptx made;
  for (auto const& unit : units) {
    texts.push_back(unit.text);
    made.arch = std::max(made.arch, unit.arch);
  }
  auto text = ptx::link(texts);
  if (auto* const error = std::get_if<ptx::LinkError>(&text)) return Error{ErrorKind::link, std::move(error->message)};
  made.text = std::move(std::get<0>(text));
  return made;
}

}  // namespace

Entry const* choose(std::span<Entry const> entries, int capability) noexcept {
  Entry const* best = nullptr;
  for (auto const& entry : entries) {
    if (entry.kind != Kind::ptx || entry.arch > kNewestTarget) continue;
    if (best == nullptr || rank(entry, capability) < rank(*best, capability)) best = &entry;
  }
  return best;
}

std::string why_no_ptx(std::span<Entry const> entries, int capability) {
  if (entries.empty()) return "a fat binary without code";
  std::string found;
  if (auto const code = targets_of(entries, Kind::machine_code); !code.empty()) found = "machine code for " + code;
  if (auto const lto = targets_of(entries, Kind::lto); !lto.empty())
    found += (found.empty() ? "" : " and ") + ("code for link-time optimization (-dlto) for " + lto);
  if (auto const ptx = targets_of(entries, Kind::ptx); !ptx.empty())
    found += (found.empty() ? "" : " and ") + ("PTX for " + ptx);
  if (found.empty()) found = "code of an unknown kind";
  auto const arch = suggested(entries, capability);
  return fmt::format(
      "only {0}; add -gencode arch=compute_{1},code=compute_{1}, or CMAKE_CUDA_ARCHITECTURES={1} (not "
      "{1}-real)",
      found, arch);
}

Result<Ptx> find_ptx(std::span<std::byte const> container, int capability) {
  auto const entries = read(container);
  if (auto const* const error = std::get_if<Error>(&entries)) return *error;
  auto const* const chosen = choose(std::get<0>(entries), capability);
  if (chosen == nullptr) return Error{ErrorKind::no_ptx, why_no_ptx(std::get<0>(entries), capability)};
  auto text = text_of(*chosen);
  if (auto* const error = std::get_if<Error>(&text)) return std::move(*error);
  return Ptx{std::move(std::get<0>(text)), chosen->arch};
}

Result<Ptx> find_ptx(void const* image, int capability) {
  if (!is_wrapper(image)) return find_ptx(container_at(image), capability);
  auto const containers = containers_of(image);
  if (auto const* const error = std::get_if<Error>(&containers)) return *error;
  auto const& all = std::get<0>(containers);
  std::vector<Ptx> units;
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto unit = find_ptx(all[i], capability);
    if (auto* const error = std::get_if<Error>(&unit)) {
      if (all.size() > 1) error->message.insert(0, fmt::format("translation unit {} of {}: ", i + 1, all.size()));
      return std::move(*error);
    }
    if (!is_device_runtime(std::get<0>(unit).text)) units.push_back(std::move(std::get<0>(unit)));
  }
  return linked(std::move(units), capability);
}

}  // namespace cuda_cpu::fatbin
