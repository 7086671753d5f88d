// Declares helper(), a function of a library that also links testlog.
#pragma once

[[gnu::visibility("default")]] void helper();
