// RequestWriter: puts spans and log records into requests that receivers take.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "testlog/cli/otlp/exporter.h"
#include "testlog/cli/otlp/otlp_encoding.h"

namespace testlog::cli::otlp {

/// Passes on a request when it has 512 items or when one more item could make it larger than 2 MiB; receivers take at
/// most 4 MiB. A request may have the items of many resources: ctest starts a process for each test. A span or log
/// record that is larger alone loses events and attributes, which it counts.
class RequestWriter final : public Receiver {
 public:
  static constexpr std::size_t kMaxItems = 512;
  static constexpr std::size_t kMaxBytes = std::size_t{2} << 20;
  using Out = std::function<void(std::string_view request, std::size_t items)>;

  /// Where the requests of a signal go. Without `out`, nothing of the signal is encoded.
  struct Target {
    Encoding const& encoding;
    Out out;
  };
  RequestWriter(Target traces, Target logs)
      : traces_{Signal::traces, std::move(traces)}, logs_{Signal::logs, std::move(logs)} {}

  void begin_resource(Resource const& resource) override;
  void add(Span span) override { add_to(traces_, span); }
  void add(LogRecord record) override { add_to(logs_, record); }
  /// Passes on what is left.
  void flush();

 private:
  struct Pending {
    Signal signal;
    Target target;
    std::vector<std::string> resources{};  // encoded, before the current one
    std::vector<std::string> items{};      // of the current resource
    std::size_t count = 0;                 // items of all resources
    std::size_t bytes = 0;                 // at least what the request takes
    std::size_t empty_bytes = 0;           // what the current resource takes without items
  };

  template <class Item>
  void add_to(Pending& pending, Item& item);
  void end_resource(Pending& pending) const;
  void flush(Pending& pending);

  Resource resource_;
  Pending traces_, logs_;
};

}  // namespace testlog::cli::otlp
