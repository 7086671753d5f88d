// Implements mov, cvta, isspacep and special registers.
#include <chrono>
#include <cstring>

#include "cuda_cpu/executor/steps/map.h"

namespace cuda_cpu {
namespace {

using ptx::SpecialRegister;

template <class T>
T same(T a) {
  return a;
}

// Writes the address of a variable: `bits`, plus the frame of local memory if it is relative to the frame.
template <class T>
bool address_of(Warp& warp, Step const& step, Mask lanes) {
  U64 const frame = step.frame_relative ? U64{warp.depth} * warp.block.launch.kernel->local_frame_bytes : 0;
  fill_lanes(warp.at<T>(step.destination[0]), static_cast<T>(step.bits + frame), lanes);
  return true;
}

U64 read_part(Warp& warp, Location from, std::uint8_t width, unsigned lane) {
  return width == 2 ? warp.at<U16>(from)[lane] : warp.at<U32>(from)[lane];
}
U64 read_source(Warp& warp, Location from, std::uint8_t width, unsigned lane) {
  return width == 8 ? warp.at<U64>(from)[lane] : read_part(warp, from, width, lane);
}

bool pack(Warp& warp, Step const& step, Mask lanes) {
  unsigned const shift = step.bytes * 8u / step.count;
  U64 const part = (U64{1} << shift) - 1;
  each_lane(lanes, [&](unsigned lane) {
    U64 packed = 0;
    for (unsigned i = 0; i < step.count; ++i)
      packed |= (read_part(warp, step.source[i], step.source_width[i], lane) & part) << (i * shift);
    if (step.bytes == 8)
      warp.at<U64>(step.destination[0])[lane] = packed;
    else if (step.bytes == 4)
      warp.at<U32>(step.destination[0])[lane] = static_cast<U32>(packed);
    else
      warp.at<U16>(step.destination[0])[lane] = static_cast<U16>(packed);
  });
  return true;
}

bool unpack(Warp& warp, Step const& step, Mask lanes) {
  unsigned const shift = step.bytes * 8u / step.count;
  each_lane(lanes, [&](unsigned lane) {
    U64 const packed = read_source(warp, step.source[0], step.bytes, lane);
    for (unsigned i = 0; i < step.count; ++i) {
      if (step.destination[i] == kNowhere) continue;
      if (shift <= 16)
        warp.at<U16>(step.destination[i])[lane] = static_cast<U16>(packed >> (i * shift));
      else
        warp.at<U32>(step.destination[i])[lane] = static_cast<U32>(packed >> (i * shift));
    }
  });
  return true;
}

// Converts an address. Generic addresses of shared and local memory are host addresses.
template <bool kTo>
bool convert_address(Warp& warp, Step const& step, Mask lanes) {
  U64 const* const from = warp.at<U64>(step.source[0]);
  U64* const to = warp.at<U64>(step.destination[0]);
  each_lane(lanes, [&](unsigned i) {
    U64 base = 0;
    if (step.space == Space::shared) base = reinterpret_cast<std::uintptr_t>(warp.block.shared);
    if (step.space == Space::local) base = reinterpret_cast<std::uintptr_t>(warp.block.local_of(warp, i));
    if (step.frame_relative) base += U64{warp.depth} * warp.block.launch.kernel->local_frame_bytes;
    to[i] = kTo ? from[i] - base : from[i] + base;
  });
  return true;
}

bool is_in_space(Warp& warp, Step const& step, Mask lanes) {
  auto const& launch = warp.block.launch;
  U64 const* const from = warp.at<U64>(step.source[0]);
  Mask result = 0;
  each_lane(lanes, [&](unsigned i) {
    auto const inside = [&](std::byte const* begin, std::uint64_t bytes) {
      return from[i] - reinterpret_cast<std::uintptr_t>(begin) < bytes;
    };
    bool const shared = inside(warp.block.shared, launch.shared_bytes);
    bool const local = inside(warp.block.local_of(warp, i), launch.local_bytes);
    bool holds = step.space == Space::shared ? shared : local;
    if (step.space == Space::global || step.space == Space::constant) {
      MemoryRange const* const range = shared || local ? nullptr : warp.block.find_range(from[i], 1);
      bool const constant = range != nullptr && range->constant;
      holds = step.space == Space::constant ? constant : !shared && !local && !constant;
    }
    result |= Mask{holds} << i;
  });
  warp.set_predicate(step.destination[0], result, lanes);
  return true;
}

U64 now_ns() {
  return static_cast<U64>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
}
// A handler of steps must not refer to tracing_core, so it cannot use its monotonic_ns().
U64 clock_ns() {
  return static_cast<U64>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

// Returns a special register that has one value in all lanes.
U64 uniform_special(Warp const& warp, SpecialRegister which) {
  auto const& block = warp.block;
  auto const& shape = block.launch.shape;
  using enum SpecialRegister;
  switch (which) {
    case ntid_x: return shape.block.x;
    case ntid_y: return shape.block.y;
    case ntid_z: return shape.block.z;
    case ctaid_x: return block.index.x;
    case ctaid_y: return block.index.y;
    case ctaid_z: return block.index.z;
    case nctaid_x: return shape.grid.x;
    case nctaid_y: return shape.grid.y;
    case nctaid_z: return shape.grid.z;
    case warpid: return warp.index;
    case nwarpid: return block.warps.size();
    case nsmid: return 1;
    case gridid: return block.launch.id;
    case clock:
    case clock64: return clock_ns();
    case clock_hi: return clock_ns() >> 32;
    case globaltimer:
    case globaltimer_lo: return now_ns();
    case globaltimer_hi: return now_ns() >> 32;
    case total_smem_size: return block.launch.kernel->function->static_shared_bytes + shape.dynamic_shared_bytes;
    case dynamic_smem_size: return shape.dynamic_shared_bytes;
    case clusterid_x: return block.index.x;  // each block is a cluster
    case clusterid_y: return block.index.y;
    case clusterid_z: return block.index.z;
    case nclusterid_x: return shape.grid.x;
    case nclusterid_y: return shape.grid.y;
    case nclusterid_z: return shape.grid.z;
    case cluster_nctaid_x:
    case cluster_nctaid_y:
    case cluster_nctaid_z:
    case cluster_nctarank: return 1;
    case envreg1: return block.launch.options->grid_workspace >> 32;
    case envreg2: return block.launch.options->grid_workspace & 0xffffffff;
    case reserved_smem_offset_begin:
    case reserved_smem_offset_0: return block.launch.reserved_shared_at;
    case reserved_smem_offset_1: return block.launch.reserved_shared_at + kReservedSharedBytes / 2;
    case reserved_smem_offset_end: return block.launch.shared_bytes;
    case reserved_smem_offset_cap: return kReservedSharedBytes;
    default: return 0;
  }
}

U64 lane_special(SpecialRegister which, unsigned lane) {
  using enum SpecialRegister;
  switch (which) {
    case laneid: return lane;
    case lanemask_eq: return U64{1} << lane;
    case lanemask_le: return (U64{2} << lane) - 1;
    case lanemask_lt: return (U64{1} << lane) - 1;
    case lanemask_ge: return kAllLanes & ~((U64{1} << lane) - 1);
    default: return kAllLanes & ~((U64{2} << lane) - 1);
  }
}

bool read_special(Warp& warp, Step const& step, Mask lanes) {
  auto const which = static_cast<SpecialRegister>(step.choice);
  if (which <= SpecialRegister::tid_z) {
    auto const& threads = warp.block.launch.threads;
    U32 const* const from = threads.data() + static_cast<unsigned>(which) * (threads.size() / 3) + warp.thread(0);
    U32* const to = warp.at<U32>(step.destination[0]);
    if (lanes == kAllLanes)
      std::memcpy(to, from, kLanes * sizeof *to);
    else
      each_lane(lanes, [&](unsigned i) { to[i] = from[i]; });
    return true;
  }
  bool const by_lane = which == SpecialRegister::laneid ||
                       (which >= SpecialRegister::lanemask_eq && which <= SpecialRegister::lanemask_gt);
  bool const is_long = step.width[0] == 8;
  U64* const longs = warp.at<U64>(step.destination[0]);
  U32* const words = warp.at<U32>(step.destination[0]);
  if (by_lane) {
    each_lane(lanes, [&](unsigned i) {
      U64 const value = lane_special(which, i);
      is_long ? void(longs[i] = value) : void(words[i] = static_cast<U32>(value));
    });
    return true;
  }
  U64 const uniform = uniform_special(warp, which);
  is_long ? fill_lanes(longs, uniform, lanes) : fill_lanes(words, static_cast<U32>(uniform), lanes);
  return true;
}

// mapa: gives an address in the shared memory of a block of the cluster, which must be the cluster's only block.
template <class T>
bool map_to_block(Warp& warp, Step const& step, Mask lanes) {
  U32 const* const rank = warp.at<U32>(step.source[1]);
  for (Mask left = lanes; left != 0; left &= left - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(left));
    if (rank[lane] != 0) {
      return warp.block.fail(warp, step, Mask{1} << lane, FaultKind::out_of_range,
                             "block " + std::to_string(rank[lane]) + " of a cluster of one block");
    }
    warp.at<T>(step.destination[0])[lane] = warp.at<T>(step.source[0])[lane];
  }
  return true;
}

bool rank_of_block(Warp& warp, Step const& step, Mask lanes) {
  each_lane(lanes, [&](unsigned i) { warp.at<U32>(step.destination[0])[i] = 0; });
  return true;
}

}  // namespace

Handler select_move(Form const& form, Step& step) {
  std::string_view const op = form.opcode();
  if (op == "mapa") return form.type == Type::u64 ? map_to_block<U64> : map_to_block<U32>;
  if (op == "getctarank") return rank_of_block;
  if (op == "cvta") {
    bool const is_same = step.space != Space::shared && step.space != Space::local && !step.frame_relative;
    if (is_same) return map<&same<U64>>;
    return form.has("to") ? convert_address<true> : convert_address<false>;
  }
  if (op == "isspacep") return is_in_space;
  if (op != "mov") return nullptr;
  step.bytes = static_cast<std::uint8_t>(size_bytes(form.type));
  switch (static_cast<MoveKind>(step.choice)) {
    case MoveKind::pack: return pack;
    case MoveKind::unpack: return unpack;
    case MoveKind::special: step.choice = static_cast<std::uint8_t>(step.bits); return read_special;
    case MoveKind::address: return step.bytes == 8 ? address_of<U64> : address_of<U32>;
    case MoveKind::plain: break;
  }
  return step.bytes == 2 ? Handler{map<&same<U16>>} : step.bytes == 4 ? map<&same<U32>> : map<&same<U64>>;
}

}  // namespace cuda_cpu
