// The two instrumented libraries of the program.
#pragma once

#define LINKS_EXPORT [[gnu::visibility("default")]]

/// Opens a span and calls middle() in it.
LINKS_EXPORT void outer(void (*innermost)());
/// Opens a span and calls `innermost` in it, if given.
LINKS_EXPORT void middle(void (*innermost)());
