#include "tracing_core/record/record_layer.h"

#include <algorithm>
#include <new>
#include <utility>

#include "tracing_core/collect/registry.h"
#include "tracing_core/internal/fork.h"
#include "tracing_core/internal/thread_info.h"

namespace tracing::inline v1::internal {
namespace {

std::uint8_t flags_of(Parent const& parent) noexcept { return static_cast<std::uint8_t>(parent.kind); }

}  // namespace

RecordStore::RecordStore(std::unique_ptr<Region> region) noexcept
    : region_(std::move(region)), sites_(*region_), parts_{*region_, sites_, &tag_} {}

RecordStore::RecordStore(std::unique_ptr<Region> region, std::atomic<std::uint32_t> const& tag,
                         decltype(RecordingParts::tag_of_thread) tag_of_thread) noexcept
    : region_(std::move(region)), sites_(*region_), parts_{*region_, sites_, &tag, tag_of_thread} {}

RecordLayer::RecordLayer(std::shared_ptr<RecordStore> store, LayerMask shown, RecordPlace place) noexcept
    : store_(std::move(store)),
      shown_(shown),
      place_(static_cast<std::size_t>(place)),
      is_anonymous_(store_->region().is_anonymous()),
      forks_when_made_(fork_count()) {}

RecordLayer::~RecordLayer() {
  if (is_usable()) return;
  // In a forked child the chunks are the parent's.
  for (Writer* writer = writers_.first(); writer != nullptr; writer = writer->next) writer->abandon_chunks();
}

// Describes a span that was opened before the writer's chunk.
void RecordLayer::describe(Writer& writer, SpanRef span, bool entered, void const* around,
                           unsigned max_parents) const noexcept {
  std::uint64_t const key = key_of(span);
  if (key == 0) return;  // is being opened
  SpanRef const parent = span.parent();
  if (parent && max_parents > 0 && !writer.knows(key_of(parent)))
    describe(writer, parent, false, around, max_parents - 1);
  Place const place{.flags = static_cast<std::uint8_t>((entered ? kEntered : 0) | shown_flag(span.layers())),
                    .around = around};
  std::uint32_t const tag = place_ == 0 ? span.slot()->record_tag : store_->tag();
  SpanLock const lock = span.lock();
  bool is_first = true;
  span.values().for_each_group(span.metadata(), [&](FieldValues const& values) {
    if (std::exchange(is_first, false)) {
      writer.state(span.metadata(), values.statement_values(), key, key_of(parent), tag, place);
    } else {
      writer.state_values(span.metadata(), values.statement_values(), key, around);
    }
  });
  if (is_first) writer.state(span.metadata(), nullptr, key, key_of(parent), tag, place);
}

// So that a reader who does not have the chunk of its beginning knows the span.
void RecordLayer::make_known(Writer& writer, SpanRef span, Place const& place) const noexcept {
  if (!span || writer.knows(key_of(span))) return;
  if (!writer.try_describe([&] { describe(writer, span, false, place.around); })) writer.begin_chunk(place);
}

void RecordLayer::describe_entered(void const* around, Writer& writer) noexcept {
  struct Describing {
    Around const& around;
    Writer& writer;
    bool leaves_out;  // the outer ones of too many
    bool is_first = true;
  };
  Context const& context = static_cast<Around const*>(around)->context;
  Describing all{*static_cast<Around const*>(around), writer,
                 context.count_entered_here(kMaxDescribed + 1) > kMaxDescribed};
  Track const* const own =
      is_own_track(context.track()) ? &context.track() : context.registry().own_track();
  writer.describe_thread(own == nullptr ? std::string_view() : own->name);
  // The chunk is the calling thread's, whatever the track of the record.
  bool const is_own = is_own_track(context.track());
  context.visit_entered_here(
      kMaxDescribed,
      [](void* to, SpanRef span) {
        auto& [in, described_by, leaves_out, is_first] = *static_cast<Describing*>(to);
        bool const is_outermost = std::exchange(is_first, false) && leaves_out;
        if (span == in.entered) return;
        in.layer.describe(described_by, span, true, &in, is_outermost ? 0 : kMaxDescribed);
      },
      &all);
  if (is_own && all.around.left) all.around.layer.describe(writer, all.around.left, true, around);
  for (SpanRef const span : all.around.named) {
    if (span && !writer.knows(all.around.layer.key_of(span))) all.around.layer.describe(writer, span, false, around);
  }
}

// The calling thread's writer, if the record is of that thread and of now.
[[gnu::always_inline]] inline Writer* RecordLayer::usual_writer(Context const& context) const noexcept {
  Writer* const writer = writers_.own(context.track());
  bool const is_usual = writer != nullptr && writer->thread_number() == context.track().number &&
                        is_usable() && !context.is_dated() && !context.is_restored();
  return is_usual ? writer : nullptr;
}

// The calling thread's writer, ready for any record. Null if there is none.
Writer* RecordLayer::writer_for(Around const& around, Place& place) noexcept {
  Context const& context = around.context;
  place.around = &around;
  if (Writer* const writer = usual_writer(context)) return writer;
  if (!is_usable() || context.is_restored()) return nullptr;
  Track const& track = context.track();
  Track const* const own = is_own_track(track) ? &track : context.registry().own_track();
  if (own == nullptr) return nullptr;
  if (own != &track || context.is_dated()) {
    place.flags |= kForeign;
    place.track = track.number;
    place.time_ns = context.time().ns;
  }
  Writer* writer = writers_.own(*own);
  if (writer == nullptr || writer->thread_number() != own->number) writer = start_writer(*own, &around);
  if (writer != nullptr && own != &track) writer->describe_foreign_track(track);
  return writer;
}

Writer* RecordLayer::start_writer(Track const& track, void const* around) noexcept {
  // In a forked child, another thread of the parent may have held it.
  if (forks_when_made_ == fork_count()) {
    mutex_.lock();
  } else if (!mutex_.try_lock()) {
    return nullptr;
  }
  Writer* found = nullptr;
  try {
    found = &writers_.find(track);
  } catch (std::bad_alloc const&) {
  }
  mutex_.unlock();
  if (found != nullptr && found->thread_number() != track.number)
    found->start(store_->parts(), track.number, this_thread_info().os_thread, describe_entered, around);
  return found;
}

// What other layers print of the record has the time that readers will find.
inline void RecordLayer::share_time(LayerMask mask, Context const& context, Writer const& writer) noexcept {
  if ((mask & ~context.mask()) != 0) context.set_time(writer.time());
}

void RecordLayer::on_scope_begin(SpanRef span, Context const& context) noexcept {
  std::uint64_t& key = span.slot()->record_keys[place_];
  key = 0;  // that of an earlier span
  Writer* const usual = usual_writer(context);
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
  Place place{.flags = shown_flag(span.layers())};
  Around const around{*this, context};
  Writer* const writer = writer_for(around, place);
  if (writer == nullptr) return 0;
  StoredValues const& values = span.values();
  DecodedValues decoded;
  if (!values.empty()) StoredValues::decode_group(values.data(), 0, span.metadata(), decoded);
  std::uint64_t const key = writer->scope_begin(span.metadata(), values.empty() ? nullptr : decoded.data(), place);
  if (place_ == 0) span.slot()->record_tag = writer->tag();
  share_time(span.layers(), context, *writer);
  return key;
}

void RecordLayer::on_scope_end(SpanRef span, Context const& context) noexcept {
  Writer* const usual = usual_writer(context);
  if (usual != nullptr && usual->try_scope_end()) [[likely]] return share_time(span.layers(), context, *usual);
  Place place;
  Around const around{*this, context, span};
  Writer* const writer = writer_for(around, place);
  if (writer == nullptr) return;
  writer->scope_end(place);
  share_time(span.layers(), context, *writer);
}

void RecordLayer::on_new_span(SpanRef span, NewSpan const& made, Context const& context) noexcept {
  span.slot()->record_keys[place_] = 0;
  Place place{.flags = static_cast<std::uint8_t>(flags_of(made.parent) | shown_flag(span.layers()))};
  bool const is_explicit = made.parent.kind == Parent::Kind::span;
  SpanRef const parent = is_explicit ? span.parent() : SpanRef();
  Around const around{*this, context, {}, {}, {parent}};
  Writer* const writer = writer_for(around, place);
  if (writer == nullptr) return;
  make_known(*writer, parent, place);
  span.slot()->record_keys[place_] =
      writer->new_span(span.metadata(), made.fields.statement_values(), place, key_of(parent));
  if (place_ == 0) span.slot()->record_tag = writer->tag();
  share_time(span.layers(), context, *writer);
}

void RecordLayer::on_event(Event const& event, Context const& context) noexcept {
  if (event.parent.kind == Parent::Kind::contextual) [[likely]] {
    Writer* const usual = usual_writer(context);
    Value const* const values = event.fields.statement_values();
    if (usual != nullptr && values != nullptr && usual->try_event(event.metadata(), values, shown_flag(event.mask))) [[likely]]
      return share_time(event.mask, context, *usual);
  }
  add_event(event, context);
}

void RecordLayer::add_event(Event const& event, Context const& context) noexcept {
  Place place{.flags = static_cast<std::uint8_t>(flags_of(event.parent) | shown_flag(event.mask))};
  bool const is_explicit = event.parent.kind == Parent::Kind::span;
  SpanRef const parent = is_explicit ? context.event_span(event) : SpanRef();
  Around const around{*this, context, {}, {}, {parent}};
  Writer* const writer = writer_for(around, place);
  if (writer == nullptr) [[unlikely]] return;
  Value const* const values = event.fields.statement_values();
  if (is_explicit) {
    make_known(*writer, parent, place);
    writer->event_below(event.metadata(), values, place, key_of(parent));
  } else {
    writer->event(event.metadata(), values, place);
  }
  share_time(event.mask, context, *writer);
}

void RecordLayer::on_record(SpanRef span, FieldValues const& values, Context const& context) noexcept {
  Place place;
  Around const around{*this, context, {}, {}, {span}};
  Writer* const writer = writer_for(around, place);
  if (writer == nullptr || key_of(span) == 0) return;
  make_known(*writer, span, place);
  writer->values(span.metadata(), values.statement_values(), key_of(span), place);
}

void RecordLayer::on_follows_from(SpanRef span, SpanRef cause, Context const& context) noexcept {
  Place place;
  Around const around{*this, context, {}, {}, {span, cause}};
  Writer* const writer = writer_for(around, place);
  if (writer == nullptr || key_of(span) == 0) return;
  make_known(*writer, span, place);
  make_known(*writer, cause, place);
  writer->follows_from(span.metadata(), key_of(span), key_of(cause), place);
}

void RecordLayer::step(RecordType type, SpanRef span, Context const& context) noexcept {
  Place place;
  Around const around{*this, context, type == RecordType::exit ? span : SpanRef(),
                      type == RecordType::enter ? span : SpanRef(), {span}};
  Writer* const writer = writer_for(around, place);
  if (writer == nullptr || key_of(span) == 0) return;
  make_known(*writer, span, place);
  writer->step(type, span.metadata(), key_of(span), place);
  share_time(span.layers(), context, *writer);
}

void RecordLayer::on_dropped() noexcept {
  if (is_usable()) store_->region().header().interrupted.fetch_add(1, std::memory_order_relaxed);
}

void RecordLayer::on_enter(SpanRef span, Context const& context) noexcept { step(RecordType::enter, span, context); }
void RecordLayer::on_exit(SpanRef span, Context const& context) noexcept { step(RecordType::exit, span, context); }
void RecordLayer::on_close(SpanRef span, Context const& context) noexcept { step(RecordType::close, span, context); }

void RecordLayer::on_timed(SpanRef span, Timing const& timing, Context const& context) noexcept {
  Place place;
  Around const around{*this, context};
  Writer* const writer = writer_for(around, place);
  if (writer == nullptr) return;
  writer->timed(span.metadata(), timing.duration_ns, place);
  share_time(span.layers(), context, *writer);
}

}  // namespace tracing::inline v1::internal
