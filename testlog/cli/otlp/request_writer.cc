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
  for (Pending* const pending : {&traces_, &logs_}) {
    end_resource(*pending);
    pending->empty_bytes = pending->target.encoding.of_resource(pending->signal, resource, {}).size() + 2 * kItemBytes;
  }
  resource_ = resource;
}

template <class Item>
void RequestWriter::add_to(Pending& pending, Item& item) {
  Encoding const& encoding = pending.target.encoding;
  if (pending.target.out == nullptr) return;
  std::string encoded = encoding.encoded(item);
  while (pending.empty_bytes + encoded.size() + kItemBytes > kMaxBytes && shrink(item))
    encoded = encoding.encoded(item);
  std::size_t const bytes = encoded.size() + kItemBytes;
  std::size_t const of_resource = pending.items.empty() ? pending.empty_bytes : 0;
  if (pending.count == kMaxItems || pending.bytes + of_resource + bytes > kMaxBytes) flush(pending);
  if (pending.items.empty()) pending.bytes += pending.empty_bytes;
  pending.bytes += bytes;
  pending.items.push_back(std::move(encoded));
  ++pending.count;
}

void RequestWriter::end_resource(Pending& pending) const {
  if (pending.items.empty()) return;
  pending.resources.push_back(pending.target.encoding.of_resource(pending.signal, resource_, pending.items));
  pending.items.clear();
}

void RequestWriter::flush(Pending& pending) {
  end_resource(pending);
  auto const& [encoding, out] = pending.target;
  if (pending.count != 0) out(encoding.request(pending.signal, pending.resources), pending.count);
  pending.resources.clear();
  pending.count = pending.bytes = 0;
}

void RequestWriter::flush() {
  flush(traces_);
  flush(logs_);
}

}  // namespace testlog::cli::otlp
