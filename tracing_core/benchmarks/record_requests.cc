// Makes a recording for the rows of conversions: record_requests <file> <number of records>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "tracing_core/record/record.h"
#include "tracing_core/setup.h"
#include "workload.h"

int main(int argc, char** argv) {
  long const records = argc == 3 ? std::atol(argv[2]) : 0;
  if (records <= 0) return std::fputs("record_requests <file> <number of records>\n", stderr), 2;
  // Leave room for all records: the largest takes 32 bytes.
  std::size_t const limit = static_cast<std::size_t>(records) * 32 + (std::size_t{1} << 20);
  auto [layer, error] = tracing::record_layer({.path = argv[1], .limit_bytes = limit});
  if (error) return std::fprintf(stderr, "record_requests: %s: %s\n", argv[1], error.message().c_str()), 1;
  tracing::set_global_default(tracing::RegistryBuilder().with(std::move(layer)).build());
  constexpr long kRecordsOfRequest = 5;  // a span begins, three events, it ends
  for (long i = 0; i < records / kRecordsOfRequest; ++i) workload::request(static_cast<int>(i), 2);
}
