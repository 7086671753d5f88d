#include "tracing_core/record/ring/record_layer.h"

#include <sched.h>

#include <algorithm>
#include <new>
#include <utility>

#include "tracing_core/collect/registry.h"
#include "tracing_core/support/fork.h"
#include "tracing_core/support/thread_info.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

std::uint8_t flags_of(Parent const& parent) noexcept { return static_cast<std::uint8_t>(parent.kind); }

enum ChildState : std::uint64_t { kMoves = 1, kIsUsable = 2, kIsNotUsable = 3 };

// In a forked child, threads try to lock a mutex one after the other: if a thread fails, a thread of the parent held
// the mutex when the process was forked. Holds the process whose thread has its turn, as the number of forks that led
// to it.
constinit std::atomic<unsigned> turn_in_child{0};

class TurnInChild {
 public:
  explicit TurnInChild(bool is_child) noexcept : is_child_(is_child) {
    unsigned const own = fork_count();
    for (unsigned found = 0;
         is_child_ && !turn_in_child.compare_exchange_weak(found, own, std::memory_order_acquire);) {
      if (found != own) continue;  // the turn of a thread that only the parent has
      sched_yield();
      found = 0;
    }
  }
  TurnInChild(TurnInChild const&) = delete;
  TurnInChild& operator=(TurnInChild const&) = delete;
  ~TurnInChild() {
    if (is_child_) turn_in_child.store(0, std::memory_order_release);
  }

 private:
  bool const is_child_;
};

}  // namespace

RecordStore::RecordStore(std::unique_ptr<Region> region) noexcept
    : region_(std::move(region)), sites_(*region_), parts_{*region_, sites_, &tag_} {}

RecordStore::RecordStore(std::unique_ptr<Region> region, std::atomic<std::uint32_t> const& tag,
                         decltype(RecordingParts::tag_of_thread) tag_of_thread) noexcept
    : region_(std::move(region)), sites_(*region_), parts_{*region_, sites_, &tag, tag_of_thread} {}

bool RecordStore::is_usable_in_child() noexcept {
  std::uint64_t const forks = std::uint64_t{fork_count()} << 2;
  std::uint64_t found = child_.load(std::memory_order_acquire);
  if (found >> 2 << 2 != forks && child_.compare_exchange_strong(found, forks | kMoves, std::memory_order_acquire)) {
    region_->end_growth_of_parent();
    // A region that has moved before is shared with the parent of this process.
    bool const is_moved = !region_->has_moved() && in_child_ != nullptr && in_child_(*region_);
    found = forks | (is_moved || region_->is_private() ? kIsUsable : kIsNotUsable);
    child_.store(found, std::memory_order_release);
  }
  while (found == (forks | kMoves)) {
    sched_yield();
    found = child_.load(std::memory_order_acquire);
  }
  return found == (forks | kIsUsable);
}

RecordLayer::RecordLayer(std::shared_ptr<RecordStore> store, LayerMask shown, SpanKeyPlace place) noexcept
    : store_(std::move(store)),
      shown_(shown),
      place_(static_cast<std::size_t>(place)),
      forks_when_made_(fork_count()),
      forks_when_used_(forks_when_made_) {}

RecordLayer::~RecordLayer() {
  if (store_->region().is_private() || forks_when_made_ == fork_count()) return;
  // In a forked child the chunks are the parent's.
  for (ChunkWriter* writer = writers_.first(); writer != nullptr; writer = writer->next) writer->abandon_chunks();
}

// In a child: true if its records do not go into the parent's file.
[[gnu::cold]] bool RecordLayer::is_usable_in_child() const noexcept {
  if (!store_->is_usable_in_child()) return false;
  forks_when_used_.store(fork_count(), std::memory_order_relaxed);
  return true;
}

// Describes a span that was opened before the writer's chunk began.
void RecordLayer::describe(ChunkWriter& writer, SpanRef span, bool entered, unsigned max_parents) const noexcept {
  std::uint64_t const key = key_of(span);
  if (key == 0) return;  // the span is being opened
  SpanRef const parent = span.parent();
  if (parent && max_parents > 0 && !writer.knows(key_of(parent))) describe(writer, parent, false, max_parents - 1);
  auto const flags = static_cast<std::uint8_t>((entered ? kEntered : 0) | shown_flag(span.layers()));
  std::uint32_t const tag = place_ == 0 ? span.slot()->record_tag : store_->tag();
  SpanLock const lock = span.lock();
  bool is_first = true;
  span.values().for_each_group(span.metadata(), [&](FieldValues const& values) {
    if (std::exchange(is_first, false)) {
      writer.state(span.metadata(), values.statement_values(), key, key_of(parent), tag, flags);
    } else {
      writer.state_values(span.metadata(), values.statement_values(), key);
    }
  });
  if (is_first) writer.state(span.metadata(), nullptr, key, key_of(parent), tag, flags);
}

// Describes the span for a reader who does not have the chunk in which it began.
void RecordLayer::make_known(ChunkWriter& writer, SpanRef span, Around const& around) const noexcept {
  if (!span || writer.knows(key_of(span))) return;
  if (writer.try_describe([&] { describe(writer, span, false); })) return;
  (void)writer.begin_chunk([&](ChunkWriter&) { describe_entered(around, writer); });
}

// Describes the thread and the spans that it is in.
void RecordLayer::describe_entered(Around const& around, ChunkWriter& writer) const noexcept {
  struct Describer {
    RecordLayer const& layer;
    Around const& around;
    ChunkWriter& writer;
    bool leaves_out;  // outermost spans, because there are more than kMaxDescribed
    bool is_first = true;
  };
  Context const& context = around.context;
  Describer all{*this, around, writer, context.count_entered_here(kMaxDescribed + 1) > kMaxDescribed};
  Track const* const own = is_own_track(context.track()) ? &context.track() : context.registry().own_track();
  writer.describe_thread(own == nullptr ? std::string_view() : own->name);
  // The chunk belongs to the calling thread, whatever the track of the record.
  bool const is_own = is_own_track(context.track());
  context.visit_entered_here(
      kMaxDescribed,
      [](void* to, SpanRef span) {
        auto& [layer, in, described_by, leaves_out, is_first] = *static_cast<Describer*>(to);
        bool const is_outermost = std::exchange(is_first, false) && leaves_out;
        if (span == in.entered) return;
        layer.describe(described_by, span, true, is_outermost ? 0 : kMaxDescribed);
      },
      &all);
  if (is_own && around.left) describe(writer, around.left, true);
  for (SpanRef const span : around.named) {
    if (span && !writer.knows(key_of(span))) describe(writer, span, false);
  }
}

void RecordLayer::write(ChunkWriter& writer, NewRecord const& record, Around const& around) const noexcept {
  writer.write(record, [&](ChunkWriter&) { describe_entered(around, writer); });
}

// Returns the calling thread's writer, or null if the record is for another thread or an earlier time.
[[gnu::always_inline]] inline ChunkWriter* RecordLayer::usual_writer(Context const& context) const noexcept {
  return context.is_dated() || context.is_restored() ? nullptr : writer_of(context.track());
}

// Returns the calling thread's writer, ready for any record, and adds the record's thread and time if they are others.
// Returns null if the thread has no writer.
inline ChunkWriter* RecordLayer::writer_for(Around const& around, NewRecord& record) noexcept {
  ChunkWriter* const writer = usual_writer(around.context);
  return writer != nullptr ? writer : other_writer(around, record);
}

ChunkWriter* RecordLayer::other_writer(Around const& around, NewRecord& record) noexcept {
  Context const& context = around.context;
  if (!is_usable() || context.is_restored()) return nullptr;
  Track const& track = context.track();
  Track const* const own = is_own_track(track) ? &track : context.registry().own_track();
  if (own == nullptr) return nullptr;
  if (own != &track || context.is_dated()) {
    record.flags |= kForeign;
    record.track = track.number;
    record.time_ns = context.time().ns;
  }
  ChunkWriter* writer = writers_.own(*own);
  if (writer == nullptr || writer->thread_number() != own->number) writer = start_writer(*own, around);
  if (writer != nullptr && own != &track) writer->describe_foreign_track(track);
  return writer;
}

ChunkWriter* RecordLayer::start_writer(Track const& track, Around const& around) noexcept {
  bool const is_child = forks_when_made_ != fork_count();
  TurnInChild const turn(is_child);
  if (!is_child) {
    mutex_.lock();
  } else if (!mutex_.try_lock()) {
    return nullptr;
  }
  ChunkWriter* found = nullptr;
  try {
    found = &writers_.find(track);
  } catch (std::bad_alloc const&) {
  }
  mutex_.unlock();
  if (found != nullptr && found->thread_number() != track.number)
    found->start(store_->parts(), track.number, this_thread_info().os_thread,
                 [&](ChunkWriter& writer) { describe_entered(around, writer); });
  return found;
}

// Gives other layers the time of the record that readers will find.
inline void RecordLayer::share_time(LayerMask mask, Context const& context, ChunkWriter const& writer) noexcept {
  if ((mask & ~context.mask()) != 0) context.set_time(writer.time());
}

void RecordLayer::on_scope_begin(SpanRef span, Context const& context) noexcept {
  std::uint64_t& key = span.slot()->record_keys[place_];
  key = 0;  // the slot may have the key of an earlier span
  ChunkWriter* const usual = usual_writer(context);
  Value const* const numbers = span.values().only_numbers(span.metadata());
  if (usual != nullptr && numbers != nullptr) [[likely]]
    key = usual->try_scope_begin(span.metadata(), numbers, shown_flag(span.layers()));
  if (key == 0) [[unlikely]] {
    key = begin_scope(span, context);
  } else {
    if (place_ == 0) span.slot()->record_tag = usual->tag();
    share_time(span.layers(), context, *usual);
  }
}

std::uint64_t RecordLayer::begin_scope(SpanRef span, Context const& context) noexcept {
  NewRecord record{.type = RecordType::scope_begin, .metadata = &span.metadata(), .flags = shown_flag(span.layers())};
  Around const around{context};
  ChunkWriter* const writer = writer_for(around, record);
  if (writer == nullptr) return 0;
  StoredValues const& values = span.values();
  DecodedValues decoded;
  if (!values.empty()) {
    StoredValues::decode_group(values.data(), 0, span.metadata(), decoded);
    record.values = decoded.data();
  }
  std::uint64_t const key = writer->next_key();
  write(*writer, record, around);
  if (place_ == 0) span.slot()->record_tag = writer->tag();
  share_time(span.layers(), context, *writer);
  return key;
}

void RecordLayer::on_scope_end(SpanRef span, Context const& context) noexcept {
  ChunkWriter* const usual = usual_writer(context);
  if (usual != nullptr && usual->try_scope_end()) [[likely]]
    return share_time(span.layers(), context, *usual);
  end_scope(span, context, 0);
}

void RecordLayer::on_scope_end_by_exception(SpanRef span, Context const& context) noexcept {
  end_scope(span, context, kByException);
}

void RecordLayer::end_scope(SpanRef span, Context const& context, std::uint8_t flags) noexcept {
  NewRecord record{.type = RecordType::scope_end, .flags = flags};
  Around const around{context, span};
  ChunkWriter* const writer = writer_for(around, record);
  if (writer == nullptr) return;
  write(*writer, record, around);
  share_time(span.layers(), context, *writer);
}

bool RecordLayer::try_new_span(Track const& track, SpanRef span, NewSpan const& made) noexcept {
  ChunkWriter* const writer = writer_of(track);
  if (writer == nullptr || made.parent.kind == Parent::Kind::span) return false;
  auto const flags = static_cast<std::uint8_t>(flags_of(made.parent) | shown_flag(span.layers()));
  std::uint64_t const key = writer->try_new_span(span.metadata(), made.fields.statement_values(), flags);
  span.slot()->record_keys[place_] = key;
  if (place_ == 0) span.slot()->record_tag = writer->tag();
  return key != 0;
}

void RecordLayer::on_new_span(SpanRef span, NewSpan const& made, Context const& context) noexcept {
  span.slot()->record_keys[place_] = 0;
  NewRecord record{.type = RecordType::new_span,
                   .metadata = &span.metadata(),
                   .values = made.fields.statement_values(),
                   .flags = static_cast<std::uint8_t>(flags_of(made.parent) | shown_flag(span.layers()))};
  bool const is_explicit = made.parent.kind == Parent::Kind::span;
  SpanRef const parent = is_explicit ? span.parent() : SpanRef();
  Around const around{context, {}, {}, {parent}};
  ChunkWriter* const writer = writer_for(around, record);
  if (writer == nullptr) return;
  make_known(*writer, parent, around);
  std::uint64_t const key = writer->next_key();
  record.refer_to(key);
  if (is_explicit) record.refer_to(key_of(parent));
  write(*writer, record, around);
  span.slot()->record_keys[place_] = key;
  if (place_ == 0) span.slot()->record_tag = writer->tag();
  share_time(span.layers(), context, *writer);
}

void RecordLayer::on_event(Event const& event, Context const& context) noexcept {
  if (event.parent.kind == Parent::Kind::contextual) [[likely]] {
    ChunkWriter* const usual = usual_writer(context);
    Value const* const values = event.fields.statement_values();
    if (usual != nullptr && values != nullptr && usual->try_event(event.metadata(), values, shown_flag(event.mask)))
        [[likely]]
      return share_time(event.mask, context, *usual);
  }
  add_event(event, context);
}

void RecordLayer::add_event(Event const& event, Context const& context) noexcept {
  NewRecord record{.type = RecordType::event,
                   .metadata = &event.metadata(),
                   .values = event.fields.statement_values(),
                   .flags = static_cast<std::uint8_t>(flags_of(event.parent) | shown_flag(event.mask))};
  bool const is_explicit = event.parent.kind == Parent::Kind::span;
  SpanRef const parent = is_explicit ? context.event_span(event) : SpanRef();
  Around const around{context, {}, {}, {parent}};
  ChunkWriter* const writer = writer_for(around, record);
  if (writer == nullptr) [[unlikely]]
    return;
  if (is_explicit) {
    make_known(*writer, parent, around);
    record.refer_to(key_of(parent));
  }
  write(*writer, record, around);
  share_time(event.mask, context, *writer);
}

void RecordLayer::on_record(SpanRef span, FieldValues const& values, Context const& context) noexcept {
  NewRecord record{.type = RecordType::values, .metadata = &span.metadata(), .values = values.statement_values()};
  Around const around{context, {}, {}, {span}};
  ChunkWriter* const writer = writer_for(around, record);
  if (writer == nullptr || key_of(span) == 0) return;
  make_known(*writer, span, around);
  record.refer_to(key_of(span));
  write(*writer, record, around);
}

void RecordLayer::on_follows_from(SpanRef span, SpanRef cause, Context const& context) noexcept {
  NewRecord record{.type = RecordType::follows_from, .metadata = &span.metadata()};
  Around const around{context, {}, {}, {span, cause}};
  ChunkWriter* const writer = writer_for(around, record);
  if (writer == nullptr || key_of(span) == 0) return;
  make_known(*writer, span, around);
  make_known(*writer, cause, around);
  record.refer_to(key_of(span));
  record.refer_to(key_of(cause));
  write(*writer, record, around);
}

void RecordLayer::step(RecordType type, SpanRef span, Context const& context) noexcept {
  std::uint64_t const key = key_of(span);
  ChunkWriter* const usual = usual_writer(context);
  if (usual != nullptr && usual->try_step(type, span.metadata(), key)) [[likely]]
    return share_time(span.layers(), context, *usual);
  add_step(type, span, context, 0);
}

void RecordLayer::add_step(RecordType type, SpanRef span, Context const& context, std::uint8_t flags) noexcept {
  std::uint64_t const key = key_of(span);
  NewRecord record{.type = type, .metadata = &span.metadata(), .flags = flags};
  Around const around{
      context, type == RecordType::exit ? span : SpanRef(), type == RecordType::enter ? span : SpanRef(), {span}};
  ChunkWriter* const writer = writer_for(around, record);
  if (writer == nullptr || key == 0) return;
  make_known(*writer, span, around);
  record.refer_to(key);
  write(*writer, record, around);
  share_time(span.layers(), context, *writer);
}

void RecordLayer::on_dropped() noexcept {
  // Before a child's first record is complete, the interrupted thread may be moving the region.
  if (forks_when_used_.load(std::memory_order_relaxed) != fork_count()) return;
  store_->region().header().interrupted.fetch_add(1, std::memory_order_relaxed);
}

void RecordLayer::on_enter(SpanRef span, Context const& context) noexcept { step(RecordType::enter, span, context); }
void RecordLayer::on_exit(SpanRef span, Context const& context) noexcept { step(RecordType::exit, span, context); }
void RecordLayer::on_exit_by_exception(SpanRef span, Context const& context) noexcept {
  add_step(RecordType::exit, span, context, kByException);
}
void RecordLayer::on_close(SpanRef span, Context const& context) noexcept { step(RecordType::close, span, context); }

void RecordLayer::on_timed(SpanRef span, Timing const& timing, Context const& context) noexcept {
  NewRecord record{.type = RecordType::timed, .metadata = &span.metadata()};
  Around const around{context};
  ChunkWriter* const writer = writer_for(around, record);
  if (writer == nullptr) return;
  record.refer_to(timing.duration_ns);
  write(*writer, record, around);
  share_time(span.layers(), context, *writer);
}

}}}  // namespace tracing::v1::internal
