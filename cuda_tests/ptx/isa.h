// Declares what the PTX ISA has beyond the forms that are supported: enough of it to tell an instruction that is not supported
// from one that is none.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cuda_tests::ptx {

struct Form;

/// Why a text such as "add.sat.u32" is no instruction of PTX.
struct IsaObjection {
  std::string_view at;  // the part that offends
  std::string message;
};

/// The form of an instruction for a target (90 of sm_90) and a version (in tenths), null where there is none. As for an
/// assembler, its modifiers may stand in any order but types.
Form const* find_form(std::string_view instruction, unsigned target, unsigned version);

/// Of one that has no form here: none where PTX has it, for this target and version. `specific`: the target has a suffix.
std::optional<IsaObjection> isa_objection(std::string_view instruction, unsigned target, unsigned version, bool specific);

/// "%tid.x" and the like, supported or not.
bool is_special_register(std::string_view name) noexcept;

/// Whether a declaration may have that type, supported or not.
bool is_isa_type(std::string_view name) noexcept;

/// The rows, as they are written in isa_rows.cc and isa_unit_rows.cc.
struct IsaRow {
  std::string_view opcodes;  // "add|sub"
  std::string_view slots;    // "?rn bf16|bf16x2"
  unsigned minimal_target = 0;
  unsigned minimal_version = 0;
  unsigned below_target = 0;  // of what later targets have no more
  bool specific = false;      // only of targets with a suffix, such as sm_90a
};
struct IsaSlot {
  std::string_view name;  // "rnd", which rows write as "@rnd"
  std::string_view words;
};
std::span<IsaRow const> isa_rows() noexcept;
std::span<IsaRow const> isa_unit_rows() noexcept;
std::span<IsaSlot const> isa_slots() noexcept;

}  // namespace cuda_tests::ptx
