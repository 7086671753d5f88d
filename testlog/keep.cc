// Part of every program that links testlog::testlog: names the library, so that no linker leaves it out.
extern "C" int const testlog_keep_linked;

[[gnu::used]] static int const* const testlog_keep = &testlog_keep_linked;
