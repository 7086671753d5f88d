// A small store in memory, whose time goes into reaching its entries. store.cc is compiled twice: with its statements,
// and without them.
#pragma once

namespace store_traced {

/// Puts half as many different keys as there are operations, in no order, and gets all of them. Returns how many of the
/// values found are wrong.
int run(int operations);

}  // namespace store_traced

namespace store_plain {

int run(int operations);

}  // namespace store_plain
