#include "cuda_cpu/ptx/forms.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <unordered_map>

namespace cuda_cpu::ptx {
namespace {

struct WordSet {
  std::string_view name;
  std::string_view pattern;
};

constexpr WordSet kSets[] = {
    {"rnd", "{rn|rz|rm|rp}"},
    {"irnd", "{rni|rzi|rmi|rpi}"},
    {"int", "{u16|u32|u64|s16|s32|s64}"},
    {"all8", "{u8|u16|u32|u64|s8|s16|s32|s64}"},
    {"carry", "{u32|s32|u64|s64}"},
    {"word", "{u32|s32}"},
    {"cmp", "{eq|ne|lt|le|gt|ge}"},
    {"fcmp", "{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}"},
    {"bool", "{and|or|xor}"},
    {"mem", "{b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64}"},
    {"mem32", "{b8|b16|b32|u8|u16|u32|s8|s16|s32|f32}"},
    {"ldcop", "{ca|cg|cs|lu|cv}"},
    {"stcop", "{wb|cg|cs|wt}"},
    {"sem", "{relaxed|acquire|release|acq_rel}"},
    {"scope", "{cta|gpu|sys}"},
    {"aspace", "{global|shared|shared::cta}"},
};

// Reads a pattern from left to right and keeps all texts that it has produced so far.
class Expander {
 public:
  explicit Expander(std::string_view pattern) : pattern_(pattern) {}

  std::vector<std::string> run() {
    auto texts = sequence();
    if (at_ != pattern_.size()) fail();
    return texts;
  }

 private:
  using Texts = std::vector<std::string>;

  [[noreturn]] void fail() const { throw std::invalid_argument("invalid pattern of forms: " + std::string(pattern_)); }
  bool take(char c) {
    if (at_ == pattern_.size() || pattern_[at_] != c) return false;
    ++at_;
    return true;
  }

  static void append(Texts& texts, Texts const& endings, bool optional = false) {
    Texts all;
    if (optional) all = texts;
    for (auto const& text : texts)
      for (auto const& ending : endings) all.push_back(text + ending);
    texts = std::move(all);
  }

  Texts sequence() {
    Texts texts{""};
    while (at_ < pattern_.size() && pattern_[at_] != '|' && pattern_[at_] != '}' && pattern_[at_] != ']') {
      if (take('[')) {
        append(texts, sequence(), true);
        if (!take(']')) fail();
      } else if (take('{')) {
        Texts choices = sequence();
        while (take('|')) std::ranges::move(sequence(), std::back_inserter(choices));
        if (!take('}')) fail();
        append(texts, choices);
      } else if (take('<')) {
        append(texts, named());
      } else {
        append(texts, {std::string(1, pattern_[at_++])});
      }
    }
    return texts;
  }

  Texts named() {
    std::size_t const end = pattern_.find('>', at_);
    if (end == pattern_.npos) fail();
    std::string_view const name = pattern_.substr(at_, end - at_);
    at_ = end + 1;
    auto const* const set = std::ranges::find(kSets, name, &WordSet::name);
    if (set == std::end(kSets)) fail();
    return Expander(set->pattern).run();
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
};

Type wider(Type type) noexcept {
  switch (type) {
    case Type::u16: return Type::u32;
    case Type::s16: return Type::s32;
    case Type::u32: return Type::u64;
    default: return Type::s64;
  }
}

Type operand_type(std::string_view text, Form const& form) {
  if (text == "T") return form.type;
  if (text == "F") return form.first_type;
  if (text == "W") return wider(form.type);
  if (text == "dot") return form.type == Type::s32 || form.first_type == Type::s32 ? Type::s32 : Type::u32;
  return find_type(text);
}

OperandSpec operand_spec(std::string_view text, Form const& form) {
  OperandSpec spec;
  for (;; text.remove_prefix(1)) {
    if (text.front() == '?') spec.optional = true;
    else if (text.front() == '~') spec.wider = true;
    else if (text.front() == '*') spec.as_vector = true;
    else if (text.front() == '|') spec.with_predicate = true;
    else break;
  }
  std::size_t const equals = text.find('=');
  std::string_view const role = text.substr(0, equals);
  if (equals != text.npos) spec.type = operand_type(text.substr(equals + 1), form);
  static constexpr std::pair<std::string_view, OperandRole> kRoles[] = {
      {"d", OperandRole::destination},   {"s", OperandRole::source},          {"i", OperandRole::immediate},
      {"P", OperandRole::predicate},     {"p", OperandRole::set_predicate},   {"pq", OperandRole::set_predicates},
      {"m", OperandRole::address},       {"L", OperandRole::label},           {"call", OperandRole::call},
      {"a", OperandRole::any_source},    {"D", OperandRole::any_destination}};
  auto const* const found = std::ranges::find(kRoles, role, &std::pair<std::string_view, OperandRole>::first);
  if (found == std::end(kRoles)) throw std::invalid_argument("invalid operand of a form: " + std::string(text));
  spec.role = found->second;
  return spec;
}

Space find_space(std::string_view word) noexcept {
  if (word == "global") return Space::global;
  if (word == "shared" || word == "shared::cta") return Space::shared;
  if (word == "const") return Space::constant;
  if (word == "local") return Space::local;
  return word == "param" ? Space::param : Space::generic;
}

template <class Visit>
void split(std::string_view text, char at, Visit const& visit) {
  while (!text.empty()) {
    std::size_t const end = std::min(text.find(at), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void fill_from_name(Form& form, FormRow const& row) {
  split(form.name, '.', [&form](std::string_view word) {
    form.words.push_back(word);
    if (Type const type = find_type(word); type != Type::none) {
      if (form.first_type == Type::none) form.first_type = type;
      form.type = type;
    }
    if (Space const space = find_space(word); space != Space::generic) form.space = space;
    if (word == "v2" || word == "v4") form.vector_size = static_cast<unsigned>(word[1] - '0');
  });
  split(row.operands, ' ', [&form](std::string_view text) { form.operands.push_back(operand_spec(text, form)); });
}

// The words of a form in a fixed order, for assemblers take modifiers in any order: libcu++ has
// `atom.add.acquire.gpu.u32`. Types keep their order, and the words that name the operation stay where they are.
std::string normalized(std::string_view name) {
  std::vector<std::string_view> words;
  split(name, '.', [&words](std::string_view word) { words.push_back(word); });
  if (words.empty() || words[0] == "bar" || words[0] == "barrier") return std::string(name);
  static constexpr std::string_view kOfOperations[] = {"lo", "hi", "wide", "l", "r"};
  bool const second_is_fixed =
      words.size() > 1 && std::ranges::find(kOfOperations, words[1]) != std::end(kOfOperations);
  std::stable_sort(words.begin() + (second_is_fixed ? 2 : 1), words.end(), [](std::string_view a, std::string_view b) {
    bool const a_is_type = find_type(a) != Type::none, b_is_type = find_type(b) != Type::none;
    if (a_is_type || b_is_type) return !a_is_type;
    return a < b;
  });
  std::string text;
  for (auto const word : words) text.append(word).append(".");
  return text;
}

class Table {
 public:
  Table() {
    for (auto const& row : form_rows()) {
      for (auto& name : expand_pattern(row.pattern)) {
        auto form = std::make_unique<Form>();
        form->name = std::move(name);
        fill_from_name(*form, row);
        if (!by_name_.emplace(form->name, form.get()).second) continue;
        by_normalized_name_.emplace(normalized(form->name), form.get());
        sorted_.push_back(form.get());
        owned_.push_back(std::move(form));
      }
    }
    std::ranges::sort(sorted_, {}, &Form::name);
  }

  Form const* find(std::string_view name) const {
    if (auto const found = by_name_.find(name); found != by_name_.end()) return found->second;
    auto const found = by_normalized_name_.find(normalized(name));
    return found == by_normalized_name_.end() ? nullptr : found->second;
  }
  std::vector<Form const*> const& sorted() const noexcept { return sorted_; }

 private:
  std::vector<std::unique_ptr<Form>> owned_;
  std::unordered_map<std::string_view, Form const*> by_name_;
  std::unordered_map<std::string, Form const*> by_normalized_name_;
  std::vector<Form const*> sorted_;
};

Table const& table() {
  static Table const* const made = new Table;  // never destroyed: modules in static objects point to forms
  return *made;
}

}  // namespace

bool Form::has(std::string_view word) const noexcept { return std::ranges::find(words, word) != words.end(); }

std::vector<std::string> expand_pattern(std::string_view pattern) { return Expander(pattern).run(); }
Form const* find_form(std::string_view name) { return table().find(name); }
std::vector<Form const*> const& all_forms() { return table().sorted(); }

}  // namespace cuda_cpu::ptx
