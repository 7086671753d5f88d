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
  static constexpr std::string_view kOthers[] = {"b128",   "bf16",   "bf16x2", "f32x2",  "tf32",   "u16x2",  "s16x2",   "e4m3x2", "e5m2x2", "e2m1x2",
                                                 "e2m3x2", "e3m2x2", "ue8m0x2", "e4m3x4", "e5m2x4", "e2m1x4", "e2m3x4", "e3m2x4"};
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

bool slot_has(std::string_view slot, std::string_view word) {
  return any_part(slot, '|', [&](std::string_view one) {
    if (!one.starts_with('@')) return one == word;
    auto const found = std::ranges::find(isa_slots(), one.substr(1), &IsaSlot::name);
    return found != isa_slots().end() && slot_has(found->words, word);
  });
}

// Whether each word has a slot and each slot that must have one a word. Types take slots in their order.
bool fits(std::string_view slots_text, std::vector<std::string_view> const& words) {
  std::vector<std::string_view> slots;
  if (!slots_text.empty()) any_part(slots_text, ' ', [&](std::string_view slot) { slots.push_back(slot); return false; });
  std::vector<bool> taken(slots.size());
  std::size_t first_for_types = 0;
  for (auto const word : words) {
    bool found = false;
    for (std::size_t i = is_type(word) ? first_for_types : 0; i < slots.size() && !found; ++i) {
      auto slot = slots[i];
      if (slot.starts_with('?')) slot.remove_prefix(1);
      if (taken[i] || !slot_has(slot, word)) continue;
      found = taken[i] = true;
      if (is_type(word)) first_for_types = i + 1;
    }
    if (!found) return false;
  }
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (!taken[i] && !slots[i].starts_with('?')) return false;
  return true;
}

bool is_word(std::string_view word) {
  auto const words = isa_words();
  for (auto at = words.find(word); at != words.npos; at = words.find(word, at + 1))
    if (words[at - 1] == ' ' && words[at + word.size()] == ' ') return true;
  return false;
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

std::optional<IsaObjection> isa_objection(std::string_view instruction, unsigned target, unsigned version) {
  auto const opcode = instruction.substr(0, instruction.find('.'));
  static auto const* const opcodes = [] {
    auto* const made = new std::unordered_set<std::string_view>;
    for (auto const* const form : all_forms()) made->insert(form->opcode());
    return made;
  }();
  bool const in_table = opcodes->contains(opcode);
  bool known = in_table;
  std::vector<std::string_view> open;  // the words behind the longest name of an opcode whose words are free
  bool has_open = false;
  for (auto const& row : isa_rows()) {
    bool const has = any_part(row.opcodes, '|', [&](std::string_view name) {
      if (!begins_with(instruction, name)) return false;
      known = true;
      auto const words = words_of(instruction.substr(std::min(name.size() + 1, instruction.size())));
      if (row.slots == "*") {
        if (!has_open || words.size() < open.size()) open = words;
        has_open = true;
        return false;
      }
      bool const here = row.minimal_target <= target && row.minimal_version <= version && (row.below_target == 0 || target < row.below_target);
      return here && fits(row.slots, words);
    });
    if (has) return std::nullopt;
  }
  if (!known) return IsaObjection{opcode, "PTX has no instruction '" + std::string(opcode) + "'"};
  for (auto const word : has_open ? open : words_of(instruction))
    if ((has_open || word.data() != instruction.data()) && !is_word(word)) return IsaObjection{word, "PTX has no modifier '." + std::string(word) + "' here"};
  if (has_open) return std::nullopt;
  return IsaObjection{instruction, "PTX has no such form of '" + std::string(opcode) + "' for this target and version"};
}

bool is_isa_type(std::string_view name) noexcept {
  return is_type(name) || name == "texref" || name == "samplerref" || name == "surfref" || name == "e4m3" || name == "e5m2" || name == "e2m1" ||
         name == "e2m3" || name == "e3m2" || name == "ue8m0" || name == "ue4m3";
}

bool is_special_register(std::string_view name) noexcept {
  static constexpr std::string_view kNames[] = {
      "%tid", "%ntid", "%ctaid", "%nctaid", "%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid", "%is_explicit_cluster",
      "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid", "%cluster_ctarank", "%cluster_nctarank", "%lanemask_eq",
      "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt", "%clock", "%clock_hi", "%clock64", "%pm0", "%pm1", "%pm2",
      "%pm3", "%pm4", "%pm5", "%pm6", "%pm7", "%pm0_64", "%pm1_64", "%pm2_64", "%pm3_64", "%pm4_64", "%pm5_64", "%pm6_64", "%pm7_64",
      "%globaltimer", "%globaltimer_lo", "%globaltimer_hi", "%reserved_smem_offset_begin", "%reserved_smem_offset_end",
      "%reserved_smem_offset_cap", "%total_smem_size", "%aggr_smem_size", "%dynamic_smem_size", "%current_graph_exec"};
  static constexpr std::string_view kOfFour = "%tid %ntid %ctaid %nctaid %clusterid %nclusterid %cluster_ctaid %cluster_nctaid ";
  auto const dot = name.find('.');
  auto const base = name.substr(0, dot);
  if (base.starts_with("%envreg") && dot == name.npos) {
    auto const number = base.substr(7);
    return number.size() == 1 ? number[0] >= '0' && number[0] <= '9'
                              : number.size() == 2 && (number[0] == '1' || number[0] == '2' || (number[0] == '3' && number[1] <= '1'));
  }
  if (base.starts_with("%reserved_smem_offset_") && base.size() == 23) return dot == name.npos && (base.back() == '0' || base.back() == '1');
  if (std::ranges::find(kNames, base) == std::end(kNames)) return false;
  if (dot == name.npos) return true;
  auto const part = name.substr(dot);
  return (part == ".x" || part == ".y" || part == ".z") && kOfFour.find(std::string(base) + " ") != kOfFour.npos;
}

}  // namespace cuda_tests::ptx
