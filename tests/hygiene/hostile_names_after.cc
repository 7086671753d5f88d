#include "tracing_core/tracing.h"

#include "tests/hygiene/hygiene.h"

#include "tests/hygiene/hostile_names.inc"

// After the header a program may define any name as a macro, including names used in the expansions.
#define empty hostile
#define kv hostile
#define display hostile
#define pretty hostile
#define target hostile
#define parent hostile
#define level hostile
#define name hostile
#define names hostile
#define span hostile
#define event hostile
#define kind hostile
#define enabled hostile
#define metadata hostile
#define callsite hostile
#define mask hostile
#define types hostile
#define parsed hostile
#define text hostile
#define message hostile
#define value hostile
#define open hostile
#define ask hostile
#define n hostile
#define A hostile
#define B hostile
#define T hostile
#define arguments hostile

namespace hygiene {

void hostile_names_after(int number) {
#include "tests/hygiene/every_statement.inc"
}

}  // namespace hygiene
