#include "tests/hygiene/header.h"
#include "tests/hygiene/hygiene.h"

namespace hygiene {

void through_header(int n) { use_header(n); }

}  // namespace hygiene
