#include "cuda_tests/ptx/isa.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cuda_tests/ptx/forms.h"

namespace cuda_tests::ptx {
namespace {

template <class Visit>
bool any_part(std::string_view text, char at, Visit const& visit) {
  for (;;) {
    std::size_t const end = std::min(text.find(at), text.size());
    if (visit(text.substr(0, end))) return true;
    if (end == text.size()) return false;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  if (!text.empty()) any_part(text, '.', [&](std::string_view word) { words.push_back(word); return false; });
  return words;
}

bool is_type(std::string_view word) noexcept {
  static constexpr std::string_view kOthers[] = {"b128",    "bf16",   "bf16x2", "f32x2",  "tf32",   "u16x2",
                                                 "s16x2",   "e4m3x2", "e5m2x2", "e2m1x2", "e2m3x2", "e3m2x2",
                                                 "ue8m0x2", "e4m3x4", "e5m2x4", "e2m1x4", "e2m3x4", "e3m2x4"};
  return find_type(word) != Type::none || std::ranges::find(kOthers, word) != std::end(kOthers);
}

// The words of a form in one order; types keep theirs. Those that belong to the opcode stay where they are.
std::string in_order(std::string_view form) {
  auto words = words_of(form);
  if (words[0] == "bar" || words[0] == "barrier") return std::string(form);
  static constexpr std::string_view kOfOpcodes[] = {"lo", "hi", "wide", "l", "r"};
  std::size_t const fixed = words.size() > 1 && std::ranges::find(kOfOpcodes, words[1]) != std::end(kOfOpcodes) ? 2 : 1;
  std::stable_sort(words.begin() + static_cast<std::ptrdiff_t>(fixed), words.end(), [](std::string_view a, std::string_view b) {
    if (is_type(a) || is_type(b)) return !is_type(a) && is_type(b);
    return a < b;
  });
  std::string text;
  for (auto const word : words) (text += word) += '.';
  return text;
}

// The form whose words these are, of those that a target and a version have.
Form const* find_in_any_order(std::string_view form, unsigned target, unsigned version) {
  static auto const* const all = [] {
    auto* const made = new std::unordered_multimap<std::string, Form const*>;
    for (auto const* const one : all_forms()) made->emplace(in_order(one->name), one);
    return made;
  }();
  auto const [begin, end] = all->equal_range(in_order(form));
  for (auto one = begin; one != end; ++one)
    if (one->second->minimal_target <= target && one->second->minimal_version <= version) return one->second;
  return nullptr;
}

bool is_multiple_of_8(std::string_view digits) {
  unsigned value = 0;
  for (char const digit : digits) {
    if (digit < '0' || digit > '9' || value > 256) return false;
    value = 10 * value + static_cast<unsigned>(digit - '0');
  }
  return !digits.empty() && digits[0] != '0' && value % 8 == 0 && value <= 256;
}

// Whether a word is the one of a slot, in which '#' stands for a number.
bool is_same(std::string_view one, std::string_view word) {
  auto const number = one.find('#');
  if (number == one.npos) return one == word;
  auto const head = one.substr(0, number), tail = one.substr(number + 1);
  if (word.size() <= head.size() + tail.size() || !word.starts_with(head) || !word.ends_with(tail)) return false;
  return is_multiple_of_8(word.substr(head.size(), word.size() - head.size() - tail.size()));
}

bool slot_has(std::string_view slot, std::string_view word) {
  return any_part(slot, '|', [&](std::string_view one) {
    if (!one.starts_with('@')) return is_same(one, word);
    auto const found = std::ranges::find(isa_slots(), one.substr(1), &IsaSlot::name);
    return found != isa_slots().end() && slot_has(found->words, word);
  });
}

// The kinds of words that keep their order among each other.
enum class Order { types, spaces, layouts, operations, shapes, none };

Order order_of(std::string_view word) {
  static constexpr std::string_view kNarrow[] = {"b1", "u2", "s2", "u4", "s4", "e4m3", "e5m2", "e2m1", "e2m3", "e3m2", "ue8m0",
                                                 "ue4m3", "b8x16", "b6x16_p32", "b4x16_p64"};
  if (is_type(word) || std::ranges::find(kNarrow, word) != std::end(kNarrow)) return Order::types;
  bool const is_shape = word.size() > 3 && word[0] == 'm' && word[1] >= '0' && word[1] <= '9';
  if (word == "sync" || word == "aligned" || is_shape) return Order::shapes;
  if (word == "row" || word == "col") return Order::layouts;
  if (word == "and" || word == "xor" || word == "popc") return Order::operations;
  auto const space = word.substr(0, word.find(':'));
  bool const is_space = space == "global" || space == "local" || space == "const" || space == "shared" || space == "param";
  return is_space ? Order::spaces : Order::none;
}

// Words that are younger than the instructions that have them.
bool is_known_to(unsigned version, std::string_view word) {
  struct Since {
    std::string_view begin;
    unsigned version;
  };
  static constexpr Since kSince[] = {{"shared::", 78}, {"L1::", 74}, {"L2::", 74}, {"acc::f32", 82}, {"block", 88}};
  auto const knows = [&](Since const& since) { return version >= since.version || !word.starts_with(since.begin); };
  return word == "block_scale" || std::ranges::all_of(kSince, knows);
}

// Whether each word has a slot and each slot that must have one a word. So no word stands twice unless two slots have it.
bool fits(std::string_view slots_text, std::vector<std::string_view> const& words) {
  std::vector<std::string_view> slots;
  if (!slots_text.empty()) any_part(slots_text, ' ', [&](std::string_view slot) { slots.push_back(slot); return false; });
  std::vector<bool> taken(slots.size());
  std::array<std::size_t, static_cast<std::size_t>(Order::none)> first{};
  for (auto const word : words) {
    auto const order = order_of(word);
    bool found = false;
    for (std::size_t i = order == Order::none ? 0 : first[static_cast<std::size_t>(order)]; i < slots.size() && !found; ++i) {
      auto slot = slots[i];
      if (slot.starts_with('?')) slot.remove_prefix(1);
      if (taken[i] || !slot_has(slot, word)) continue;
      found = taken[i] = true;
      if (order != Order::none) first[static_cast<std::size_t>(order)] = i + 1;
    }
    if (!found) return false;
  }
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (!taken[i] && !slots[i].starts_with('?')) return false;
  return true;
}

// Whether an opcode of the table of forms has that name.
bool is_opcode(std::string_view name) {
  static auto const* const opcodes = [] {
    auto* const made = new std::unordered_set<std::string_view>;
    for (auto const* const form : all_forms()) made->insert(form->opcode());
    return made;
  }();
  return opcodes->contains(name);
}

// Whether any instruction of PTX has that word.
bool is_modifier(std::string_view word) {
  static auto const* const of_forms = [] {
    auto* const made = new std::unordered_set<std::string_view>;
    for (auto const* const form : all_forms())
      for (auto const one : words_of(form->name)) made->insert(one);
    return made;
  }();
  auto const in_slot = [word](std::string_view slot) { return slot_has(slot.starts_with('?') ? slot.substr(1) : slot, word); };
  auto const has = [&](IsaRow const& row) { return any_part(row.slots, ' ', in_slot); };
  return of_forms->contains(word) || std::ranges::any_of(isa_rows(), has) || std::ranges::any_of(isa_unit_rows(), has);
}

bool begins_with(std::string_view instruction, std::string_view opcode) {
  return instruction.starts_with(opcode) && (instruction.size() == opcode.size() || instruction[opcode.size()] == '.');
}

}  // namespace

Form const* find_form(std::string_view instruction, unsigned target, unsigned version) {
  auto const* const exact = find_form(instruction);
  if (exact != nullptr && exact->minimal_target <= target && exact->minimal_version <= version) return exact;
  return find_in_any_order(instruction, target, version);
}

std::optional<IsaObjection> isa_objection(std::string_view instruction, unsigned target, unsigned version, bool specific) {
  auto const opcode = instruction.substr(0, instruction.find('.'));
  bool known = false;
  std::vector<std::string_view> longest = words_of(instruction);  // the words behind the longest name of an opcode that fits
  longest.erase(longest.begin());
  auto const has = [&](IsaRow const& row) {
    return any_part(row.opcodes, '|', [&](std::string_view name) {
      if (!begins_with(instruction, name)) return false;
      known = true;
      auto const words = words_of(instruction.substr(std::min(name.size() + 1, instruction.size())));
      if (words.size() < longest.size()) longest = words;
      auto const is_known = [version](std::string_view word) { return is_known_to(version, word); };
      return row.minimal_target <= target && row.minimal_version <= version &&
             (row.below_target == 0 || target < row.below_target) && (specific || !row.specific) &&
             std::ranges::all_of(words, is_known) && fits(row.slots, words);
    });
  };
  if (std::ranges::any_of(isa_rows(), has) || std::ranges::any_of(isa_unit_rows(), has)) return std::nullopt;
  if (!known && !is_opcode(opcode)) return IsaObjection{opcode, "PTX has no instruction '" + std::string(opcode) + "'"};
  for (auto const word : longest)
    if (!is_modifier(word)) return IsaObjection{word, "PTX has no modifier '." + std::string(word) + "' here"};
  return IsaObjection{instruction, "PTX has no such form of '" + std::string(opcode) + "' for this target and version"};
}

bool is_isa_type(std::string_view name) noexcept {
  return is_type(name) || name == "texref" || name == "samplerref" || name == "surfref" || name == "e4m3" || name == "e5m2" ||
         name == "e2m1" || name == "e2m3" || name == "e3m2" || name == "ue8m0" || name == "ue4m3";
}

bool is_special_register(std::string_view name) noexcept {
  static constexpr std::string_view kNames[] = {
      "%tid", "%ntid", "%ctaid", "%nctaid", "%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid",
      "%is_explicit_cluster",
      "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid", "%cluster_ctarank", "%cluster_nctarank", "%lanemask_eq",
      "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt", "%clock", "%clock_hi", "%clock64", "%pm0", "%pm1", "%pm2",
      "%pm3", "%pm4", "%pm5", "%pm6", "%pm7", "%pm0_64", "%pm1_64", "%pm2_64", "%pm3_64", "%pm4_64", "%pm5_64", "%pm6_64",
      "%pm7_64",
      "%globaltimer", "%globaltimer_lo", "%globaltimer_hi", "%reserved_smem_offset_begin", "%reserved_smem_offset_end",
      "%reserved_smem_offset_cap", "%total_smem_size", "%aggr_smem_size", "%dynamic_smem_size", "%current_graph_exec"};
  static constexpr std::string_view kOfFour = "%tid %ntid %ctaid %nctaid %clusterid %nclusterid %cluster_ctaid %cluster_nctaid ";
  auto const dot = name.find('.');
  auto const base = name.substr(0, dot);
  if (base.starts_with("%envreg") && dot == name.npos) {
    auto const number = base.substr(7);
    return number.size() == 1
               ? number[0] >= '0' && number[0] <= '9'
               : number.size() == 2 && (number[0] == '1' || number[0] == '2' || (number[0] == '3' && number[1] <= '1'));
  }
  if (base.starts_with("%reserved_smem_offset_") && base.size() == 23)
    return dot == name.npos && (base.back() == '0' || base.back() == '1');
  if (std::ranges::find(kNames, base) == std::end(kNames)) return false;
  if (dot == name.npos) return true;
  auto const part = name.substr(dot);
  return (part == ".x" || part == ".y" || part == ".z") && kOfFour.find(std::string(base) + " ") != kOfFour.npos;
}

}  // namespace cuda_tests::ptx
