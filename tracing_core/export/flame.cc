// A line is the text of a stack of spans and a number. A stack's text is not made anew for each line: a track keeps the
// one of its last line and where each span's part ends, and goes from there to the next by cutting and appending,
//
//     enter a   ThreadId(1)-main            10      (it was in no span)
//     enter b   ThreadId(1)-main;a          20
//     exit b    ThreadId(1)-main;a;b        30
//     exit a    ThreadId(1)-main;a          40
//
// which is right as a span's names and parents never change. Spans are told by their ids: what is kept of one that is
// long closed does no harm, as nothing asks for it.
#include "tracing_core/export/flame.h"

#include <signal.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/export/folded_file.h"
#include "tracing_core/export/fork_count.h"
#include "tracing_core/export/without_signal.h"
#include "tracing_core/format/scan.h"
#include "tracing_core/internal/digits.h"
#include "tracing_core/internal/utf8.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1 {
namespace internal {
namespace {

// The high bit of some byte is set where a byte is below a blank, is a semicolon or is beyond ASCII.
constexpr Word needs_replacing(Word word) noexcept {
  return word | (word - kOnes * 0x20) | ((word ^ (kOnes * ';')) - kOnes);
}

// What a writer is told about a block of lines.
constexpr char kBlockText[] = "flametracing::flame";
constexpr Metadata kBlock([] {
  MetadataParts parts;
  parts.text = kBlockText;
  parts.name_size = 5;
  parts.target_size = sizeof(kBlockText) - 1 - parts.name_size;
  parts.level = Level::info;
  return parts;
}());

}  // namespace

class FoldedLines {
 public:
  static std::shared_ptr<FoldedLines> make(WriterPtr writer, FlameOptions const& options) {
    count_forks();
    return {new FoldedLines(std::move(writer), options), Abandoned::let_go<FoldedLines>};
  }

  void enter(SpanRef span, Context const& context) noexcept {
    SpanRef const parent = span.parent();
    if (Tracked const tracked(*this, context); tracked) {
      if (parent || options_.empty_samples) add_line(*tracked.stack, parent, tracked.ns);
    }
  }
  void exit(SpanRef span, Context const& context) noexcept {
    if (Tracked const tracked(*this, context); tracked) add_line(*tracked.stack, span, tracked.ns);
  }
  void flush() noexcept {
    if (is_in_forked_child()) return;
    InSubscriber const in_subscriber;  // what the writer emits would wait for the lock that it is called under
    std::lock_guard const lock(mutex_);
    write_out();
    writer_->flush();
  }
  void write_at_once() noexcept {
    if (is_in_forked_child()) return;
    {
      std::lock_guard const lock(mutex_);
      options_.buffered_bytes = 0;
    }
    flush();
  }
  std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  friend struct Abandoned;
  FoldedLines(WriterPtr writer, FlameOptions const& options)
      : writer_(std::move(writer)), options_(options), start_(Instant::now()), forks_when_made_(fork_count()) {}
  ~FoldedLines() = default;

  bool is_in_forked_child() const noexcept { return fork_count() != forks_when_made_; }
  // Where a track is, or was when its last line was made.
  struct Stack {
    struct Frame {
      SpanId id;
      std::size_t end;  // of its part of the text
    };
    std::uint64_t track_number = 0;  // a thread that ended makes room for another
    Instant last{};
    InlineTextBuffer<96> root;  // what stands for the thread
    InlineTextBuffer<256> text;
    std::vector<Frame> frames;
  };

  // The track that something happened on, and how long nothing had. Holds the lock. False where no line is to be made.
  struct Tracked {
    Tracked(FoldedLines& lines, Context const& context) noexcept {
      if (lines.is_in_forked_child()) return;
      Instant const now = context.time();  // before it waits for others
      lock = std::unique_lock(lines.mutex_);
      stack = lines.find(context.track());
      if (stack == nullptr) {
        lines.count_dropped();
        return;
      }
      std::int64_t const since = now.ns - stack->last.ns;
      ns = since > 0 ? static_cast<std::uint64_t>(since) : 0;  // the system's clock may be set back
      stack->last = now;
      if (context.is_restored()) stack = nullptr;
    }
    explicit operator bool() const noexcept { return stack != nullptr; }

    std::unique_lock<std::mutex> lock;
    Stack* stack = nullptr;
    std::uint64_t ns = 0;
  };

  // Null where memory ran out. A registry gives the track of a thread that ended to another, so this does not grow.
  Stack* find(Track const& track) noexcept {
    if (&track != last_track_ || last_stack_->track_number != track.number) [[unlikely]] {
      try {
        std::unique_ptr<Stack>& stack = stacks_[&track];
        if (stack == nullptr || stack->track_number != track.number) {
          stack = std::make_unique<Stack>();
          stack->track_number = track.number;
          stack->last = start_;
          append_root(stack->root, track);
          start_again(*stack);
        }
        last_stack_ = stack.get();
        last_track_ = &track;
      } catch (std::bad_alloc const&) {
        last_track_ = nullptr;
        return nullptr;
      }
    }
    return last_stack_;
  }

  void append_root(TextBuffer& out, Track const& track) noexcept {
    if (options_.threads_collapsed) return out.append("all-threads");
    out.append("ThreadId(");
    out.append_uint(track.number);
    out.append(")");
    if (track.name.empty()) return;
    out.push_back('-');
    append_name(out, track.name);
  }

  static void start_again(Stack& stack) noexcept {
    stack.frames.clear();
    stack.text.clear();
    stack.text.append(stack.root.view());
  }

  void append_span(TextBuffer& out, Metadata const& metadata) noexcept {
    out.push_back(';');
    std::string_view path = metadata.module_path();
    // Macros keep the namespace and class as the target alone.
    if (path.data() == nullptr && !metadata.parts().owned) path = metadata.target();
    // The reference has a path that is empty, too.
    if (options_.module_path && (options_.as_tracing_flame ? path.data() != nullptr : !path.empty())) {
      append_name(out, path);
      out.append("::");
    }
    append_name(out, metadata.name());
    if (!options_.file_and_line) return;
    if (!metadata.file().empty()) {
      out.push_back(':');
      append_name(out, metadata.file());
    }
    if (knows_line(metadata)) {
      out.push_back(':');
      out.append_uint(metadata.line());
    }
  }

  // Without what would end the frame, the line, or the text of those who read it.
  void append_name(TextBuffer& out, std::string_view name) noexcept {
    if (is_plain<needs_replacing>(name)) [[likely]] return out.append(name);
    while (!name.empty()) {
      DecodedChar const c = decode_utf8(name);
      if (c.value == U'\n' || c.value == U'\r' || c.value == U'\0') {
        out.push_back(' ');
      } else if (c.value == U';' && !options_.as_tracing_flame) {
        out.push_back(':');
      } else if (!c.valid && !options_.as_tracing_flame) {
        out.append("\xef\xbf\xbd");
      } else {
        out.append(name.substr(0, c.size));
      }
      name.remove_prefix(c.size);
    }
  }

  // Makes the text that of `span`, of the thread where that is empty. Throws where memory runs out.
  void go_to(Stack& stack, SpanRef span) {
    missing_.clear();
    std::size_t kept = 0;
    for (; span; span = span.parent()) {
      kept = stack.frames.size();
      while (kept > 0 && stack.frames[kept - 1].id != span.id()) --kept;
      if (kept > 0) break;
      missing_.push_back(span);
    }
    stack.frames.resize(kept);
    stack.text.resize_down(kept == 0 ? stack.root.size() : stack.frames.back().end);
    for (std::size_t i = missing_.size(); i > 0; --i) {
      append_span(stack.text, missing_[i - 1].metadata());
      stack.frames.push_back({missing_[i - 1].id(), stack.text.size()});
    }
    if (stack.text.truncated()) throw std::bad_alloc();
  }

  void add_line(Stack& stack, SpanRef span, std::uint64_t ns) noexcept {
    try {
      go_to(stack, span);
    } catch (std::bad_alloc const&) {
      start_again(stack);
      return count_dropped();
    }
    std::size_t const most = stack.text.size() + 2 + kMostUintDigits;
    if (!lines_.empty() && lines_.size() + most > options_.buffered_bytes) write_out();
    char* at = lines_.reserve(most);
    if (at == nullptr) return count_dropped();
    char const* const begin = at;
    std::memcpy(at, stack.text.data(), stack.text.size());
    at += stack.text.size();
    *at++ = ' ';
    at = write_uint(at, ns);
    *at++ = '\n';
    lines_.commit(static_cast<std::size_t>(at - begin));
    if (lines_.size() >= options_.buffered_bytes) write_out();
  }

  void write_out() noexcept {
    if (lines_.empty()) return;
    int const saved = errno;
    {
      WithoutSignal signal(SIGXFSZ);
      writer_->write({kBlock, lines_.view(), {}});
      signal.take();
    }
    errno = saved;
    lines_.clear();
  }

  void count_dropped() noexcept { dropped_.fetch_add(1, std::memory_order_relaxed); }

  WriterPtr const writer_;
  FlameOptions options_;
  Instant const start_;
  unsigned const forks_when_made_;
  FoldedLines* next_abandoned_ = nullptr;
  std::atomic<std::uint64_t> dropped_{0};
  std::mutex mutex_;  // guards all that follows, and options_.buffered_bytes
  TextBuffer lines_;
  std::unordered_map<Track const*, std::unique_ptr<Stack>> stacks_;
  Track const* last_track_ = nullptr;  // the one that was looked for last
  Stack* last_stack_ = nullptr;
  std::vector<SpanRef> missing_;  // here for its memory alone
};

}  // namespace internal

FlameLayer::~FlameLayer() { lines_->flush(); }
void FlameLayer::on_enter(SpanRef span, Context const& context) noexcept { lines_->enter(span, context); }
void FlameLayer::on_exit(SpanRef span, Context const& context) noexcept { lines_->exit(span, context); }
void FlameLayer::flush() noexcept { lines_->flush(); }

FlameGuard& FlameGuard::operator=(FlameGuard&& other) noexcept {
  FlameGuard old(std::exchange(lines_, std::move(other.lines_)));
  return *this;
}
FlameGuard::~FlameGuard() {
  if (lines_ != nullptr) lines_->write_at_once();
}
void FlameGuard::flush() noexcept {
  if (lines_ != nullptr) lines_->flush();
}
std::uint64_t FlameGuard::dropped_lines() const noexcept { return lines_ == nullptr ? 0 : lines_->dropped(); }

std::pair<std::unique_ptr<FlameLayer>, FlameGuard> flame_layer(WriterPtr writer, FlameOptions const& options) {
  if (writer == nullptr) return {};
  auto lines = internal::FoldedLines::make(std::move(writer), options);
  auto layer = std::make_unique<FlameLayer>(lines);
  return {std::move(layer), FlameGuard(std::move(lines))};
}

std::pair<std::unique_ptr<FlameLayer>, FlameGuard> flame_layer(std::string const& path, std::error_code& error,
                                                               FlameOptions const& options) {
  std::shared_ptr<LineSink> file = internal::open_folded_file(path, 2, error);
  return flame_layer(file == nullptr ? nullptr : to_sink(std::move(file)), options);
}

}  // namespace tracing::inline v1
