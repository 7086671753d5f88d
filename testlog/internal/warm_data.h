// Declares TESTLOG_INTERNAL_WARM, where small variables stand that every process writes.
#pragma once

/// Puts a variable that starts as zero with the data that the loader writes anyway. Among the other zeroes it would stand
/// between large ones, on a page of its own that is first read, then written: two faults more in each process that starts.
#ifdef __ELF__
#define TESTLOG_INTERNAL_WARM [[gnu::section(".data")]]
#else
#define TESTLOG_INTERNAL_WARM
#endif
