// What the PTX ISA has beyond the table of forms, as rows of an opcode and its slots. A slot is one of some words, "?" before
// it: or none. Words may stand in any order but types, as assemblers take them. "*" stands for any modifiers of PTX: of
// instructions so far from ours that which of them go together is not worth a table.
#include "cuda_tests/ptx/isa.h"

namespace cuda_tests::ptx {
namespace {

constexpr IsaRow kRows[] = {
    // Integers and bits.
    {"add|sub|addc|subc", "?cc @carry"},
    {"addc|subc", "u16|s16"},
    {"addc|subc", "sat s32"},
    {"add|sub", "u16x2|s16x2", 90, 80},
    {"min|max", "?relu u16x2|s16x2", 90, 80},
    {"min|max", "relu s32", 90, 80},
    {"mad.lo|mad.hi|madc.lo|madc.hi", "?cc @carry"},
    {"mad24.hi", "sat s32"},
    {"fns", "b32"},
    {"cvt.pack", "*"},
    // Floating point.
    {"add|sub|mul", "?rn bf16|bf16x2", 90, 78},
    {"add|sub|mul|fma", "?@rnd ?ftz f32x2", 100, 86},
    {"add|sub|fma", "?@rnd ?sat f32 f16|bf16", 100, 86},
    {"fma", "rn ?relu bf16|bf16x2", 80, 70},
    {"fma", "rn ?ftz oob ?relu f16|f16x2|bf16|bf16x2", 90, 81},
    {"abs|neg", "bf16|bf16x2", 80, 70},
    {"min|max", "?NaN bf16|bf16x2", 80, 70},
    {"min|max", "?NaN xorsign abs bf16|bf16x2", 86, 72},
    {"min|max", "?ftz ?NaN xorsign abs f16|f16x2|f32", 86, 72},
    {"min|max", "?ftz ?NaN ?abs f32", 100, 88},
    {"tanh", "approx bf16|bf16x2", 90, 78},
    {"ex2", "approx ftz bf16|bf16x2", 90, 78},
    {"setp", "@fcmp ?@bool bf16|bf16x2", 90, 78},
    {"set", "@fcmp ?@bool ?ftz @settype f16|bf16|f32|f64|f16x2|bf16x2"},
    {"set", "@cmp|lo|ls|hi|hs ?@bool f16|bf16|u16|s16 @int|b16|b32|b64"},
    // Conversions: those of bfloat16 and narrower ones, which saturate in their own way.
    {"cvt", "?@rnd|rna ?@irnd ?ftz ?sat ?relu ?satfinite @int8|f16|bf16|f32|f64|tf32 @int8|f16|bf16|f32|f64"},
    {"cvt", "@rnd|rna|rs ?relu ?satfinite ?scaled @packed f32|f16x2|bf16x2|@packed", 80},
    {"cvta", "?to shared::cluster|param|param::entry u64"},
    {"isspacep", "shared::cluster|param|param::entry"},
    {"mov", "b128", 70, 83},
    {"mov", "u32|u64"},
    // Memory.
    {"ld", "?weak ?@space|const|param|param::entry|param::func ?@ldcop ?@l1 ?@l2 ?@l2size ?L2::cache_hint ?v2 @mem"},
    {"ld", "?weak ?@space|const|param|param::entry|param::func ?@ldcop ?@l1 ?@l2 ?@l2size ?L2::cache_hint v4 @mem32"},
    {"ld", "?weak|volatile|relaxed|acquire ?@scope ?@space ?@l1 ?@l2 ?@l2size ?L2::cache_hint b128", 70, 83},
    {"ld", "relaxed|acquire @scope ?@space ?@l1 ?@l2 ?@l2size ?L2::cache_hint ?v2 @mem"},
    {"ld", "relaxed|acquire @scope ?@space ?@l1 ?@l2 ?@l2size ?L2::cache_hint v4 @mem32"},
    {"ld", "volatile ?@space|const|param ?@l2size ?v2 @mem"},
    {"ld", "volatile ?@space|const|param ?@l2size v4 @mem32"},
    {"ld", "mmio relaxed sys ?global @mem", 70, 82},
    {"ld", "global nc ?ca|cg|cs ?@l1 ?@l2 ?@l2size ?L2::cache_hint ?v2 @mem|b128"},
    {"ld", "global nc ?ca|cg|cs ?@l1 ?@l2 ?@l2size ?L2::cache_hint v4 @mem32"},
    {"ld", "?weak|relaxed|acquire ?@scope global ?nc ?@l1 ?@l2 ?@l2size ?L2::cache_hint v4 b64|u64|s64|f64", 100, 88},
    {"ld", "?weak|relaxed|acquire ?@scope global ?nc ?@l1 ?@l2 ?@l2size ?L2::cache_hint v8 b32|u32|s32|f32", 100, 88},
    {"ldu", "?global b128", 70, 83},
    {"st", "?weak ?@space|param|param::func ?@stcop ?@l1 ?@l2 ?L2::cache_hint ?v2 @mem"},
    {"st", "?weak ?@space|param|param::func ?@stcop ?@l1 ?@l2 ?L2::cache_hint v4 @mem32"},
    {"st", "?weak|volatile|relaxed|release ?@scope ?@space ?@l1 ?@l2 ?L2::cache_hint b128", 70, 83},
    {"st", "relaxed|release @scope ?@space ?@l1 ?@l2 ?L2::cache_hint ?v2 @mem"},
    {"st", "relaxed|release @scope ?@space ?@l1 ?@l2 ?L2::cache_hint v4 @mem32"},
    {"st", "volatile ?@space ?v2 @mem"},
    {"st", "volatile ?@space v4 @mem32"},
    {"st", "mmio relaxed sys ?global @mem", 70, 82},
    {"st", "?weak|relaxed|release ?@scope global ?@l1 ?@l2 ?L2::cache_hint v4 b64|u64|s64|f64", 100, 88},
    {"st", "?weak|relaxed|release ?@scope global ?@l1 ?@l2 ?L2::cache_hint v8 b32|u32|s32|f32", 100, 88},
    {"atom", "?@sem ?@scope ?@aspace @atomop ?L2::cache_hint @int|b32|b64|f32|f64"},
    {"atom", "?@sem ?@scope ?@aspace exch|cas ?L2::cache_hint b128", 90, 83},
    {"atom", "?@sem ?@scope ?@aspace cas b16", 70, 63},
    {"atom", "?@sem ?@scope ?@aspace add noftz ?L2::cache_hint f16|f16x2|bf16|bf16x2"},
    {"atom|red", "?@sem ?@scope ?global add|min|max ?noftz ?L2::cache_hint v2|v4|v8 f32|f16|bf16|f16x2|bf16x2", 90, 81},
    {"red", "?relaxed|release ?@scope ?@aspace @atomop ?L2::cache_hint @int|b32|b64|f32|f64"},
    {"red", "?relaxed|release ?@scope ?@aspace add noftz ?L2::cache_hint f16|f16x2|bf16|bf16x2"},
    {"fence", "?sc|acq_rel|acquire|release @scope"},
    {"fence", "acquire|release sync_restrict::shared::cta|sync_restrict::shared::cluster cluster", 90, 86},
    {"fence", "mbarrier_init release cluster", 90, 80},
    {"fence.proxy", "*"},
    // Between threads.
    {"shfl", "up|down|bfly|idx b32", 0, 0, 70},
    {"vote", "all|any|uni pred", 0, 0, 70},
    {"vote", "ballot b32", 0, 0, 70},
    {"redux", "sync min|max ?abs ?NaN f32", 100, 86},
    {"elect", "sync", 90, 80},
    {"barrier.cluster.arrive|barrier.cluster.wait", "*"},
    {"griddepcontrol", "launch_dependents|wait", 90, 78},
    {"nanosleep", "u32"},
    // Control.
    {"brx.idx", "?uni"},
    {"brkpt", ""},
    {"pmevent", ""},
    {"pmevent.mask", ""},
    {"alloca", "u32|u64", 52, 73},
    {"stacksave|stackrestore", "u32|u64", 52, 73},
    {"setmaxnreg.inc|setmaxnreg.dec", "*"},
    // Caches and addresses.
    {"prefetch", "*"},
    {"prefetchu", "*"},
    {"applypriority", "*"},
    {"discard", "*"},
    {"createpolicy.fractional|createpolicy.range|createpolicy.cvt", "*"},
    {"mapa|getctarank", "*"},
    {"istypep", "texref|samplerref|surfref"},
    // Textures, surfaces, video, matrices, copies and barriers of their own, multicast, tensors.
    {"tex|tex.base|tex.level|tex.grad|tld4|txq|suq|suld.b|sust.b|sust.p|sured.b|sured.p", "*"},
    {"vadd|vsub|vabsdiff|vmin|vmax|vshl|vshr|vmad|vset", "*"},
    {"vadd2|vsub2|vavrg2|vabsdiff2|vmin2|vmax2|vset2|vadd4|vsub4|vavrg4|vabsdiff4|vmin4|vmax4|vset4", "*"},
    {"wmma.load.a|wmma.load.b|wmma.load.c|wmma.store.d|wmma.mma|mma|ldmatrix|stmatrix|movmatrix", "*"},
    {"wgmma.mma_async|wgmma.fence|wgmma.commit_group|wgmma.wait_group", "*"},
    {"cp.async|cp.async.commit_group|cp.async.wait_group|cp.async.wait_all|cp.async.mbarrier.arrive", "*"},
    {"cp.async.bulk|cp.async.bulk.commit_group|cp.async.bulk.wait_group|cp.async.bulk.prefetch", "*"},
    {"cp.async.bulk.tensor|cp.async.bulk.prefetch.tensor|cp.reduce.async.bulk|cp.reduce.async.bulk.tensor", "*"},
    {"mbarrier.init|mbarrier.inval|mbarrier.arrive|mbarrier.arrive_drop|mbarrier.test_wait|mbarrier.try_wait", "*"},
    {"mbarrier.pending_count|mbarrier.expect_tx|mbarrier.complete_tx", "*"},
    {"multimem.ld_reduce|multimem.st|multimem.red|red.async|st.async|st.bulk", "*"},
    {"tensormap.replace|tensormap.cp_fenceproxy|clusterlaunchcontrol.try_cancel.async|clusterlaunchcontrol.query_cancel", "*"},
    {"tcgen05.alloc|tcgen05.dealloc|tcgen05.relinquish_alloc_permit|tcgen05.ld|tcgen05.ld.red|tcgen05.st|tcgen05.wait", "*"},
    {"tcgen05.cp|tcgen05.shift|tcgen05.mma|tcgen05.mma.ws|tcgen05.commit|tcgen05.fence", "*"},
};

constexpr IsaSlot kSlots[] = {
    {"rnd", "rn|rz|rm|rp"},
    {"irnd", "rni|rzi|rmi|rpi"},
    {"carry", "u32|s32|u64|s64"},
    {"int", "u16|u32|u64|s16|s32|s64"},
    {"int8", "u8|u16|u32|u64|s8|s16|s32|s64"},
    {"settype", "u16|s16|u32|s32|f16|bf16|f32|f16x2|bf16x2"},
    {"packed", "f16x2|bf16x2|tf32|e4m3x2|e5m2x2|e2m1x2|e2m3x2|e3m2x2|ue8m0x2|e4m3x4|e5m2x4|e2m1x4|e2m3x4|e3m2x4"},
    {"cmp", "eq|ne|lt|le|gt|ge"},
    {"fcmp", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"},
    {"bool", "and|or|xor"},
    {"space", "global|local|shared|shared::cta|shared::cluster"},
    {"aspace", "global|shared|shared::cta|shared::cluster"},
    {"scope", "cta|cluster|gpu|sys"},
    {"sem", "relaxed|acquire|release|acq_rel"},
    {"atomop", "and|or|xor|exch|cas|add|inc|dec|min|max"},
    {"ldcop", "ca|cg|cs|lu|cv"},
    {"stcop", "wb|cg|cs|wt"},
    {"mem", "b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64"},
    {"mem32", "b8|b16|b32|u8|u16|u32|s8|s16|s32|f32"},
    {"l1", "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate"},
    {"l2", "L2::evict_normal|L2::evict_first|L2::evict_last"},
    {"l2size", "L2::64B|L2::128B|L2::256B"},
};

// All modifiers of PTX, with spaces around them.
constexpr std::string_view kWords =
    " "
    "128x128b 128x256b 16x128b 16x256b 16x32bx2 16x64b 1d 2d 2dms 32x128b 32x32b 3d 4d 4x256b 5d 64x128b L1 "
    "L1::evict_first L1::evict_last L1::evict_normal L1::evict_unchanged L1::no_allocate L2 L2::128B L2::256B L2::64B "
    "L2::cache_hint L2::evict_first L2::evict_last L2::evict_normal L2::evict_unchanged NaN a a1d a2d a2dms abs "
    "acc::f16 acc::f32 acq_rel acquire acube add addr_mode_0 addr_mode_1 addr_mode_2 alias aligned all alloc and any "
    "approx array_size ashift async async::generic b b1 b128 b16 b2 b32 b4e b4x16_p64 b64 b6x16_p32 b8 b8x16 ballot "
    "bf16 bf16x2 bfly block16 block32 block_scale box_dim bulk_group ca cas cc cg channel_data_type channel_order "
    "clamp cluster col collector::a::discard collector::a::fill collector::a::lastuse collector::a::use const cp "
    "cp_mask cs cta cta_group::1 cta_group::2 cube cv dealloc dec depth down e2m1 e2m1x2 e2m1x4 e2m3 e2m3x2 e2m3x4 "
    "e3m2 e3m2x2 e3m2x4 e4m3 e4m3x2 e4m3x4 e5m2 e5m2x2 e5m2x4 ecl ecr element_stride elemtype eq equ evict_last "
    "evict_normal exch f16 f16x2 f32 f32x2 f4e f64 fill_mode filter_mode finite force_unnormalized_coords ftz g ge "
    "get_first_ctaid get_first_ctaid::x get_first_ctaid::y get_first_ctaid::z geu gl global global_address global_dim "
    "global_stride gpu gt gtu height hi hs idx im2col im2col::w im2col::w::128 im2col_no_offs inc infinite "
    "interleave_layout is_canceled kind::f16 kind::f8f6f4 kind::i8 kind::mxf4 kind::mxf4nvf4 kind::mxf8f6f4 "
    "kind::tf32 launch_dependents ld le leu lo local ls lt ltu lu m16n16 m16n16k16 m16n16k8 m16n8 m16n8k128 m16n8k16 "
    "m16n8k256 m16n8k32 m16n8k4 m16n8k64 m16n8k8 m32n8k16 m8n16 m8n32k16 m8n8 m8n8k128 m8n8k16 m8n8k32 m8n8k4 max "
    "mbarrier mbarrier::arrive::one mbarrier::complete_tx::bytes mbarrier_init memory_layout min mma mmio "
    "multicast::cluster multicast::cluster::all nan nc ne neu noComplete noftz noinc normal normalized_coords "
    "notanumber num num_mipmap_levels num_samples number oob or pack::16b param param::entry param::func po popc pred "
    "r rank rc16 rc8 read relaxed release relu rm rmi rn rna rni row rp rpi rs rz rzi s16 s16x2 s2 s32 s4 s64 s8 "
    "samplerref sat satfinite sc scale_vec::1X scale_vec::2X scale_vec::4X shared shared::cluster shared::cta shift "
    "shiftamt shr15 shr7 sp sp::ordered_metadata st subnormal surfref swizzle_atomicity swizzle_mode sync "
    "sync_restrict::shared::cluster sync_restrict::shared::cta sys tensormap tensormap::generic texref tf32 tile "
    "tile::gather4 tile::scatter4 trans trap u16 u16x2 u2 u32 u4 u64 u8 ue4m3 ue8m0 ue8m0x2 uni unpack::16b up v2 v4 "
    "v8 volatile wait warpx2::01_23 warpx2::02_13 warpx4 wb weak width wrap wt x1 x128 x16 x2 x32 x4 x64 x8 xor "
    "xorsign zero ";

}  // namespace

std::span<IsaRow const> isa_rows() noexcept { return kRows; }
std::span<IsaSlot const> isa_slots() noexcept { return kSlots; }
std::string_view isa_words() noexcept { return kWords; }

}  // namespace cuda_tests::ptx
