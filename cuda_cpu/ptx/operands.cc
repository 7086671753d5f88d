// Reads operands, by the roles that the form gives them.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "cuda_cpu/ptx/builder.h"

namespace cuda_cpu::ptx {
namespace {

struct Special {
  std::string_view name;
  Type type;
};
// Indexed by SpecialRegister.
constexpr std::array<Special, 52> kSpecials = {{
    {"%tid.x", Type::u32},
    {"%tid.y", Type::u32},
    {"%tid.z", Type::u32},
    {"%ntid.x", Type::u32},
    {"%ntid.y", Type::u32},
    {"%ntid.z", Type::u32},
    {"%ctaid.x", Type::u32},
    {"%ctaid.y", Type::u32},
    {"%ctaid.z", Type::u32},
    {"%nctaid.x", Type::u32},
    {"%nctaid.y", Type::u32},
    {"%nctaid.z", Type::u32},
    {"%laneid", Type::u32},
    {"%warpid", Type::u32},
    {"%nwarpid", Type::u32},
    {"%smid", Type::u32},
    {"%nsmid", Type::u32},
    {"%gridid", Type::u64},
    {"%lanemask_eq", Type::u32},
    {"%lanemask_le", Type::u32},
    {"%lanemask_lt", Type::u32},
    {"%lanemask_ge", Type::u32},
    {"%lanemask_gt", Type::u32},
    {"%clock", Type::u32},
    {"%clock_hi", Type::u32},
    {"%clock64", Type::u64},
    {"%globaltimer", Type::u64},
    {"%globaltimer_lo", Type::u32},
    {"%globaltimer_hi", Type::u32},
    {"%total_smem_size", Type::u32},
    {"%dynamic_smem_size", Type::u32},
    {"%clusterid.x", Type::u32},
    {"%clusterid.y", Type::u32},
    {"%clusterid.z", Type::u32},
    {"%nclusterid.x", Type::u32},
    {"%nclusterid.y", Type::u32},
    {"%nclusterid.z", Type::u32},
    {"%cluster_ctaid.x", Type::u32},
    {"%cluster_ctaid.y", Type::u32},
    {"%cluster_ctaid.z", Type::u32},
    {"%cluster_nctaid.x", Type::u32},
    {"%cluster_nctaid.y", Type::u32},
    {"%cluster_nctaid.z", Type::u32},
    {"%cluster_ctarank", Type::u32},
    {"%cluster_nctarank", Type::u32},
    {"%envreg1", Type::u32},
    {"%envreg2", Type::u32},
    {"%reserved_smem_offset_begin", Type::u32},
    {"%reserved_smem_offset_end", Type::u32},
    {"%reserved_smem_offset_cap", Type::u32},
    {"%reserved_smem_offset_0", Type::u32},
    {"%reserved_smem_offset_1", Type::u32},
}};

constexpr std::string_view kWarpSize = "WARP_SZ";

// Returns true if an operand of type `wanted` takes a register of `type`.
bool fits(Type type, Type wanted, bool wider) noexcept {
  if (type == Type::pred || wanted == Type::pred) return type == wanted;
  if (is_in_bits(wanted)) return is_bits(type) && size_bytes(type) == size_bytes(wanted);
  unsigned const size = size_bytes(type);
  if (size != size_bytes(wanted) && (!wider || size < size_bytes(wanted))) return false;
  if (is_bits(wanted) || is_bits(type)) return true;
  if (is_float(wanted)) return is_float(type) && size == size_bytes(wanted);
  return !is_float(type);
}

}  // namespace

void OperandReader::read(Instruction& instruction, bool has_policy) {
  form_ = instruction.form;
  auto const& specs = form_->operands;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].role == OperandRole::call) return call(instruction);
    if (specs[i].optional && cursor_.peek().is(';')) break;
    if (i > 0) {
      refuse_expression();
      cursor_.expect(',');
    }
    instruction.operands.push_back(operand(specs[i], i));
  }
  if (has_policy && cursor_.accept(',')) cursor_.take();
  if (!cursor_.peek().is(';')) cursor_.unsupported();
  bool const unpacks =
      !instruction.operands.empty() && form_->opcode() == "mov" && instruction.operands[0].kind == OperandKind::vector;
  if (unpacks && instruction.operands[1].kind != OperandKind::reg) cursor_.unsupported();
  check_parts(instruction.operands);
}

// Refuses operands that ptxas refuses, too: a partial destination needs a third source, for its other bits; vmad may
// negate the product or the addend, but not both.
void OperandReader::check_parts(std::vector<Operand> const& operands) const {
  bool const merges = !operands.empty() && operands[0].part != Part::whole;
  bool const negates_both =
      form_->opcode() == "vmad" && operands[1].negated != operands[2].negated && operands[3].negated;
  if ((merges && operands.size() < 4) || negates_both) cursor_.unsupported();
}

Operand OperandReader::operand(OperandSpec const& spec, std::size_t index) {
  bool const is_vector = spec.as_vector && (form_->vector_size > 1 || cursor_.peek().is('{'));
  if (spec.in_braces > 0) return in_braces(spec);
  switch (spec.role) {
    case OperandRole::destination: return is_vector ? vector(spec, false, true) : destination(spec);
    case OperandRole::source: return is_vector ? vector(spec, true, false) : source(spec);
    case OperandRole::immediate: return immediate(spec.type);
    case OperandRole::predicate: return read_predicate();
    case OperandRole::set_predicate: return set_predicates(false);
    case OperandRole::set_predicates: return set_predicates(true);
    case OperandRole::address: return address(spec);
    case OperandRole::texel: return texel(spec);
    case OperandRole::any_source: return any_source(spec);
    case OperandRole::any_destination:
      return cursor_.peek().is('{') ? moved_vector(spec.type, false) : destination(spec);
    case OperandRole::label: {
      scopes_.use_label(cursor_.name(), index);
      Operand made;
      made.kind = OperandKind::label;
      return made;
    }
    case OperandRole::call: break;
  }
  cursor_.unsupported();
}

std::int32_t OperandReader::predicate() {
  OperandSpec spec;
  spec.type = Type::pred;
  return typed_register(cursor_.expect(TokenKind::word, "a predicate"), spec);
}

std::int32_t OperandReader::typed_register(Token const& at, OperandSpec const& spec) {
  auto const index = scopes_.find_register(at.text);
  if (index < 0) refuse_selector(at);
  if (index < 0) cursor_.fail(at, "undeclared register");
  if (!fits(function_.registers[static_cast<std::size_t>(index)].type, spec.type, spec.wider)) cursor_.unsupported();
  return index;
}

Operand OperandReader::register_or_part(Token token, OperandSpec const& spec) {
  static constexpr std::string_view kParts[] = {"", "b0", "b1", "b2", "b3", "h0", "h1"};  // indexed by Part
  Operand made;
  made.kind = OperandKind::reg;
  auto const dot = token.text.rfind('.');
  if (spec.with_part && dot != token.text.npos && scopes_.find_register(token.text) < 0) {
    auto const* const part = std::ranges::find(kParts, token.text.substr(dot + 1));
    if (part == std::end(kParts)) cursor_.unsupported();
    made.part = static_cast<Part>(part - kParts);
    token.text = token.text.substr(0, dot);
  }
  made.index = typed_register(token, spec);
  return made;
}

Operand OperandReader::immediate(Type type) {
  Operand made = number(type);
  bool const is_alignment = form_->opcode() == "alloca";
  if (is_alignment && !std::has_single_bit(made.bits)) cursor_.unsupported();
  return made;
}

// Refuses constant expressions, such as `(1<<5)|3` or `5>3?7:9`: only a number with a sign is read. An expression
// begins with an operator or has an operator after its first number.
void OperandReader::refuse_expression() const {
  Token const& next = cursor_.peek();
  bool const is_operator = next.kind == TokenKind::punctuation && next.text.find_first_of("+-*/<>=!&|^~?:(") == 0;
  if (is_operator || next.text == "%") cursor_.unsupported();
}

// Refuses a part of a register: `%r1.b0`, `%r1.h10`, `%v.x`.
void OperandReader::refuse_selector(Token const& at) const {
  auto const dot = at.text.find('.');
  if (dot != at.text.npos && scopes_.find_register(at.text.substr(0, dot)) >= 0) cursor_.unsupported();
}

// Returns true at `WARP_SZ`, the only named constant of PTX.
bool OperandReader::at_warp_size() const { return cursor_.peek().text == kWarpSize; }

Operand OperandReader::number(Type type) {
  bool const minus = cursor_.accept('-');
  refuse_expression();
  Token const& token = at_warp_size() ? cursor_.take() : cursor_.expect(TokenKind::number, "a register or a number");
  auto literal = read_literal(token.text == kWarpSize ? "32" : token.text);
  if (literal && minus) literal = literal->negated(token.text);
  if (!literal) cursor_.fail(token, "invalid number");
  refuse_expression();
  auto const bits = literal->as(type);
  if (!bits) cursor_.unsupported();
  Operand made;
  made.kind = OperandKind::immediate;
  made.bits = *bits;
  return made;
}

Operand OperandReader::destination(OperandSpec const& spec) {
  Operand made;
  Token const& token = cursor_.expect(TokenKind::word, "a register");
  if (token.text == "_") {
    if (form_->opcode() != "atom" && form_->opcode() != "mbarrier" && !spec.with_predicate) cursor_.unsupported();
    made.kind = OperandKind::sink;
  } else {
    made = register_or_part(token, spec);
  }
  if (spec.with_predicate && cursor_.accept('|') && !cursor_.accept("_")) made.other = predicate();
  return made;
}

Operand OperandReader::source(OperandSpec const& spec) {
  Token const& next = cursor_.peek(1);
  bool const negated =
      spec.negatable && cursor_.peek().is('-') && next.kind == TokenKind::word && next.text != kWarpSize;
  if (negated) cursor_.take();
  if (cursor_.peek().kind != TokenKind::word || at_warp_size()) return number(spec.type);
  Operand made = register_or_part(cursor_.take(), spec);
  made.negated = negated;
  return made;
}

Operand OperandReader::set_predicates(bool two) {
  Operand made;
  made.kind = cursor_.accept("_") ? OperandKind::sink : OperandKind::reg;
  if (made.kind == OperandKind::reg) made.index = predicate();
  if (two && cursor_.accept('|') && !cursor_.accept("_")) made.other = predicate();
  if (made.kind == OperandKind::sink && made.other < 0) cursor_.unsupported();
  return made;
}

Operand OperandReader::read_predicate() {
  if (cursor_.peek().kind == TokenKind::number || cursor_.peek().is('-')) return number(Type::pred);
  Operand made;
  made.negated = cursor_.accept('!');
  made.kind = OperandKind::reg;
  made.index = predicate();
  return made;
}

// Reads `+12`, `+-12` or nothing.
std::uint64_t OperandReader::offset() {
  if (!cursor_.accept('+')) return 0;
  bool const minus = cursor_.accept('-');
  refuse_expression();
  std::uint64_t const value = cursor_.integer();
  refuse_expression();
  return minus ? std::uint64_t{0} - value : value;
}

Operand OperandReader::named(Token const& at) {
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
  if ((made.symbol = module_.find_function(at.text)) >= 0) {
    made.referent = Referent::function;
    return made;
  }
  refuse_selector(at);
  cursor_.fail(at, "undeclared name");
}

Space OperandReader::space_of(Operand const& operand) const noexcept {
  auto const index = static_cast<std::size_t>(operand.symbol);
  if (operand.referent == Referent::function_variable) return function_.variables[index].space;
  return operand.referent == Referent::module_variable ? module_.variables()[index].space : Space::param;
}

void OperandReader::check_space(Operand const& operand) const {
  if (operand.referent == Referent::function) cursor_.unsupported();  // loads code
  Space const space = space_of(operand);
  bool const stores_to_entry_parameter = form_->opcode() == "st" && operand.referent == Referent::entry_parameter;
  bool const is_generic_global = space_ == Space::generic && space == Space::global;
  if ((space_ != space && !is_generic_global) || stores_to_entry_parameter) cursor_.unsupported();
}

Operand OperandReader::address(OperandSpec const& spec) {
  cursor_.expect('[');
  Operand made;
  Space const space = space_ = spec.space.value_or(form_->space);
  if (cursor_.peek().kind == TokenKind::number) cursor_.unsupported();  // a fixed address
  Token const& base = cursor_.expect(TokenKind::word, "an address");
  auto const index = scopes_.find_register(base.text);
  if (index >= 0) {
    Type const type = function_.registers[static_cast<std::size_t>(index)].type;
    bool const narrow =
        space == Space::shared || space == Space::local || space == Space::constant || space == Space::param;
    bool const is_address = !is_float(type) && (size_bytes(type) == 8 || (narrow && size_bytes(type) == 4));
    // Kernels only read the parameters of an entry, which belong to the launch; the parameters of the entry's calls
    // have no addresses.
    bool const stores_to_parameter = form_->opcode() == "st" && space == Space::param && function_.is_entry;
    if (!is_address || stores_to_parameter) cursor_.unsupported();
    made.index = index;
  } else {
    made = named(base);
    check_space(made);
  }
  made.kind = OperandKind::address;
  made.bits = offset();
  cursor_.expect(']');
  return made;
}

// Reads `[%rd1, {%r1, %f1}]`. Refuses the name of a texture reference as well as a separate sampler.
Operand OperandReader::texel(OperandSpec const& spec) {
  OperandSpec handle;
  handle.type = Type::b64;
  OperandSpec layer;
  layer.type = Type::b32;
  Operand made;
  made.kind = OperandKind::texel;
  cursor_.expect('[');
  if (scopes_.find_register(cursor_.peek().text) < 0) cursor_.unsupported();
  made.index = typed_register(cursor_.take(), handle);
  if (form_->coordinates > 0) {
    if (!cursor_.accept(',') || !cursor_.accept('{')) cursor_.unsupported();
    do made.elements.push_back(source(form_->has_layer && made.elements.empty() ? layer : spec));
    while (cursor_.accept(','));
    cursor_.expect('}');
    if (made.elements.size() != form_->coordinates) cursor_.unsupported();
  }
  cursor_.expect(']');
  return made;
}

Operand OperandReader::vector(OperandSpec const& spec, bool is_source, bool allow_sinks) {
  Operand made;
  made.kind = OperandKind::vector;
  cursor_.expect('{');
  do {
    if (allow_sinks && cursor_.accept("_"))
      made.elements.emplace_back().kind = OperandKind::sink;
    else
      made.elements.push_back(is_source ? source(spec) : destination(spec));
  } while (cursor_.accept(','));
  cursor_.expect('}');
  // The predicate would say whether the memory of the texture is resident.
  bool const has_predicate = cursor_.peek().is('|');
  if (has_predicate || (spec.as_vector && made.elements.size() != form_->vector_size)) cursor_.unsupported();
  return made;
}

// Reads the registers of a matrix fragment.
Operand OperandReader::in_braces(OperandSpec const& spec) {
  bool const is_source = spec.role == OperandRole::source;
  Operand made;
  if (spec.in_braces == 1 && !cursor_.peek().is('{')) {
    made.kind = OperandKind::vector;
    made.elements.push_back(is_source ? source(spec) : destination(spec));
  } else {
    made = vector(spec, is_source, false);
  }
  if (made.elements.size() != spec.in_braces) cursor_.unsupported();
  return made;
}

// Reads the parts of a register of `type`, lowest first: two or four parts, each of 16 or 32 bits.
Operand OperandReader::moved_vector(Type type, bool is_source) {
  std::size_t count = 1;
  for (std::size_t i = 1; !cursor_.peek(i).is('}') && cursor_.peek(i).kind != TokenKind::end; ++i)
    count += cursor_.peek(i).is(',') ? 1 : 0;
  unsigned const part_bytes = static_cast<unsigned>(size_bytes(type) / count);
  if (!is_bits(type) || (count != 2 && count != 4) || part_bytes < 1) cursor_.unsupported();
  OperandSpec part;
  part.type = part_bytes == 4 ? Type::b32 : part_bytes == 2 ? Type::b16 : Type::b8;
  return vector(part, is_source, !is_source);
}

Operand OperandReader::any_source(OperandSpec const& spec) {
  if (cursor_.peek().is('{')) return moved_vector(spec.type, true);
  if (cursor_.peek().kind != TokenKind::word || at_warp_size()) return number(spec.type);
  if (scopes_.find_register(cursor_.peek().text) >= 0) return source(spec);
  Token const& token = cursor_.take();
  auto const* const special = std::ranges::find(kSpecials, token.text, &Special::name);
  if (special == kSpecials.end()) return named_source(spec, token);
  if (form_->opcode() != "mov" || !fits(special->type, spec.type, false)) cursor_.unsupported();
  Operand made;
  made.kind = OperandKind::special;
  made.index = static_cast<std::int32_t>(special - kSpecials.begin());
  if (special->name.starts_with("%reserved_smem")) function_.uses_reserved_shared = true;
  return made;
}

// Reads the address of a variable, for mov and cvta.
Operand OperandReader::named_source(OperandSpec const& spec, Token const& token) {
  if (token.text.starts_with('%') || is_float(spec.type)) cursor_.unsupported();
  Operand made = named(token);
  if (made.referent == Referent::function) {
    auto& function = module_.functions()[static_cast<std::size_t>(made.symbol)];
    if (form_->opcode() != "mov" || size_bytes(spec.type) != 8) cursor_.unsupported();
    if (function.is_entry) cursor_.unsupported(": kernels cannot launch kernels");
    function.address_taken = true;
    return made;
  }
  Space const space = space_of(made);
  bool const is_call_parameter =
      space == Space::param && function_.is_entry && made.referent == Referent::function_variable;
  bool const narrow = space == Space::shared || space == Space::local;
  bool const is_wide_enough = size_bytes(spec.type) == 8 || (size_bytes(spec.type) == 4 && narrow);
  bool const is_converted = form_->opcode() != "mov";
  if (is_call_parameter || !is_wide_enough || (is_converted && (form_->has("to") || form_->space != space)))
    cursor_.unsupported();
  made.bits = offset();
  return made;
}

}  // namespace cuda_cpu::ptx
