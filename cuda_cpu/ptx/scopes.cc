#include <algorithm>

#include "cuda_cpu/ptx/builder.h"

namespace cuda_cpu::ptx {
namespace {

constexpr std::int64_t kMaxRegisters = 1 << 20;
constexpr std::uint64_t kMaxFrameBytes = 512 * 1024;

// Splits `%r7`, which `%r<8>` declares, into its prefix and its number. Returns nothing for `%r` and for `%r07`, which
// `%r<8>` does not declare.
std::optional<std::pair<std::string_view, std::int64_t>> split_number(std::string_view name) {
  std::size_t const begin = name.find_last_not_of("0123456789") + 1;
  std::string_view const digits = name.substr(begin);
  if (begin == 0 || digits.empty() || digits.size() > 8 || (digits.size() > 1 && digits[0] == '0')) return std::nullopt;
  std::int64_t number = 0;
  for (char const c : digits) number = number * 10 + (c - '0');
  return std::pair(name.substr(0, begin), number);
}

}  // namespace

void Scopes::close(Cursor const& cursor) {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  if (!scopes_.empty()) scopes_.back().inner_end = std::max({scopes_.back().inner_end, scope.own_end, scope.inner_end});
  for (auto const& use : scope.uses) {
    auto const label = scope.labels.find(use.at.text);
    if (label != scope.labels.end())
      function_.instructions[use.instruction].operands[use.operand].index = label->second;
    else if (scopes_.empty())
      cursor.fail(use.at, "undefined label");
    else
      scopes_.back().uses.push_back(use);
  }
}

void Scopes::declare_registers(Cursor& cursor) {
  Type const type = declared_type(cursor);
  do {
    Token const name = cursor.name();
    Registers registers{type, -1, {}};
    if (cursor.accept('<')) {
      Token const& at = cursor.peek();
      registers.count = static_cast<std::int64_t>(std::min<std::uint64_t>(cursor.integer(), kMaxRegisters + 1));
      if (registers.count == 0 || registers.count > kMaxRegisters) cursor.fail(at, "invalid number of registers");
      cursor.expect('>');
    }
    auto& scope = scopes_.back();
    if (scope.variables.contains(name.text) || !scope.registers.emplace(name.text, std::move(registers)).second)
      cursor.fail(name, "name declared twice");
  } while (cursor.accept(','));
}

std::int32_t Scopes::index_of(Registers& registers, std::int64_t number, std::string_view name) {
  auto const at = static_cast<std::size_t>(number + 1);
  if (at >= registers.indices.size()) registers.indices.resize(at + 1, -1);
  std::int32_t& index = registers.indices[at];
  if (index < 0) {
    index = static_cast<std::int32_t>(function_.registers.size());
    function_.registers.push_back({std::string(name), registers.type});
  }
  return index;
}

std::int32_t Scopes::find_register(std::string_view name) {
  auto const parts = split_number(name);
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    auto const single = scope->registers.find(name);
    if (single != scope->registers.end() && single->second.count < 0) return index_of(single->second, -1, name);
    if (scope->variables.contains(name)) return -1;
    if (!parts) continue;
    auto const range = scope->registers.find(parts->first);
    if (range != scope->registers.end() && parts->second < range->second.count)
      return index_of(range->second, parts->second, name);
  }
  return -1;
}

void Scopes::declare_variable(Token const& at, Variable variable) {
  auto& scope = scopes_.back();
  if (scope.variables.contains(variable.name) || scope.registers.contains(variable.name))
    Cursor::fail(at, "name declared twice");
  if (variable.space != Space::shared) {
    // Parameters of calls in sibling scopes share memory; a local variable keeps its memory for the entire call.
    bool const is_local = variable.space == Space::local;
    std::uint64_t const end = is_local ? function_.frame_bytes : std::max(scope.own_end, scope.inner_end);
    std::uint64_t const begin = (end + variable.align_bytes - 1) / variable.align_bytes * variable.align_bytes;
    if (begin + variable.size_bytes > kMaxFrameBytes) Cursor::fail(at, "more than 512 KiB of local memory");
    variable.offset_bytes = begin;
    scope.own_end = static_cast<std::uint32_t>(begin + variable.size_bytes);
    function_.frame_bytes = std::max(function_.frame_bytes, scope.own_end);
    if (is_local) {
      for (auto& enclosing : scopes_) enclosing.own_end = scope.own_end;
    }
  }
  scope.variables.emplace(variable.name, static_cast<std::int32_t>(function_.variables.size()));
  function_.variables.push_back(std::move(variable));
}

std::int32_t Scopes::find_variable(std::string_view name) const noexcept {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    auto const found = scope->variables.find(name);
    if (found != scope->variables.end()) return found->second;
  }
  return -1;
}

void Scopes::define_label(Token const& at) {
  auto const next = static_cast<std::int32_t>(function_.instructions.size());
  if (!scopes_.back().labels.emplace(at.text, next).second) Cursor::fail(at, "label defined twice");
}

void Scopes::use_label(Token const& at, std::size_t operand) {
  scopes_.back().uses.push_back({at, function_.instructions.size(), operand});
}

}  // namespace cuda_cpu::ptx
