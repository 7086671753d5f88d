// A console sink has a stream, and prints to it. A muted one gets another stream: what is written there is dropped, or
// passed on to the first one. That is decided when a line is written, as it depends on where the descriptor goes by then: a
// test that captures the standard output has put a file there, and shall find in it what it would find without us. Nothing
// of this can be seen in the sink: its level, pattern and colours are the user's.
#include "tracing_core/bridge/console_mute.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <memory>
#include <mutex>

#include "tracing_core/bridge/async_sink.h"
#include "tracing_core/bridge/thread_calls.h"
#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/internal/never_destroyed.h"

namespace tracing::inline v1::bridge::internal {
namespace {

using spdlog::details::console_mutex;
using spdlog::details::console_nullmutex;
using spdlog::sinks::ansicolor_sink;
using spdlog::sinks::stdout_sink_base;

// spdlog gives no access to the stream of a sink, but whoever instantiates a template explicitly may name what is private.
template <class SinkType>
using StreamMember = FILE* SinkType::*;
struct Color {
  using Mutex = console_mutex;
  using Sink = ansicolor_sink<Mutex>;
  friend StreamMember<Sink> stream_of(Color) noexcept;
};
struct ColorOfOneThread {
  using Mutex = console_nullmutex;
  using Sink = ansicolor_sink<Mutex>;
  friend StreamMember<Sink> stream_of(ColorOfOneThread) noexcept;
};
struct Plain {
  using Mutex = console_mutex;
  using Sink = stdout_sink_base<Mutex>;
  friend StreamMember<Sink> stream_of(Plain) noexcept;
};
struct PlainOfOneThread {
  using Mutex = console_nullmutex;
  using Sink = stdout_sink_base<Mutex>;
  friend StreamMember<Sink> stream_of(PlainOfOneThread) noexcept;
};
template <class Kind, StreamMember<typename Kind::Sink> kStream>
struct Reveal {
  friend StreamMember<typename Kind::Sink> stream_of(Kind) noexcept { return kStream; }
};
template struct Reveal<Color, &ansicolor_sink<console_mutex>::target_file_>;
template struct Reveal<ColorOfOneThread, &ansicolor_sink<console_nullmutex>::target_file_>;
template struct Reveal<Plain, &stdout_sink_base<console_mutex>::file_>;
template struct Reveal<PlainOfOneThread, &stdout_sink_base<console_nullmutex>::file_>;

// Where a descriptor goes.
struct Place {
  bool open = false;
  dev_t device{};
  ino_t file{};

  static Place of(int descriptor) noexcept {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return {};
    return {true, status.st_dev, status.st_ino};
  }
  friend bool operator==(Place const&, Place const&) = default;
};

// The stream that takes the place of another one.
struct Console {
  FILE* own;
  int descriptor;
  FILE* muted = nullptr;  // guarded by mutex below; made once
  Place place{};

  // What a layer says with spdlog is no event, so it is printed as ever.
  bool shows() const noexcept {
    return !is_mute_here() || tracing::internal::thread_state.in_subscriber || Place::of(descriptor) != place;
  }
};

ssize_t write_to(void* cookie, char const* text, std::size_t size) {
  auto const& console = *static_cast<Console const*>(cookie);
  if (console.shows()) {
    std::fwrite(text, 1, size, console.own);
    std::fflush(console.own);
  }
  return static_cast<ssize_t>(size);
}

struct MutedSink {
  std::weak_ptr<spdlog::sinks::sink> sink;
  void const* address;
};

struct Muted {
  std::mutex mutex;
  Console consoles[2] = {{stdout, STDOUT_FILENO}, {stderr, STDERR_FILENO}};
  std::vector<MutedSink> sinks;  // guarded by mutex
};

Muted& muted() {
  static tracing::internal::NeverDestroyed<Muted> all;
  return *all;
}

FILE* muted_stream(Console& console) {
  if (console.muted == nullptr) {
    cookie_io_functions_t functions{};
    functions.write = write_to;
    console.muted = fopencookie(&console, "w", functions);
  }
  return console.muted;
}

using Exchange = FILE* (*)(FILE* stream);

// Where the sink is of this kind, calls `other` with its stream and gives it what that returns, unless that is null.
template <class Kind>
bool exchange_stream(spdlog::sinks::sink& sink, Exchange other) {
  auto* const of_kind = dynamic_cast<typename Kind::Sink*>(&sink);
  if (of_kind == nullptr) return false;
  std::lock_guard const lock(Kind::Mutex::mutex());
  FILE*& stream = of_kind->*stream_of(Kind{});
  if (FILE* const replacement = other(stream)) stream = replacement;
  return true;
}

// False for sinks that are none of the console.
bool exchange_console(spdlog::sinks::sink& sink, Exchange other) {
  return exchange_stream<Color>(sink, other) || exchange_stream<ColorOfOneThread>(sink, other) ||
         exchange_stream<Plain>(sink, other) || exchange_stream<PlainOfOneThread>(sink, other);
}

FILE* own_instead_of(FILE* stream) {
  for (Console const& console : muted().consoles) {
    if (stream != nullptr && stream == console.muted) return console.own;
  }
  return nullptr;
}

// REQUIRES: the lock held.
FILE* muted_instead_of(FILE* stream) {
  for (Console& console : muted().consoles) {
    if (console.own == stream) return muted_stream(console);
  }
  return nullptr;
}

template <class Mutex>
std::vector<spdlog::sink_ptr> const* behind_dist_sink(spdlog::sinks::sink& sink) {
  auto* const dist = dynamic_cast<spdlog::sinks::dist_sink<Mutex>*>(&sink);
  return dist == nullptr ? nullptr : &dist->sinks();
}

std::vector<spdlog::sink_ptr> const* sinks_behind(spdlog::sinks::sink& sink) {
  if (auto* const async = dynamic_cast<AsyncSink*>(&sink)) return &async->behind().sinks();
  if (auto* const arrival = dynamic_cast<ArrivalSink*>(&sink)) return &arrival->sinks();
  if (auto const* const behind = behind_dist_sink<std::mutex>(sink)) return behind;
  return behind_dist_sink<spdlog::details::null_mutex>(sink);
}

// REQUIRES: the lock held.
void mute(std::vector<spdlog::sink_ptr> const& sinks) {
  for (auto const& sink : sinks) {
    if (sink == nullptr) continue;
    if (auto const* const behind = sinks_behind(*sink)) {
      mute(*behind);
    } else if (exchange_console(*sink, muted_instead_of)) {
      auto& known = muted().sinks;
      bool const is_known =
          std::any_of(known.begin(), known.end(), [&](MutedSink const& one) { return one.address == sink.get(); });
      if (!is_known) known.push_back({sink, sink.get()});
    }
  }
}

}  // namespace

void remember_console() noexcept {
  std::lock_guard const lock(muted().mutex);
  for (Console& console : muted().consoles) console.place = Place::of(console.descriptor);
}

void mute_console_sinks(std::vector<spdlog::sink_ptr> const& sinks) {
  std::lock_guard const lock(muted().mutex);
  std::erase_if(muted().sinks, [](MutedSink const& one) { return one.sink.expired(); });
  mute(sinks);
}

void unmute_console_sinks() {
  std::vector<MutedSink> all;
  std::lock_guard const lock(muted().mutex);
  muted().sinks.swap(all);
  for (MutedSink const& one : all) {
    if (auto const sink = one.sink.lock()) exchange_console(*sink, own_instead_of);
  }
}

void lock_muted() noexcept { muted().mutex.lock(); }
void unlock_muted() noexcept { muted().mutex.unlock(); }

}  // namespace tracing::inline v1::bridge::internal
