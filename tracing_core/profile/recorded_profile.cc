// A profile is a second recording beside the registry's own, in a layer that is attached to the registry for a while.
//
// The registry keeps this layer, and the layer keeps its region, for all profiles: a thread may be calling the layer at
// any time, and spans that outlive a profile end in it. So a region also has records of earlier profiles, which are
// recognised by their ticks.
#include "tracing_core/profile/recorded_profile.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/filter/targets.h"
#include "tracing_core/record/decode/recording_state.h"
#include "tracing_core/record/ring/record_layer.h"
#include "tracing_core/support/fork.h"
#include "tracing_core/support/mutex.h"
#include "tracing_core/support/never_destroyed.h"
#include "tracing_core/support/span_clock.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

constexpr std::size_t kMaxLimit = std::size_t{16} << 30;
constexpr std::string_view kDeviceTarget = "tracing::cuda::device";

class ProfileFilter final : public Filter {
 public:
  ProfileFilter(ProfilerOptions const& options, Targets targets)
      : host_(options.host),
        device_(options.device),
        annotations_(level_of(options.annotations)),
        targets_(std::move(targets)) {
    named_targets_ = std::move(*Targets::parse(options.filter)).with_default(LevelFilter::off);
  }

  Interest callsite_enabled(Metadata const& metadata) noexcept override {
    return enabled(metadata) ? Interest::always : Interest::never;
  }
  bool enabled(Metadata const& metadata) noexcept override {
    if (metadata.target() == kDeviceTarget) return device_;
    if (metadata.is_annotation()) return host_ && metadata.level() <= annotations_;
    // Perf spans of level trace are for details that slow the program down, so the default level does not turn them on.
    bool const is_detail = metadata.is_perf() && metadata.level() == Level::trace;
    return host_ && (is_detail ? named_targets_ : targets_).enabled(metadata);
  }

 private:
  bool const host_;
  bool const device_;
  Level const annotations_;
  Targets targets_;
  Targets named_targets_;  // without the default level
};

// Takes no calls, so a registry with this layer alone costs nothing.
class NoLayer final : public Layer {
 public:
  Hooks hooks() const noexcept override { return Hooks::none; }
};

// The store and the layer of a registry for its profiles.
struct Recorder {
  std::weak_ptr<Registry> registry;
  std::shared_ptr<RecordStore> store;
  std::shared_ptr<RecordLayer> layer;
};

struct ActiveProfile {
  std::shared_ptr<Registry> registry;
  std::shared_ptr<RecordStore> store;
  std::uint64_t start_ticks;
  std::uint64_t dropped_before;  // records for which the region had no chunk
  unsigned forks;                // fork_count() when the profile was started
  std::string dir;
  ProfilerOptions options;
};

// Keeps the profile that is being recorded: one at a time.
struct Profiles {
  Mutex mutex;
  std::optional<ActiveProfile> active TRACING_GUARDED_BY(mutex);
  std::vector<Recorder> recorders TRACING_GUARDED_BY(mutex);
  std::uint32_t last_number TRACING_GUARDED_BY(mutex) = 0;

  bool is_recording() const TRACING_REQUIRES(mutex) { return active && active->forks == fork_count(); }
  Recorder* recorder_of(Registry& registry, std::size_t limit_bytes) TRACING_REQUIRES(mutex);
};
constinit NeverDestroyed<Profiles> profiles;

// Returns the recorder of a registry, and makes it at first. Returns null if memory ran out.
Recorder* Profiles::recorder_of(Registry& registry, std::size_t limit_bytes) {
  std::erase_if(recorders, [](Recorder const& recorder) { return recorder.registry.expired(); });
  for (Recorder& recorder : recorders) {
    if (recorder.registry.lock().get() != &registry) continue;
    recorder.store->region().set_limit(limit_bytes);
    return &recorder;
  }
  auto region = Region::make_anonymous(limit_bytes, kMaxLimit);
  if (region == nullptr) return nullptr;
  auto store = std::make_shared<RecordStore>(std::move(region));
  auto layer = std::make_shared<RecordLayer>(store, 0, SpanKeyPlace::profile);
  return &recorders.emplace_back(Recorder{registry.weak_from_this(), std::move(store), std::move(layer)});
}

// Returns ticks that are later than every record so far.
std::uint64_t later_ticks() noexcept {
  constexpr int kMaxReadings = 10'000;
  std::uint64_t const before = ticks_now();
  std::uint64_t after = before;
  for (int i = 0; i < kMaxReadings && after == before; ++i) after = ticks_now();
  return after;
}

// Returns the registry that the calling thread's records go to; null if they go to a subscriber of another kind.
Registry* current_registry() {
  if (current_subscriber() == nullptr) {
    auto made = RegistryBuilder().with(std::make_unique<NoLayer>(), std::make_unique<Targets>()).build();
    (void)set_global_default(std::move(made));  // unless another thread was faster
  }
  Subscriber* const subscriber = current_subscriber();
  return subscriber == nullptr ? nullptr : subscriber->as_registry();
}

// Returns true if a directive has a bracket other than `[{`: it selects by the spans around a record, which are not
// known when a callsite is registered.
bool names_spans(std::string_view filter) noexcept {
  for (std::size_t at = filter.find('['); at != filter.npos; at = filter.find('[', at + 1))
    if (!filter.substr(at).starts_with("[{")) return true;
  return false;
}

std::string check(ProfilerOptions const& options, std::optional<Targets>& targets) {
  ParseError error;
  targets = Targets::parse(options.filter, &error);
  if (!targets) return render(error, options.filter, "ProfilerOptions::filter");
  if (names_spans(options.filter))
    return "ProfilerOptions::filter selects by spans: \"" + options.filter + "\"; expected target=level,...,level";
  if (options.limit_bytes < Region::kMinBytes || options.limit_bytes > kMaxLimit)
    return "the profiler's limit_bytes is " + std::to_string(options.limit_bytes) + "; expected " +
           std::to_string(Region::kMinBytes) + " to " + std::to_string(kMaxLimit);
  if (!options.host && !options.device) return "the profiler has nothing to record: both host and device are off";
  return {};
}

}  // namespace

std::string start_recording(ProfilerOptions options, std::string dir) {
  std::optional<Targets> targets;
  if (std::string error = check(options, targets); !error.empty()) return error;
  Profiles& all = *profiles;
  if (thread_state.in_subscriber) return "a layer, filter or formatter cannot start a profile";
  // In a forked child, a thread of the parent may have the lock.
  if (!all.mutex.try_lock()) return "another thread is starting or ending a profile";
  MutexLock const lock(all.mutex, std::adopt_lock);
  if (all.is_recording()) return "a profile is being recorded already, and there is one at a time";
  if (all.active) all.active->registry->detach();  // the parent's profile
  all.active.reset();
  Registry* const registry = current_registry();
  if (registry == nullptr) return "the program's subscriber is no registry, and others have no place for a profile";
  Recorder* const recorder = all.recorder_of(*registry, options.limit_bytes);
  if (recorder == nullptr)
    return "there are no " + std::to_string(options.limit_bytes) + " bytes for the records of a profile";
  all.last_number = all.last_number % kMaxTag + 1;
  recorder->store->set_tag(all.last_number);
  std::uint64_t const dropped = recorder->store->region().header().dropped.load(std::memory_order_relaxed);
  auto filter = std::make_unique<ProfileFilter>(options, std::move(*targets));
  ActiveProfile profile{registry->shared_from_this(),
                        recorder->store,
                        later_ticks(),
                        dropped,
                        fork_count(),
                        std::move(dir),
                        std::move(options)};
  if (!registry->attach(recorder->layer, std::move(filter))) return "another layer is attached to the registry";
  all.active = std::move(profile);
  return {};
}

RecordedProfile stop_recording() {
  Profiles& all = *profiles;
  if (thread_state.in_subscriber) return {.error = "a layer, filter or formatter cannot end a profile"};
  // Another thread may have the lock while its own start is refused. This must not keep our profile running.
  constexpr int kMaxTries = 1000;
  for (int tries = 1; !all.mutex.try_lock(); ++tries) {
    if (tries == kMaxTries) return {.error = "another thread is starting or ending a profile"};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  MutexLock const lock(all.mutex, std::adopt_lock);
  if (!all.is_recording()) return {.error = "no profile is being recorded"};
  ActiveProfile profile = std::move(*all.active);
  all.active.reset();
  profile.registry->detach();
  std::uint64_t const end_ticks = later_ticks();
  RecordedProfile recorded;
  recorded.dir = std::move(profile.dir);
  recorded.options = std::move(profile.options);
  Region& region = profile.store->region();
  try {
    recorded.recording = recording::read_region(region, profile.start_ticks);
  } catch (std::bad_alloc const&) {
  }
  recorded.overwritten = region.lost_of(profile.store->tag());
  region.discard();
  if (recorded.recording == nullptr) {
    recorded.error = "there was no memory to read the records of the profile";
  } else {
    recorded.recording->start_at(profile.start_ticks);
    recorded.recording->end_at(end_ticks);
    recorded.overwritten += recorded.recording->dropped() - profile.dropped_before;
  }
  return recorded;
}

}}}  // namespace tracing::v1::internal
