// HttpSender: sends requests of OTLP to a receiver.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "testlog/cli/otlp/otel_variables.h"

namespace testlog::cli::otlp {

/// Sends one request after another by HTTP. Sends a request again if the receiver is busy (429, 502, 503, 504) or the
/// connection breaks, after the time that `Retry-After` says or a time that doubles, but not after
/// Endpoint::timeout. Follows no redirection, since a request may contain secrets. After a request that failed, sends
/// nothing more: so a receiver that is absent or slow costs the timeout once. Single-thread.
class HttpSender {
 public:
  using Clock = std::chrono::steady_clock;
  /// Returns false if this program was built without cpp-httplib.
  static bool is_available() noexcept;

  /// `what` names what is sent: `spans`. Nothing is sent from the time `until` on.
  HttpSender(Endpoint endpoint, std::string what, Clock::time_point until = Clock::time_point::max())
      : endpoint_(std::move(endpoint)), what_(std::move(what)), until_(until) {}
  HttpSender(HttpSender const&) = delete;
  HttpSender& operator=(HttpSender const&) = delete;

  /// Sends a request with so many spans or log records.
  void send(std::string_view request, std::size_t items);
  /// Returns how many were taken.
  std::uint64_t sent() const noexcept { return sent_; }
  /// Returns true if nothing more will be sent.
  bool has_failed() const noexcept { return has_failed_; }
  /// Returns false if something was not taken.
  bool has_sent_all() const noexcept { return !has_failed_ && rejected_ == 0; }
  /// Returns a sentence about each thing that went wrong, as lines without `testlog:` before them.
  std::string problems() const;

 private:
  struct Answer {
    int status = 0;  // 0: there was none
    std::string reason{};
    std::string content_type{}, retry_after{}, location{};
    std::string body{};  // its beginning
    bool has_connected = true;
    bool is_late = false;  // it did not come in time
  };

  Answer post(std::string_view body, Clock::time_point deadline);
  void take(Answer const& answer, std::size_t items);
  void fail(std::string const& why);
  std::string place() const { return endpoint_.server + endpoint_.path; }

  Endpoint const endpoint_;
  std::string const what_;
  Clock::time_point const until_;
  std::uint64_t sent_ = 0;
  bool has_failed_ = false;
  std::string failure_;
  std::uint64_t rejected_ = 0;
  std::string warning_;  // of the receiver
};

// ---- the answers of receivers ----

/// What an ExportTraceServiceResponse or ExportLogsServiceResponse says: `partial_success`.
struct PartialSuccess {
  std::uint64_t rejected = 0;
  std::string message{};
};
PartialSuccess read_partial_success(std::string_view body, bool is_json);
/// Returns the message of a google.rpc.Status or, of a body in another form, its beginning.
std::string read_error(std::string_view body, std::string_view content_type);

}  // namespace testlog::cli::otlp
