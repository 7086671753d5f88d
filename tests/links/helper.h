// Declares helper(), of a library that links testlog too.
#pragma once

[[gnu::visibility("default")]] void helper();
