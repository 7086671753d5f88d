// Part of every test program: hooks of sanitizers. The runtimes of GCC call them, the runtimes of Clang prefer their
// own empty hooks. They are weak, so that a program can define its own.

extern "C" {
void testlog_on_sanitizer_report(char const* sanitizer) noexcept;

[[gnu::weak, gnu::visibility("default")]] void __tsan_on_report(void const*) {
  testlog_on_sanitizer_report("ThreadSanitizer");
}
[[gnu::weak, gnu::visibility("default")]] void __ubsan_on_report() {
  testlog_on_sanitizer_report("UndefinedBehaviorSanitizer");
}
}
