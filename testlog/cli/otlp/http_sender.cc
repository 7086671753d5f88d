#include "testlog/cli/otlp/http_sender.h"

#include <signal.h>
#include <time.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "tracing_core/model/text_escape.h"
#include "tracing_core/profile/gzip.h"

#ifdef TESTLOG_HAS_HTTP
#include <httplib.h>
#endif

namespace testlog::cli::otlp {
namespace {

using namespace std::chrono_literals;

// Returns the seconds of `Retry-After`, which may also be a date; nothing of other texts.
std::optional<std::chrono::milliseconds> wait_of(std::string const& retry_after) {
  int seconds = 0;
  char const* const last = retry_after.data() + retry_after.size();
  auto const [end, error] = std::from_chars(retry_after.data(), last, seconds);
  if (error == std::errc() && end == last) return std::chrono::seconds(std::max(seconds, 0));
  tm date{};
  if (strptime(retry_after.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date) == nullptr) return std::nullopt;
  return std::chrono::seconds(std::max<time_t>(timegm(&date) - time(nullptr), 0));
}

bool is_busy(int status) noexcept { return status == 429 || (status >= 502 && status <= 504); }

std::string compressed(std::string_view text) {
  std::string out;
  tracing::recording::Gzip gzip([&out](std::string_view bytes) { out += bytes; });
  if (!gzip.write(text) || !gzip.finish()) throw std::bad_alloc();
  return out;
}

}  // namespace

#ifdef TESTLOG_HAS_HTTP

namespace {

// Ends a connection that is still used at the deadline, however slowly its bytes come.
class Watchdog {
 public:
  Watchdog(httplib::Client& client, std::chrono::steady_clock::time_point deadline)
      : thread_([this, &client, deadline] {
          std::unique_lock lock(mutex_);
          if (!done_.wait_until(lock, deadline, [this] { return is_done_; })) client.stop();
        }) {}
  Watchdog(Watchdog const&) = delete;
  Watchdog& operator=(Watchdog const&) = delete;
  ~Watchdog() {
    {
      std::lock_guard const lock(mutex_);
      is_done_ = true;
    }
    done_.notify_one();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  bool is_done_ = false;
  std::thread thread_;
};

}  // namespace

bool HttpSender::is_available() noexcept { return true; }

HttpSender::Answer HttpSender::post(std::string_view body, Clock::time_point deadline) {
  constexpr std::size_t kMaxBodyBytes = 64 * 1024;
  signal(SIGPIPE, SIG_IGN);  // a server that closes the connection would end this process
  auto const left = std::max<Clock::duration>(deadline - Clock::now(), 1ms);
  httplib::Client client(endpoint_.server);
  client.set_connection_timeout(left);
  client.set_read_timeout(left);
  client.set_write_timeout(left);
  client.set_follow_location(false);
  Answer answer;
  httplib::Request request;
  request.method = "POST";
  request.path = endpoint_.path;
  for (auto const& [key, value] : endpoint_.headers) request.headers.emplace(key, value);
  request.headers.emplace("Content-Type", endpoint_.is_json ? "application/json" : "application/x-protobuf");
  if (endpoint_.is_compressed) request.headers.emplace("Content-Encoding", "gzip");
  request.headers.emplace("User-Agent", "testlog/" TESTLOG_VERSION);
  request.body = endpoint_.is_compressed ? compressed(body) : std::string(body);
  request.content_receiver = [&answer](char const* data, std::size_t size, std::uint64_t, std::uint64_t) {
    answer.body.append(data, std::min(size, kMaxBodyBytes - answer.body.size()));
    return true;
  };
  httplib::Result const result = [&] {
    Watchdog const watchdog(client, deadline);
    return client.send(request);
  }();
  answer.is_late = Clock::now() + 5ms >= deadline;  // the client rounds times down to milliseconds
  if (!result) {
    answer.has_connected = result.error() != httplib::Error::Connection;
    answer.reason = httplib::to_string(result.error());
    return answer;
  }
  answer.status = result->status;
  answer.reason = result->reason;
  answer.content_type = result->get_header_value("Content-Type");
  answer.retry_after = result->get_header_value("Retry-After");
  answer.location = result->get_header_value("Location");
  return answer;
}

#else

bool HttpSender::is_available() noexcept { return false; }
HttpSender::Answer HttpSender::post(std::string_view, Clock::time_point) { return {}; }

#endif

void HttpSender::fail(std::string const& why) {
  has_failed_ = true;
  failure_ = place() + " " + tracing::sanitized_in_line(why) + "\n";
}

// Notes what an answer says that asks for no repetition.
void HttpSender::take(Answer const& answer, std::size_t items) {
  if (answer.status >= 200 && answer.status < 300) {
    auto const partial = read_partial_success(answer.body, answer.content_type.find("json") != std::string::npos);
    rejected_ += partial.rejected;
    sent_ += items - std::min<std::uint64_t>(items, partial.rejected);
    if (!partial.message.empty()) warning_ = tracing::sanitized_in_line(partial.message);
    return;
  }
  std::string const status = std::to_string(answer.status) + (answer.reason.empty() ? "" : " " + answer.reason);
  if (answer.status >= 300 && answer.status < 400)
    return fail("redirects to " + (answer.location.empty() ? "nowhere" : answer.location) + " (" + status +
                "), which is not followed; name that URL");
  std::string const error = read_error(answer.body, answer.content_type);
  fail("refused the " + what_ + ": " + status + (error.empty() ? "" : ": " + error));
}

void HttpSender::send(std::string_view request, std::size_t items) {
  if (has_failed_) return;
  if (Clock::now() >= until_) return fail("took " + std::to_string(sent_) + " " + what_ + " before the time was over");
  auto const deadline = std::min(until_, Clock::now() + endpoint_.timeout);
  std::chrono::milliseconds pause = 250ms;
  for (;; pause *= 2) {
    Answer const answer = post(request, deadline);
    if (answer.status == 0 && !answer.has_connected) return fail("cannot be reached");
    if (answer.status != 0 && !is_busy(answer.status)) return take(answer, items);
    auto const wait = answer.status == 0 ? pause : wait_of(answer.retry_after).value_or(pause);
    if (Clock::now() + wait < deadline) {
      std::this_thread::sleep_for(wait);
      continue;
    }
    if (answer.status == 0) return fail(answer.is_late ? "does not answer" : "closes the connection without an answer");
    return fail("is busy: " + std::to_string(answer.status) + " " + answer.reason);
  }
}

std::string HttpSender::problems() const {
  std::string lines = failure_;
  if (rejected_ != 0) {
    lines += place() + " rejected " + std::to_string(rejected_) + " " + what_;
    lines += (warning_.empty() ? "" : ": " + warning_) + "\n";
  } else if (!warning_.empty()) {
    lines += place() + " warns: " + warning_ + "\n";
  }
  return lines;
}

}  // namespace testlog::cli::otlp
