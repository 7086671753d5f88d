// Goes into every program that links testlog::cuda and names the library, so that no linker leaves it out.
extern "C" int const testlog_cuda_keep_linked;

[[gnu::used]] static int const* const testlog_cuda_keep = &testlog_cuda_keep_linked;
