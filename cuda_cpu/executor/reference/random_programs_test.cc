// Random programs of all scalar forms that the reference knows: the executor and the reference must leave equal values
// in registers and memory. The seeds are fixed.
#include <cstring>
#include <random>

#include "cuda_cpu/executor/reference/reference.h"
#include "cuda_cpu/executor/reference/run_test_support.h"
#include "tests/support/campaign.h"

namespace cuda_cpu { namespace {

using ptx::Form;
using ptx::OperandRole;
using ptx::OperandSpec;
using ptx::Space;
using ptx::Type;
using reference::Bits;

constexpr unsigned kThreads = 45;       // a full warp and a partial one
constexpr unsigned kPrivateBytes = 64;  // in each space, for each thread

// A kind of registers: their prefix, the type that declares them, and their number.
struct Kind {
  std::string prefix, type;
  unsigned count;
};
Kind const kKinds[] = {{"%h", "b16", 6}, {"%r", "b32", 8}, {"%d", "b64", 8}, {"%f", "f32", 6}, {"%g", "f64", 6}};

// Returns the forms that programs use, grouped by opcode, so that an opcode with many forms is not more frequent.
std::vector<std::vector<Form const*>> const& forms() {
  static auto const* const all = [] {
    std::map<std::string_view, std::vector<Form const*>> by_opcode;
    for (auto const* const form : ptx::all_forms()) {
      std::string_view const op = form->opcode();
      if (op == "bra" || op == "ret" || op == "exit" || form->space == Space::param) continue;
      if (reference::supports(*form)) by_opcode[op].push_back(form);
    }
    auto* const made = new std::vector<std::vector<Form const*>>;
    for (auto& [op, some] : by_opcode) made->push_back(std::move(some));
    return made;
  }();
  return *all;
}

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  // Returns a program. %in holds the address of the thread's private part of global memory, %at of shared memory.
  std::string program(unsigned length) {
    block(length, 0);
    std::string declarations, load, store;
    unsigned offset = kPrivateBytes;
    for (auto const& [prefix, type, count] : kKinds) {
      declarations += ".reg ." + type + " " + prefix + "<" + std::to_string(count) + ">; ";
      for (unsigned i = 0; i < count; ++i, offset += 8) {
        std::string const name = prefix + std::to_string(i), at = "[%in+" + std::to_string(offset) + "]";
        load += "ld.global." + type + " " + name + ", " + at + ";\n";
        store += "st.global." + type + " " + at + ", " + name + ";\n";
      }
    }
    for (unsigned i = 0; i < kPredicates; ++i, offset += 8) {
      std::string const name = "%p" + std::to_string(i), at = "[%in+" + std::to_string(offset) + "]";
      load += "ld.global.u32 %t, " + at + "; setp.lt.s32 " + name + ", %t, 0;\n";
      store += "selp.u32 %t, 1, 0, " + name + "; st.global.u32 " + at + ", %t;\n";
    }
    for (unsigned i = 0; i < kPrivateBytes; i += 8) {
      std::string const at = std::to_string(i);
      load += "ld.global.u64 %t64, [%in+" + at + "]; st.local.u64 [own+" + at + "], %t64; st.shared.u64 [%at+" + at +
              "], %t64;\n";
      store += "ld.local.u64 %t64, [own+" + at + "]; st.global.u64 [%in+" + std::to_string(offset) +
               "], %t64; ld.shared.u64 %t64, [%at+" + at + "]; st.global.u64 [%in+" +
               std::to_string(offset + kPrivateBytes) + "], %t64;\n";
      offset += 8;
    }
    return ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a) {\n" + declarations +
           ".reg .pred %p<" + std::to_string(kPredicates) +
           ">, %c, %nan; .reg .u32 %t, %n<3>, %tid; .reg .u64 %t64, %in, %at;\n"
           ".local .align 16 .b8 own[" +
           std::to_string(kPrivateBytes) + "]; .shared .align 16 .b8 ours[" + std::to_string(kPrivateBytes * kThreads) +
           "];\n"
           "mov.u32 %tid, %tid.x; ld.param.u64 %in, [a]; mad.wide.u32 %in, %tid, " +
           std::to_string(kStride) +
           ", %in;\n"
           "mul.wide.u32 %at, %tid, " +
           std::to_string(kPrivateBytes) + ";\n" + load + text_ + store + "ret;\n}\n";
  }

  static constexpr unsigned kStride = 768;  // bytes of global memory for each thread
  static constexpr unsigned kPredicates = 5;

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  template <class T>
  T const& one_of(std::vector<T> const& all) {
    return all[below(static_cast<unsigned>(all.size()))];
  }
  bool chance(unsigned percent) { return below(100) < percent; }

  std::string predicate() { return "%p" + std::to_string(below(kPredicates)); }
  static Kind const& kind_of(Type type) {
    if (type == Type::f32) return kKinds[3];
    if (type == Type::f64) return kKinds[4];
    return kKinds[ptx::size_bytes(type) == 8 ? 2 : ptx::size_bytes(type) == 4 ? 1 : 0];
  }
  std::string reg(Type type) {
    Kind const& kind = kind_of(type);
    return kind.prefix + std::to_string(below(kind.count));
  }

  // Returns a number. Numbers at the ends of ranges are frequent.
  std::string number(Type type) {
    if (type == Type::f32) return hexadecimal_float(random_() & 0xffffffff, 8, "0f");
    if (type == Type::f64) return hexadecimal_float(random_(), 16, "0d");
    static std::vector<std::string> const edges = {"0",  "1",  "2",  "-1", "5",   "8",   "16",  "31",
                                                   "32", "33", "63", "64", "127", "255", "-128"};
    if (chance(60)) return one_of(edges);
    unsigned const bits = 8 * ptx::size_bytes(type);
    return std::to_string(bits == 64 ? random_() >> 1 : random_() & ((Bits{1} << bits) - 1));
  }
  static std::string hexadecimal_float(Bits bits, unsigned digits, std::string text) {
    for (unsigned i = digits; i-- > 0;) text += "0123456789abcdef"[bits >> (4 * i) & 15];
    return text;
  }

  std::string source(Type type) {
    bool const takes_numbers = !ptx::is_in_bits(type) && type != Type::f16 && ptx::size_bytes(type) > 1;
    return takes_numbers && chance(20) ? number(type) : reg(type);
  }

  std::string vector(Form const& form, Type type, bool is_source) {
    std::string text = "{";
    for (unsigned i = 0; i < form.vector_size; ++i)
      text += (i > 0 ? ", " : "") + (is_source ? reg(type) : distinct(type, i));
    return text + "}";
  }
  // Returns a register that differs from the other destinations of the instruction.
  std::string distinct(Type type, unsigned i) {
    Kind const& kind = kind_of(type);
    return kind.prefix + std::to_string(i % kind.count);
  }

  std::string address(Form const& form) {
    unsigned const bytes = ptx::size_bytes(form.type) * form.vector_size;
    std::string const offset = "+" + std::to_string(below(kPrivateBytes / bytes) * bytes) + "]";
    if (form.space == Space::shared) return "[%at" + offset;
    return (form.space == Space::local ? "[own" : "[%in") + offset;
  }

  // Returns a register; for a video instruction it may be a part of a register, or its negative.
  std::string reg(OperandSpec const& spec) {
    static std::vector<std::string> const parts = {".b0", ".b1", ".b2", ".b3", ".h0", ".h1"};
    return (spec.negatable && may_negate_ ? "-" : "") + reg(spec.type) +
           (spec.with_part && chance(50) ? one_of(parts) : "");
  }

  std::string operand(Form const& form, OperandSpec const& spec) {
    bool const in_braces = spec.as_vector && form.vector_size > 1;
    switch (spec.role) {
      case OperandRole::destination:
      case OperandRole::any_destination: return in_braces ? vector(form, spec.type, false) : reg(spec);
      case OperandRole::source:
      case OperandRole::any_source:
        if ((spec.with_part || spec.negatable) && chance(80)) return reg(spec);
        return in_braces ? vector(form, spec.type, true) : source(spec.type);
      case OperandRole::immediate: return std::to_string(below(256));
      case OperandRole::predicate: return (chance(30) ? "!" : "") + predicate();
      case OperandRole::set_predicate: return predicate();
      case OperandRole::set_predicates: {
        unsigned const first = below(kPredicates);
        std::string const text = "%p" + std::to_string(first);
        return chance(50) ? text : text + "|%p" + std::to_string((first + 1) % kPredicates);
      }
      case OperandRole::address: return address(form);
      default: return "";
    }
  }

  void instruction() {
    Form const& form = *one_of(one_of(forms()));
    if (chance(15)) text_ += (chance(50) ? "@" : "@!") + predicate() + " ";
    std::string destination;
    text_ += form.name;
    unsigned const negated = below(6);  // among three negatable operands, one may be negated
    for (std::size_t i = 0; i < form.operands.size(); ++i) {
      may_negate_ = i == negated;
      std::string const text = operand(form, form.operands[i]);
      if (i == 0) destination = text;
      text_ += (i == 0 ? " " : ", ") + text;
    }
    text_ += ";\n";
    // The bits of a NaN of 64 bits are not specified.
    if (destination.starts_with("%g"))
      text_ +=
          "testp.notanumber.f64 %nan, " + destination + "; @%nan mov.f64 " + destination + ", 0d7ff8000000000000;\n";
  }

  // Adds instructions, branches that join, and loops, nested twice at most.
  void block(unsigned length, unsigned depth) {
    for (unsigned i = 0; i < length; ++i) {
      if (depth < 2 && chance(4)) {
        std::string const n = std::to_string(++labels_);
        if (chance(50)) {
          std::string const counter = "%n" + std::to_string(depth);
          text_ += "mov.u32 " + counter + ", " + std::to_string(1 + below(3)) + ";\nloop" + n + ":\n";
          block(1 + below(8), depth + 1);
          text_ += "sub.u32 " + counter + ", " + counter + ", 1; setp.ne.u32 %c, " + counter + ", 0; @%c bra loop" + n +
                   ";\n";
        } else {
          text_ += "@" + predicate() + " bra other" + n + ";\n";
          block(1 + below(8), depth + 1);
          text_ += "bra.uni end" + n + ";\nother" + n + ":\n";
          block(1 + below(8), depth + 1);
          text_ += "end" + n + ":\n";
        }
      } else {
        instruction();
      }
    }
  }

  std::mt19937_64 random_;
  std::string text_;
  unsigned labels_ = 0;
  bool may_negate_ = false;
};

// Returns values for registers and memory. Many of them are special values.
std::vector<std::byte> initial_memory(unsigned seed) {
  static constexpr Bits kSpecial[] = {0,
                                      1,
                                      ~Bits{0},
                                      0x8000000080008000,
                                      0x7fffffff7fff7fff,
                                      0x7f8000007c007f80,
                                      0xff8000007fc17f81,
                                      0x3ff0000000000000,
                                      0x3f8000003c003f80,
                                      0x7ff0000000000000,
                                      0xfff8000000000001,
                                      0x0000000100010001,
                                      0x0010000000800080,
                                      0xbff8000040490fdb,
                                      0x43e0000000000000,
                                      0x4f0000004b800000};
  std::mt19937_64 random(seed * 7919 + 1);
  std::vector<std::byte> memory(kThreads * Generator::kStride);
  for (std::size_t at = 0; at < memory.size(); at += 8) {
    Bits value = random();
    if (value % 3 == 0) value = kSpecial[value / 3 % std::size(kSpecial)];
    if (value % 3 == 1) value >>= random() % 64;
    std::memcpy(memory.data() + at, &value, sizeof value);
  }
  return memory;
}

TEST(RandomPrograms, LeaveTheSameRegistersAndMemoryAsTheReference) {
  unsigned const programs = tracing_test::campaign(3000u, 60u);
  std::uint64_t instructions = 0;
  std::set<std::string_view> used;
  TestDevice device(1);
  for (unsigned seed = 1; seed <= programs && !HasFailure(); ++seed) {
    std::string const text = Generator(seed).program(220);
    device.load(text);
    auto const* const entry = device.program->module().find_entry("k");
    ASSERT_NE(entry, nullptr);
    ASSERT_FALSE(entry->refusal) << entry->refusal->message;
    auto const initial = initial_memory(seed);
    auto* const memory = device.upload(initial);
    ASSERT_EQ(text_of(device.run("k", {{1}, {kThreads}, 0}, memory)), "") << "seed " << seed;

    reference::Region region{reinterpret_cast<Bits>(memory), initial};
    reference::Thread thread;
    thread.global = &region;
    thread.shared.resize(entry->static_shared_bytes);
    thread.parameters = {region.begin};
    for (thread.index = 0; thread.index < kThreads; ++thread.index) {
      thread.local.assign(entry->local_bytes, std::byte{});
      instructions += reference::run_thread(*entry, thread);
    }
    for (auto const& instruction : entry->instructions) used.insert(instruction.form->opcode());
    for (std::size_t at = 0; at < initial.size(); at += 8) {
      Bits got = 0, expected = 0;
      std::memcpy(&got, memory + at, sizeof got);
      std::memcpy(&expected, region.bytes.data() + at, sizeof expected);
      if (got == expected) continue;
      ADD_FAILURE() << "seed " << seed << ", thread " << at / Generator::kStride << ", offset "
                    << at % Generator::kStride << ": " << std::hex << got << ", the reference has " << expected << '\n'
                    << text;
      break;
    }
    device.memory.free(reinterpret_cast<std::uintptr_t>(memory));
  }
  EXPECT_GT(instructions, programs * 16'700ull) << "a million in 60 programs";
  EXPECT_GE(used.size(), forms().size()) << "each opcode is in a program";
}

}}  // namespace cuda_cpu
