// Linked into every program that links testlog::nvtx; references the library, so that the linker keeps it.
extern "C" int const testlog_nvtx_keep_linked;

[[gnu::used]] static int const* const testlog_nvtx_keep = &testlog_nvtx_keep_linked;
