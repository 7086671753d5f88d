#include "testlog/cli/otlp/request_writer.h"

#include <utility>

namespace testlog::cli::otlp {
namespace {

constexpr std::size_t kItemBytes = 16;  // what an item takes in a request besides its own bytes

// Removes half of the last elements. Returns how many.
template <class T>
std::uint32_t drop_half(std::vector<T>& all) {
  std::size_t const count = (all.size() + 1) / 2;
  all.erase(all.end() - static_cast<std::ptrdiff_t>(count), all.end());
  return static_cast<std::uint32_t>(count);
}

// Make an item smaller. Return false if it cannot be.
bool shrink(Span& span) {
  if (!span.events.empty()) return span.dropped_events += drop_half(span.events), true;
  if (!span.attributes.empty()) return span.dropped_attributes += drop_half(span.attributes), true;
  return false;
}
bool shrink(LogRecord& record) {
  if (record.attributes.empty()) return false;
  record.dropped_attributes += drop_half(record.attributes);
  return true;
}

}  // namespace

void RequestWriter::begin_resource(Resource const& resource) {
  flush();
  resource_ = resource;
  for (Pending* const pending : {&traces_, &logs_})
    pending->bytes = pending->empty_bytes =
        pending->target.encoding.request(pending->signal, resource_, {}).size() + kItemBytes;
}

template <class Item>
void RequestWriter::add_to(Pending& pending, Item& item) {
  Encoding const& encoding = pending.target.encoding;
  if (pending.target.out == nullptr) return;
  std::string encoded = encoding.encoded(item);
  while (pending.empty_bytes + encoded.size() + kItemBytes > kMaxBytes && shrink(item))
    encoded = encoding.encoded(item);
  std::size_t const bytes = encoded.size() + kItemBytes;
  if (pending.items.size() == kMaxItems || pending.bytes + bytes > kMaxBytes) flush(pending);
  pending.bytes += bytes;
  pending.items.push_back(std::move(encoded));
}

void RequestWriter::flush(Pending& pending) {
  auto const& [encoding, out] = pending.target;
  if (!pending.items.empty()) out(encoding.request(pending.signal, resource_, pending.items));
  pending.items.clear();
  pending.bytes = pending.empty_bytes;
}

void RequestWriter::flush() {
  flush(traces_);
  flush(logs_);
}

}  // namespace testlog::cli::otlp
