// For the tests of the CPU backend: handwritten PTX.
#pragma once

namespace cuda_cpu {

/// * store(int* to, int value); add_one(int* to)
/// * wait_for(unsigned const volatile* flag), which returns when the flag is not zero
/// * sum_shared(int* to), with 16 bytes of static shared memory, which also uses dynamic shared memory
/// * bound_to_64(), with at most 64 threads per block
/// * trap()
/// * say(int), which prints "block %d says %d\n"
/// * unsupported(), which cannot be run
/// * add(int* to, int value); multiply(int* to, int factor)
/// * `counter`, an int with the initial value 7; `table`, 16 bytes of constant memory
inline constexpr char kTestKernels[] = R"(
.version 7.5
.target sm_75
.address_size 64

.extern .func (.param .b32 func_retval0) vprintf(.param .b64 vprintf_param_0, .param .b64 vprintf_param_1);
.visible .global .align 4 .u32 counter = 7;
.visible .const .align 4 .b8 table[16] = {1, 2, 3, 4};
.global .align 1 .b8 text[18] = {98, 108, 111, 99, 107, 32, 37, 100, 32, 115, 97, 121, 115, 32, 37, 100, 10, 0};

.visible .entry store(.param .u64 store_param_0, .param .u32 store_param_1)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [store_param_0];
  ld.param.u32 %r1, [store_param_1];
  cvta.to.global.u64 %rd2, %rd1;
  st.global.u32 [%rd2], %r1;
  ret;
}

.visible .entry add_one(.param .u64 add_one_param_0)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [add_one_param_0];
  cvta.to.global.u64 %rd2, %rd1;
  ld.global.u32 %r1, [%rd2];
  add.s32 %r2, %r1, 1;
  st.global.u32 [%rd2], %r2;
  ret;
}

.visible .entry wait_for(.param .u64 wait_for_param_0)
{
  .reg .pred %p<2>;
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [wait_for_param_0];
  cvta.to.global.u64 %rd2, %rd1;
$again:
  ld.volatile.global.u32 %r1, [%rd2];
  setp.eq.s32 %p1, %r1, 0;
  @%p1 bra $again;
  ret;
}

.extern .shared .align 4 .b8 dynamic[];
.visible .entry sum_shared(.param .u64 sum_shared_param_0)
{
  .shared .align 4 .b8 fixed[16];
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [sum_shared_param_0];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, 5;
  st.shared.u32 [fixed], %r1;
  st.shared.u32 [dynamic], %r1;
  ld.shared.u32 %r2, [fixed];
  add.s32 %r3, %r2, %r1;
  st.global.u32 [%rd2], %r3;
  ret;
}

.visible .entry bound_to_64()
.maxntid 64, 1, 1
{
  ret;
}

.visible .entry trap()
{
  trap;
}

.visible .entry say(.param .u32 say_param_0)
{
  .local .align 8 .b8 __local_depot0[8];
  .reg .b64 %SP;
  .reg .b64 %SPL;
  .reg .b32 %r<4>;
  .reg .b64 %rd<5>;
  mov.u64 %SPL, __local_depot0;
  cvta.local.u64 %SP, %SPL;
  ld.param.u32 %r1, [say_param_0];
  mov.u32 %r2, %ctaid.x;
  add.u64 %rd1, %SP, 0;
  add.u64 %rd2, %SPL, 0;
  st.local.v2.u32 [%rd2], {%r2, %r1};
  mov.u64 %rd3, text;
  cvta.global.u64 %rd4, %rd3;
  {
  .param .b64 param0;
  st.param.b64 [param0+0], %rd4;
  .param .b64 param1;
  st.param.b64 [param1+0], %rd1;
  .param .b32 retval0;
  call.uni (retval0), vprintf, (param0, param1);
  ld.param.b32 %r3, [retval0+0];
  }
  ret;
}

.visible .entry unsupported()
{
  brkpt;
  ret;
}

.visible .entry add(.param .u64 to, .param .u32 value)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r1, [value];
  cvta.to.global.u64 %rd2, %rd1;
  ld.global.u32 %r2, [%rd2];
  add.s32 %r3, %r2, %r1;
  st.global.u32 [%rd2], %r3;
  ret;
}

.visible .entry multiply(.param .u64 to, .param .u32 factor)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r1, [factor];
  cvta.to.global.u64 %rd2, %rd1;
  ld.global.u32 %r2, [%rd2];
  mul.lo.s32 %r3, %r2, %r1;
  st.global.u32 [%rd2], %r3;
  ret;
}
)";

}  // namespace cuda_cpu
