// Operands, by the roles that the form gives them. One of another kind or type is what an assembler would reject.
#include <algorithm>
#include <array>
#include <utility>

#include "cuda_tests/ptx/builder.h"
#include "cuda_tests/ptx/isa.h"

namespace cuda_tests::ptx {
namespace {

struct Special {
  std::string_view name;
  Type type;
};
constexpr std::array<Special, 31> kSpecials = {{
    {"%tid.x", Type::u32},         {"%tid.y", Type::u32},         {"%tid.z", Type::u32},
    {"%ntid.x", Type::u32},        {"%ntid.y", Type::u32},        {"%ntid.z", Type::u32},
    {"%ctaid.x", Type::u32},       {"%ctaid.y", Type::u32},       {"%ctaid.z", Type::u32},
    {"%nctaid.x", Type::u32},      {"%nctaid.y", Type::u32},      {"%nctaid.z", Type::u32},
    {"%laneid", Type::u32},        {"%warpid", Type::u32},        {"%nwarpid", Type::u32},
    {"%smid", Type::u32},          {"%nsmid", Type::u32},         {"%gridid", Type::u64},
    {"%lanemask_eq", Type::u32},   {"%lanemask_le", Type::u32},   {"%lanemask_lt", Type::u32},
    {"%lanemask_ge", Type::u32},   {"%lanemask_gt", Type::u32},   {"%clock", Type::u32},
    {"%clock_hi", Type::u32},      {"%clock64", Type::u64},       {"%globaltimer", Type::u64},
    {"%globaltimer_lo", Type::u32}, {"%globaltimer_hi", Type::u32}, {"%total_smem_size", Type::u32},
    {"%dynamic_smem_size", Type::u32},
}};

// Registers of which an instruction reads one part: %tid.x.
bool has_parts(std::string_view name) noexcept {
  static constexpr std::string_view kNames[] = {"%tid",       "%ntid",       "%ctaid",         "%nctaid",
                                                "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

// Whether a register may stand where a form wants `wanted`.
bool fits(Type type, Type wanted, bool wider) noexcept {
  if (type == Type::pred || wanted == Type::pred) return type == wanted;
  if (wanted == Type::f16x2) return type == Type::b32;
  unsigned const size = size_bytes(type);
  if (size != size_bytes(wanted) && (!wider || size < size_bytes(wanted))) return false;
  if (is_bits(wanted) || is_bits(type)) return true;
  if (is_float(wanted)) return is_float(type) && size == size_bytes(wanted);
  return !is_float(type);
}

}  // namespace

void OperandReader::mismatch(Instruction const& instruction) const {
  cursor_.fail(quoted(instruction.form->name) + " takes no such operand");
}

// What a refused declaration may have declared.
void OperandReader::unknown(Token const& at, std::string what) const {
  if (scopes_.lost_names() || function_.refused_declaration) throw Unsupported(at.line, quoted(at.text));
  cursor_.fail(at, std::move(what));
}

void OperandReader::check_names() {
  auto const begin = cursor_.place();
  bool after_value = false;
  for (int depth = 0; !cursor_.at_end() && !(depth == 0 && (cursor_.peek().is(';') || cursor_.peek().is('}')));
       cursor_.take()) {
    Token const& token = cursor_.peek();
    if (token.is('{')) ++depth;
    if (token.is('}')) --depth;
    bool const is_value = token.kind == TokenKind::word || token.kind == TokenKind::number;
    if (is_value && after_value) cursor_.fail("',' is expected here");
    if (token.kind == TokenKind::directive || token.kind == TokenKind::text) cursor_.fail("this is no operand");
    if (token.is(',') && (cursor_.peek(1).is(';') || cursor_.peek(1).is(',')))
      cursor_.fail(cursor_.peek(1), "an operand is expected here");
    after_value = is_value;
    if (token.kind != TokenKind::word || token.text == "_" || is_special_register(token.text)) continue;
    auto const base = token.text.substr(0, token.text.find('.'));
    if (scopes_.find_register(base) >= 0 || scopes_.find_variable(base) >= 0) continue;
    if (std::ranges::find(function_.parameters, base, &Parameter::name) != function_.parameters.end()) continue;
    if (module_.find_variable(base) >= 0 || module_.find_function(base) >= 0) continue;
    if (scopes_.lost_names() || function_.refused_declaration) continue;
    if (token.text.starts_with('%')) cursor_.fail("there is no such register");
    scopes_.mention(token);
  }
  cursor_.go_back(begin);
}

std::int32_t OperandReader::predicate(Token const& at) {
  auto const index = scopes_.find_register(at.text);
  if (index < 0) unknown(at, "there is no such register");
  if (function_.registers[static_cast<std::size_t>(index)].type != Type::pred) cursor_.fail(at, "this is no predicate");
  return index;
}

std::int32_t OperandReader::typed_register(Instruction const& instruction, Token const& at, OperandSpec const& spec) {
  auto const index = scopes_.find_register(at.text);
  if (index < 0) unknown(at, "there is no such register");
  Type const type = function_.registers[static_cast<std::size_t>(index)].type;
  if (!fits(type, spec.type, spec.wider)) {
    cursor_.fail(at, quoted(instruction.form->name) + " takes no register of ." + std::string(name(type)) + " here");
  }
  return index;
}

Operand OperandReader::number(Instruction const& instruction, Type type) {
  bool const minus = cursor_.accept('-');
  Token const& token = cursor_.expect(TokenKind::number, "a register or a number");
  auto literal = read_literal(token.text);
  if (literal && minus) literal = literal->negated(token.text);
  if (!literal) cursor_.fail(token, "this is no number");
  // Masks of lanes are of bits, but a float is none.
  static constexpr std::string_view kOfLanes[] = {"shfl", "vote", "match", "redux", "bar"};
  bool const is_mask =
      literal->kind != LiteralKind::integer && std::ranges::find(kOfLanes, instruction.form->opcode()) != std::end(kOfLanes);
  auto const bits = is_mask ? std::nullopt : literal->as(type);
  if (!bits) cursor_.fail(token, quoted(instruction.form->name) + " takes no such number here");
  Operand made;
  made.kind = OperandKind::immediate;
  made.bits = *bits;
  return made;
}

Operand OperandReader::destination(Instruction const& instruction, OperandSpec const& spec) {
  Operand made;
  Token const& token = cursor_.expect(TokenKind::word, "a register");
  if (token.text == "_") {
    if (instruction.form->opcode() != "atom" && !spec.with_predicate) mismatch(instruction);
    made.kind = OperandKind::sink;
  } else {
    made.kind = OperandKind::reg;
    made.index = typed_register(instruction, token, spec);
  }
  if (spec.with_predicate && cursor_.accept('|')) {
    Token const& other = cursor_.expect(TokenKind::word, "a predicate");
    if (other.text != "_") made.other = predicate(other);
    else if (made.kind == OperandKind::sink) mismatch(instruction);
  }
  return made;
}

Operand OperandReader::source(Instruction const& instruction, OperandSpec const& spec) {
  if (cursor_.peek().kind != TokenKind::word) return number(instruction, spec.type);
  Operand made;
  made.kind = OperandKind::reg;
  made.index = typed_register(instruction, cursor_.take(), spec);
  return made;
}

Operand OperandReader::set_predicates(Instruction const& instruction, bool two) {
  Operand made;
  Token const& first = cursor_.expect(TokenKind::word, "a predicate");
  made.kind = first.text == "_" ? OperandKind::sink : OperandKind::reg;
  if (made.kind == OperandKind::reg) made.index = predicate(first);
  bool const other = two && cursor_.accept('|');
  if (other) {
    Token const& second = cursor_.expect(TokenKind::word, "a predicate");
    if (second.text != "_") made.other = predicate(second);
  }
  if (made.kind == OperandKind::sink && made.other < 0) mismatch(instruction);
  return made;
}

Operand OperandReader::read_predicate(Instruction const& instruction) {
  if (cursor_.peek().kind == TokenKind::number || cursor_.peek().is('-')) return number(instruction, Type::pred);
  Operand made;
  made.negated = cursor_.accept('!');
  made.kind = OperandKind::reg;
  made.index = predicate(cursor_.expect(TokenKind::word, "a predicate"));
  return made;
}

// `+12`, `+-12` or nothing.
std::uint64_t OperandReader::offset() {
  if (!cursor_.accept('+')) return 0;
  bool const minus = cursor_.accept('-');
  std::uint64_t const value = cursor_.integer();
  return minus ? std::uint64_t{0} - value : value;
}

Operand OperandReader::named(Instruction const& instruction, Token const& at) {
  Operand made;
  made.kind = OperandKind::symbol;
  if ((made.symbol = scopes_.find_variable(at.text)) >= 0) {
    made.referent = Referent::function_variable;
    return made;
  }
  if (function_.is_entry) {
    auto const found = std::ranges::find(function_.parameters, at.text, &Parameter::name);
    if (found != function_.parameters.end()) {
      made.referent = Referent::entry_parameter;
      made.symbol = static_cast<std::int32_t>(found - function_.parameters.begin());
      return made;
    }
  }
  if ((made.symbol = module_.find_variable(at.text)) >= 0) {
    made.referent = Referent::module_variable;
    return made;
  }
  if (module_.find_function(at.text) >= 0)
    throw Unsupported(at.line, quoted(instruction.form->name) + " with a function's address");
  unknown(at, "there is nothing of this name");
}

Space OperandReader::space_of(Operand const& operand) const noexcept {
  auto const index = static_cast<std::size_t>(operand.symbol);
  if (operand.referent == Referent::function_variable) return function_.variables[index].space;
  return operand.referent == Referent::module_variable ? module_.variables()[index].space : Space::param;
}

void OperandReader::check_space(Instruction const& instruction, Operand const& operand) const {
  Space const space = space_of(operand);
  Form const& form = *instruction.form;
  if (form.space == space) {
    if (form.opcode() == "st" && space == Space::param && operand.referent != Referent::function_variable)
      mismatch(instruction);
    return;
  }
  if (form.space != Space::generic || space == Space::constant || space == Space::param) mismatch(instruction);
  // The address of a shared or local variable means nothing among generic ones.
  if (space != Space::global) throw Unsupported(instruction.line, quoted(form.name) + " of such a variable");
}

Operand OperandReader::address(Instruction const& instruction) {
  cursor_.expect('[');
  Operand made;
  Space const space = instruction.form->space;
  if (cursor_.peek().kind == TokenKind::number) {
    cursor_.integer();
    throw Unsupported(instruction.line, quoted(instruction.form->name) + " of a fixed address");
  }
  Token const& base = cursor_.expect(TokenKind::word, "an address");
  auto const index = scopes_.find_register(base.text);
  if (index >= 0) {
    Type const type = function_.registers[static_cast<std::size_t>(index)].type;
    bool const narrow = space == Space::shared || space == Space::local || space == Space::constant || space == Space::param;
    if (is_float(type) || type == Type::pred || (size_bytes(type) != 8 && (!narrow || size_bytes(type) != 4))) {
      cursor_.fail(base, "this register holds no address");
    }
    // Parameters of calls have no addresses in an entry, whose own are those of the launch.
    if (instruction.form->opcode() == "st" && space == Space::param && function_.is_entry) {
      throw Unsupported(instruction.line, quoted(instruction.form->name) + " of an address in a register");
    }
    made.index = index;
  } else {
    made = named(instruction, base);
    check_space(instruction, made);
  }
  made.kind = OperandKind::address;
  made.bits = offset();
  cursor_.expect(']');
  return made;
}

Operand OperandReader::vector(Instruction const& instruction, OperandSpec const& spec, unsigned size, Type element,
                              bool is_source, bool sinks) {
  Operand made;
  made.kind = OperandKind::vector;
  OperandSpec one = spec;
  one.type = element;
  cursor_.expect('{');
  do {
    if (sinks && cursor_.peek().text == "_") {
      cursor_.take();
      made.elements.emplace_back().kind = OperandKind::sink;
    } else if (is_source) {
      made.elements.push_back(source(instruction, one));
    } else {
      made.elements.push_back(destination(instruction, one));
    }
  } while (cursor_.accept(','));
  cursor_.expect('}');
  if (size != 0 && made.elements.size() != size) mismatch(instruction);
  return made;
}

// The parts of a register of `type`, lowest first.
Operand OperandReader::moved_vector(Instruction const& instruction, Type type, bool is_source) {
  if (!is_bits(type)) mismatch(instruction);
  std::size_t ahead = 1;
  while (!cursor_.peek(ahead).is('}') && cursor_.peek(ahead).kind != TokenKind::end) ++ahead;
  std::size_t count = 1;
  for (std::size_t i = 1; i < ahead; ++i) count += cursor_.peek(i).is(',') ? 1 : 0;
  unsigned const bytes = size_bytes(type);
  if ((count != 2 && count != 4) || bytes / count < 2) {
    if (count == 2 || count == 4) throw Unsupported(instruction.line, quoted(instruction.form->name) + " of bytes");
    mismatch(instruction);
  }
  Type const part = bytes / count == 4 ? Type::b32 : Type::b16;
  return vector(instruction, {}, static_cast<unsigned>(count), part, is_source, !is_source);
}

Operand OperandReader::any_source(Instruction const& instruction, OperandSpec const& spec) {
  bool const is_move = instruction.form->opcode() == "mov";
  if (is_move && cursor_.peek().is('{')) return moved_vector(instruction, spec.type, true);
  if (cursor_.peek().kind != TokenKind::word) {
    if (!is_move) mismatch(instruction);
    return number(instruction, spec.type);
  }
  Token const& token = cursor_.peek();
  if (scopes_.find_register(token.text) >= 0) return source(instruction, spec);
  cursor_.take();
  auto const* const special = std::ranges::find(kSpecials, token.text, &Special::name);
  if (special != kSpecials.end()) {
    if (!is_move || !fits(special->type, spec.type, false)) mismatch(instruction);
    Operand made;
    made.kind = OperandKind::special;
    made.index = static_cast<std::int32_t>(special - kSpecials.begin());
    return made;
  }
  if (token.text.starts_with('%')) {
    if (!is_special_register(token.text)) unknown(token, "there is no such register");
    if (has_parts(token.text)) mismatch(instruction);  // all of %tid
    throw Unsupported(token.line, quoted(token.text));
  }
  if (is_float(spec.type)) mismatch(instruction);
  Operand made = named(instruction, token);
  Space const space = space_of(made);
  if (space == Space::param && function_.is_entry && made.referent == Referent::function_variable) {
    cursor_.fail(token, "a call's parameter has no address");
  }
  made.bits = offset();
  bool const narrow = space == Space::shared || space == Space::local;
  if (size_bytes(spec.type) != 8 && (size_bytes(spec.type) != 4 || !narrow)) mismatch(instruction);
  if (!is_move && (instruction.form->has("to") || instruction.form->space != space)) mismatch(instruction);
  return made;
}

Operand OperandReader::operand(Instruction const& instruction, OperandSpec const& spec, std::size_t index) {
  bool const in_braces = spec.as_vector && instruction.form->vector_size > 1;
  switch (spec.role) {
    case OperandRole::destination:
      if (in_braces) return vector(instruction, spec, instruction.form->vector_size, spec.type, false, true);
      return destination(instruction, spec);
    case OperandRole::source:
      if (in_braces) return vector(instruction, spec, instruction.form->vector_size, spec.type, true, false);
      return source(instruction, spec);
    case OperandRole::immediate: return number(instruction, spec.type);
    case OperandRole::predicate: return read_predicate(instruction);
    case OperandRole::set_predicate: return set_predicates(instruction, false);
    case OperandRole::set_predicates: return set_predicates(instruction, true);
    case OperandRole::address: return address(instruction);
    case OperandRole::any_source: return any_source(instruction, spec);
    case OperandRole::any_destination:
      if (cursor_.peek().is('{')) return moved_vector(instruction, spec.type, false);
      return destination(instruction, spec);
    case OperandRole::label: {
      scopes_.use_label(cursor_.name(), index);
      Operand made;
      made.kind = OperandKind::label;
      return made;
    }
    case OperandRole::call: break;
  }
  mismatch(instruction);
}

// `bar.red.popc.u32 %r1, 0, 64, %p1`: one operand more, before the predicate.
bool OperandReader::is_counted_reduction(Instruction const& instruction, std::size_t i) const {
  return i == 2 && instruction.form->has("red") && instruction.form->opcode().starts_with("bar") && cursor_.peek(1).is(',');
}

void OperandReader::read(Instruction& instruction) {
  auto const& specs = instruction.form->operands;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].role == OperandRole::call) return call(instruction);
    if (specs[i].optional && cursor_.peek().is(';')) break;
    if (i > 0) cursor_.expect(',');
    if (is_counted_reduction(instruction, i))
      throw Unsupported(instruction.line, quoted(instruction.form->name) + " with a count");
    instruction.operands.push_back(operand(instruction, specs[i], i));
  }
  if (!cursor_.peek().is(';')) mismatch(instruction);
  if (instruction.form->opcode() == "mov" && instruction.operands.size() == 2 &&
      instruction.operands[0].kind == OperandKind::vector && instruction.operands[1].kind != OperandKind::reg) {
    throw Unsupported(instruction.line, quoted(instruction.form->name) + " to several registers of anything but a register");
  }
  check_values(instruction);
}

// Numbers that an assembler holds against a range.
void OperandReader::check_values(Instruction const& instruction) const {
  std::string_view const opcode = instruction.form->opcode();
  auto const& operands = instruction.operands;
  auto const above = [&](std::size_t i, std::uint64_t most) {
    return i < operands.size() && operands[i].kind == OperandKind::immediate && operands[i].bits > most;
  };
  auto const is_barrier = (opcode == "bar" && !instruction.form->has("warp")) || opcode == "barrier";
  if (is_barrier) {
    std::size_t const at = instruction.form->has("red") ? 1 : 0;
    bool const counts = at == 0 && operands.size() > 1 && operands[1].kind == OperandKind::immediate;
    if (above(at, 15) || (counts && (operands[1].bits % 32 != 0 || operands[1].bits == 0))) mismatch(instruction);
  }
  if (opcode == "lop3" && above(4, 255))
    throw Unsupported(instruction.line, quoted(instruction.form->name) + " by more than eight bits");
  if (opcode == "bfe" && (above(2, 255) || above(3, 255))) mismatch(instruction);
  if (opcode == "bfi" && (above(3, 255) || above(4, 255))) mismatch(instruction);
}

}  // namespace cuda_tests::ptx
