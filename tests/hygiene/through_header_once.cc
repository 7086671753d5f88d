#include "tests/hygiene/header.h"
#include "tests/hygiene/hygiene.h"

namespace hygiene {

void through_header_once(int n) {
  in_inline_function(n);
  in_template(n);
  in_template("text");
  InClass(n).work();
}

}  // namespace hygiene
