// A span is a period with a name and fields; an event is a moment with a message. Events show the spans around them.
#include <tracing_core/tracing.h>

#include "collect.h"

namespace shop {

int price(int items) {
  TRACE_FN(debug, items);  // a span named after the function
  TRACE_TRACE("looking up the price");
  return items * 3;
}

void order(int customer, int items) {
  TRACE_SPAN(info, "order", customer, items);  // entered until the end of the scope
  TRACE_INFO("order received");
  int const total = price(items);
  TRACE_DEBUG("{} items cost {}", items, total, customer);  // arguments that the message does not use are fields
  if (items > 100) TRACE_WARN("a large order");
}

}  // namespace shop

int main(int argc, char** argv) {
  auto [chrome, chrome_guard] = examples::trace_if_asked(argc, argv);  // --tracing also writes a Chrome trace
  auto const tracing_guard = examples::init({}, tracing::RegistryBuilder().with(std::move(chrome)));
  shop::order(7, 2);
  shop::order(8, 200);
  TRACE_VALUES(info, tracing::kv("orders", 2));  // fields and no message
}
