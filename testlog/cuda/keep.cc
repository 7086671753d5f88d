// Linked into every program that links testlog::cuda; references the library, so that the linker keeps it.
extern "C" int const testlog_cuda_keep_linked;

[[gnu::used]] static int const* const testlog_cuda_keep = &testlog_cuda_keep_linked;
