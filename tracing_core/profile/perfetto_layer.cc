#include "tracing_core/profile/perfetto_layer.h"

#include <unistd.h>

#include <new>

#include "tracing_core/export/perfetto/perfetto.h"
#include "tracing_core/export/write_all.h"
#include "tracing_core/perf/perf_filter.h"
#include "tracing_core/profile/profile_files.h"
#include "tracing_core/record/decode/recording_state.h"
#include "tracing_core/record/ring/record_layer.h"
#include "tracing_core/support/fork.h"

namespace tracing { inline namespace v1 {

PerfettoGuard::PerfettoGuard() noexcept = default;
PerfettoGuard::PerfettoGuard(PerfettoGuard&& other) noexcept = default;
PerfettoGuard& PerfettoGuard::operator=(PerfettoGuard&& other) noexcept {
  if (this == &other) return *this;
  finish();
  path_ = std::move(other.path_);
  store_ = std::move(other.store_);
  forks_when_made_ = other.forks_when_made_;
  return *this;
}
PerfettoGuard::~PerfettoGuard() { finish(); }

void PerfettoGuard::finish() noexcept {
  try {
    if (std::string const error = write(); !error.empty())
      internal::write_once(STDERR_FILENO, "testlog: " + error + "\n");
  } catch (std::bad_alloc const&) {
    internal::write_once(STDERR_FILENO, "testlog: there was no memory to write a trace for Perfetto\n");
  }
  store_.reset();
}

std::string PerfettoGuard::write() const {
  if (store_ == nullptr || forks_when_made_ != support::fork_count()) return {};
  auto const recording = recording::read_region(store_->region());
  if (recording == nullptr) throw std::bad_alloc();
  return internal::write_whole_file(path_, [&](internal::WriteText const& out) {
    recording::TraceSource source(*recording);
    source.process = internal::program_name();
    source.filter = with_perf_spans(nullptr);
    recording::write_perfetto(std::move(source), out);
    return true;
  });
}

std::uint64_t PerfettoGuard::overwritten() const noexcept {
  return store_ == nullptr ? 0 : store_->region().lost_of(store_->tag());
}

std::pair<std::unique_ptr<Layer>, PerfettoGuard> perfetto_layer(PerfettoOptions options) {
  std::pair<std::unique_ptr<Layer>, PerfettoGuard> made;
  auto region = internal::Region::make_anonymous(options.limit_bytes);
  if (region == nullptr) return made;
  auto store = std::make_shared<internal::RecordStore>(std::move(region));
  made.first = std::make_unique<internal::RecordLayer>(store);
  made.second.path_ = internal::absolute_path(options.path);
  made.second.store_ = std::move(store);
  made.second.forks_when_made_ = support::fork_count();
  return made;
}

}}  // namespace tracing::v1
