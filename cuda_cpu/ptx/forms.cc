#include "cuda_cpu/ptx/forms.h"

#include <algorithm>
#include <memory>
#include <mutex>
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
    {"cta", "{shared|shared::cta}"},
    {"l1", "{L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate}"},
    {"l2", "{L2::64B|L2::128B|L2::256B}"},
    {"policy", "L2::{evict_last|evict_normal|evict_first|evict_unchanged}[.L2::{evict_first|evict_unchanged}]"},
    {"rc", "{row|col}"},
    {"shape16", "{m16n16k16|m8n32k16|m32n8k16}"},
    {"wspace", "{global|shared|shared::cta}"},
    {"shape", "{1d|2d|3d|a1d|a2d}"},
    {"texel", "{f32|s32|u32}"},
    {"outside", "{trap|clamp|zero}"},
};

[[noreturn]] void fail_pattern(std::string_view pattern) {
  throw std::invalid_argument("invalid pattern of forms: " + std::string(pattern));
}

// Returns the pattern of the named set that begins at `at`, after its '<', and moves `at` past the set.
std::string_view take_set(std::string_view pattern, std::size_t& at) {
  std::size_t const end = pattern.find('>', at);
  if (end == pattern.npos) fail_pattern(pattern);
  auto const* const set = std::ranges::find(kSets, pattern.substr(at, end - at), &WordSet::name);
  if (set == std::end(kSets)) fail_pattern(pattern);
  at = end + 1;
  return set->pattern;
}

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

  [[noreturn]] void fail() const { fail_pattern(pattern_); }
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
        append(texts, Expander(take_set(pattern_, at_)).run());
      } else {
        append(texts, {std::string(1, pattern_[at_++])});
      }
    }
    return texts;
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
};

// Matches a pattern against a text without expanding it: keeps the places in the text where each part of the pattern
// may end.
class Matcher {
 public:
  Matcher(std::string_view pattern, std::string_view text) : pattern_(pattern), text_(text) {}

  bool run() {
    auto const ends = sequence({0});
    if (at_ != pattern_.size()) fail_pattern(pattern_);
    return std::ranges::find(ends, text_.size()) != ends.end();
  }

 private:
  using Places = std::vector<std::size_t>;

  bool take(char c) {
    if (at_ == pattern_.size() || pattern_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail_pattern(pattern_);
  }

  Places sequence(Places places) {
    while (at_ < pattern_.size() && pattern_[at_] != '|' && pattern_[at_] != '}' && pattern_[at_] != ']') {
      if (take('[')) {
        add(places, sequence(places));
        expect(']');
      } else if (take('{')) {
        places = choice(places);
        expect('}');
      } else if (take('<')) {
        Matcher set(take_set(pattern_, at_), text_);
        places = set.sequence(std::move(places));
      } else {
        char const c = pattern_[at_++];
        std::erase_if(places, [&](std::size_t place) { return place == text_.size() || text_[place] != c; });
        for (auto& place : places) ++place;
      }
    }
    return places;
  }
  Places choice(Places const& places) {
    Places ends = sequence(places);
    while (take('|')) add(ends, sequence(places));
    return ends;
  }
  static void add(Places& places, Places const& others) {
    for (auto const other : others)
      if (std::ranges::find(places, other) == places.end()) places.push_back(other);
  }

  std::string_view pattern_;
  std::string_view text_;
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

// All blocks are clusters of one block, so the shared memory of the cluster is the shared memory of the block.
Space find_space(std::string_view word) noexcept {
  if (word == "global") return Space::global;
  if (word == "shared" || word == "shared::cta" || word == "shared::cluster") return Space::shared;
  if (word == "const") return Space::constant;
  if (word == "local") return Space::local;
  return word == "param" ? Space::param : Space::generic;
}

OperandSpec operand_spec(std::string_view text, Form const& form) {
  OperandSpec spec;
  for (;; text.remove_prefix(1)) {
    if (text.front() == '?')
      spec.optional = true;
    else if (text.front() == '~')
      spec.wider = true;
    else if (text.front() == '*')
      spec.as_vector = true;
    else if (text.front() == '|')
      spec.with_predicate = true;
    else if (text.front() == '.')
      spec.with_part = true;
    else if (text.front() == '-')
      spec.negatable = true;
    else if (text.front() >= '1' && text.front() <= '8')
      spec.in_braces = static_cast<std::uint8_t>(text.front() - '0');
    else
      break;
  }
  std::size_t const equals = text.find('=');
  std::string_view const role = text.substr(0, equals);
  if (equals != text.npos) spec.type = operand_type(text.substr(equals + 1), form);
  static constexpr std::pair<std::string_view, OperandRole> kRoles[] = {
      {"d", OperandRole::destination}, {"s", OperandRole::source},        {"i", OperandRole::immediate},
      {"P", OperandRole::predicate},   {"p", OperandRole::set_predicate}, {"pq", OperandRole::set_predicates},
      {"m", OperandRole::address},     {"t", OperandRole::texel},         {"L", OperandRole::label},
      {"call", OperandRole::call},     {"a", OperandRole::any_source},    {"D", OperandRole::any_destination}};
  auto const* const found = std::ranges::find(kRoles, role, &std::pair<std::string_view, OperandRole>::first);
  if (found == std::end(kRoles)) throw std::invalid_argument("invalid operand of a form: " + std::string(text));
  spec.role = found->second;
  if (spec.role == OperandRole::address && equals != text.npos) spec.space = find_space(text.substr(equals + 1));
  return spec;
}

template <class Visit>
void split(std::string_view text, char at, Visit const& visit) {
  while (!text.empty()) {
    std::size_t const end = std::min(text.find(at), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

struct Shape {
  std::string_view name;
  unsigned dimensions;
  unsigned coordinates;
};
// The shapes of textures and surfaces.
constexpr Shape kShapes[] = {{"1d", 1, 1},  {"2d", 2, 2},   {"3d", 3, 4},   {"a1d", 1, 2},
                             {"a2d", 2, 4}, {"cube", 3, 4}, {"acube", 3, 4}};

void fill_from_name(Form& form, FormRow const& row) {
  split(form.name, '.', [&form](std::string_view word) {
    form.words.push_back(word);
    if (Type const type = find_type(word); type != Type::none) {
      if (form.first_type == Type::none) form.first_type = type;
      form.type = type;
    }
    if (Space const space = find_space(word); space != Space::generic) form.space = space;
    if (word == "v2" || word == "v4") form.vector_size = static_cast<unsigned>(word[1] - '0');
    if (auto const* const shape = std::ranges::find(kShapes, word, &Shape::name); shape != std::end(kShapes)) {
      form.dimensions = shape->dimensions;
      form.coordinates = shape->coordinates;
      form.has_layer = word.front() == 'a';
    }
  });
  split(row.operands, ' ', [&form](std::string_view text) { form.operands.push_back(operand_spec(text, form)); });
}

// Returns the words of a form in a fixed order, because assemblers take modifiers in any order: libcu++ has
// `atom.add.acquire.gpu.u32`. Types keep their order, and the words that name the operation stay where they are.
std::string normalized(std::string_view name) {
  std::vector<std::string_view> words;
  split(name, '.', [&words](std::string_view word) { words.push_back(word); });
  // In the names of these forms the order of the words has a meaning: row.col is not col.row.
  static constexpr std::string_view kOrdered[] = {"bar", "barrier", "cp", "mma", "wmma"};
  if (words.empty() || std::ranges::find(kOrdered, words[0]) != std::end(kOrdered)) return std::string(name);
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

std::string opcode_of(std::string_view name) { return std::string(name.substr(0, name.find('.'))); }

// Returns the part of a pattern that holds its opcodes, which ends at the first modifier outside of braces.
std::string_view beginning_of(std::string_view pattern) noexcept {
  int depth = 0;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    depth += pattern[at] == '{' ? 1 : pattern[at] == '}' ? -1 : 0;
    if (depth == 0 && (pattern[at] == '.' || pattern[at] == '[')) return pattern.substr(0, at);
  }
  return pattern;
}

// Makes each form at its first look-up: expanding all rows takes longer than most modules take to load.
class Table {
 public:
  Table() {
    for (auto const& row : form_rows()) {
      for (auto const& beginning : expand_pattern(beginning_of(row.pattern))) {
        auto& rows = rows_[opcode_of(beginning)];
        if (rows.empty() || rows.back() != &row) rows.push_back(&row);
      }
    }
  }

  Form const* find(std::string_view name) {
    std::scoped_lock const lock(mutex_);
    return find_locked(name);
  }

  std::vector<Form const*> all() {
    std::vector<Form const*> forms;
    for (auto const& row : form_rows())
      for (auto const& name : expand_pattern(row.pattern)) forms.push_back(find(name));
    std::ranges::sort(forms, {}, &Form::name);
    forms.erase(std::unique(forms.begin(), forms.end()), forms.end());  // Clang 14 cannot compile std::ranges::unique
    return forms;
  }

 private:
  Form const* find_locked(std::string_view name) {
    std::string key(name);
    if (auto const known = forms_.find(key); known != forms_.end()) return known->second.get();
    auto form = make(name);
    if (form == nullptr) {  // its modifiers may be in another order
      std::string const* const canonical = find_normalized(name);
      if (canonical != nullptr) return find_locked(*canonical);
    }
    return forms_.emplace(std::move(key), std::move(form)).first->second.get();
  }

  std::unique_ptr<Form> make(std::string_view name) const {
    auto const rows = rows_.find(opcode_of(name));
    if (rows == rows_.end()) return nullptr;
    for (auto const* const row : rows->second) {
      if (!Matcher(row->pattern, name).run()) continue;
      auto form = std::make_unique<Form>();
      form->name = name;
      fill_from_name(*form, *row);
      return form;
    }
    return nullptr;
  }

  std::string const* find_normalized(std::string_view name) {
    std::string const opcode = opcode_of(name);
    auto const rows = rows_.find(opcode);
    if (rows == rows_.end()) return nullptr;
    auto const [names, is_new] = normalized_.try_emplace(opcode);
    if (is_new) {
      for (auto const* const row : rows->second)
        for (auto& expanded : expand_pattern(row->pattern))
          names->second.emplace(normalized(expanded), std::move(expanded));
    }
    auto const found = names->second.find(normalized(name));
    return found == names->second.end() ? nullptr : &found->second;
  }

  std::unordered_map<std::string, std::vector<FormRow const*>> rows_;  // by opcode
  std::mutex mutex_;                                                   // guards the maps below
  std::unordered_map<std::string, std::unique_ptr<Form>> forms_;       // null: the form is not supported
  // By opcode: maps a normalized name to the name to look up.
  std::unordered_map<std::string, std::unordered_map<std::string, std::string>> normalized_;
};

Table& table() {
  static Table* const made = new Table;  // never destroyed: modules in static objects point to forms
  return *made;
}

}  // namespace

bool Form::has(std::string_view word) const noexcept { return std::ranges::find(words, word) != words.end(); }

std::vector<std::string> expand_pattern(std::string_view pattern) { return Expander(pattern).run(); }
Form const* find_form(std::string_view name) { return table().find(name); }
std::vector<Form const*> all_forms() { return table().all(); }

}  // namespace cuda_cpu::ptx
