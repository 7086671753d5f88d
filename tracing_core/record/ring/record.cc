#include "tracing_core/record/record.h"

#include "tracing_core/record/ring/record_layer.h"

namespace tracing { inline namespace v1 {

std::pair<std::unique_ptr<Layer>, std::error_code> record_layer(RecordOptions const& options) {
  std::error_code error;
  auto region = internal::Region::make_file(options.path, options.limit_bytes, error);
  if (region == nullptr) return {nullptr, error};
  auto store = std::make_shared<internal::RecordStore>(std::move(region));
  return {std::make_unique<internal::RecordLayer>(std::move(store)), std::error_code()};
}

}}  // namespace tracing::v1
