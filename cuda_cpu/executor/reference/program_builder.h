// ProgramBuilder makes the PTX of a kernel, operation by operation, for tests.
#pragma once

#include <string>
#include <string_view>

namespace cuda_cpu {

/// A kernel `k` without parameters. Loads and stores of 2, 4 or 8 bytes access a variable in global or shared memory;
/// each operation is one instruction, except call() and loop():
///
///     std::string const ptx = ProgramBuilder().ldg(4).stg(4).exit().ptx();
class ProgramBuilder {
 public:
  ProgramBuilder& ldg(unsigned bytes) { return load("global", bytes); }
  ProgramBuilder& stg(unsigned bytes) { return store("global", bytes); }
  ProgramBuilder& lds(unsigned bytes) { return load("shared", bytes); }
  ProgramBuilder& sts(unsigned bytes) { return store("shared", bytes); }
  /// Branches to the next operation.
  ProgramBuilder& bra() {
    std::string const label = "next" + std::to_string(++labels_);
    return add("bra " + label + ";\n" + label + ":");
  }
  /// Calls a function that only returns.
  ProgramBuilder& call() { return add("call nothing;"); }
  ProgramBuilder& barrier_sync() { return add("bar.sync 0;"); }
  ProgramBuilder& memory_fence() { return add("membar.gl;"); }
  ProgramBuilder& exit() { return add("exit;"); }
  /// Runs the operations that `body` adds `iterations` times, at least once. Each iteration has three more
  /// instructions.
  template <class Body>
  ProgramBuilder& loop(unsigned iterations, Body const& body) {
    std::string const number = std::to_string(++labels_);
    add("mov.u32 %c" + number + ", " + std::to_string(iterations) + ";\nloop" + number + ":");
    body(*this);
    return add("sub.u32 %c" + number + ", %c" + number + ", 1;")
        .add("setp.ne.u32 %p1, %c" + number + ", 0;")
        .add("@%p1 bra loop" + number + ";");
  }
  /// Adds any other instruction, which may use the registers %h1 (16 bits), %r1 (32), %d1 (64) and %p1.
  ProgramBuilder& add(std::string_view instruction) {
    body_.append(instruction).append("\n");
    return *this;
  }

  std::string ptx() const {
    return ".version 9.0\n.target sm_90\n.address_size 64\n.global .align 8 .b8 global[8];\n.func nothing { ret; }\n"
           ".visible .entry k() {\n.shared .align 8 .b8 shared[8];\n.reg .b16 %h<2>; .reg .b32 %r<2>; .reg .b64 "
           "%d<2>;\n"
           ".reg .pred %p<2>; .reg .b32 %c<" +
           std::to_string(labels_ + 1) + ">;\n" + body_ + "}\n";
  }

 private:
  static std::string type(unsigned bytes) { return "u" + std::to_string(bytes * 8); }
  static std::string value(unsigned bytes) { return bytes == 2 ? "%h1" : bytes == 4 ? "%r1" : "%d1"; }
  ProgramBuilder& load(std::string const& space, unsigned bytes) {
    return add("ld." + space + "." + type(bytes) + " " + value(bytes) + ", [" + space + "];");
  }
  ProgramBuilder& store(std::string const& space, unsigned bytes) {
    return add("st." + space + "." + type(bytes) + " [" + space + "], " + value(bytes) + ";");
  }

  std::string body_;
  unsigned labels_ = 0;
};

}  // namespace cuda_cpu
