#include "testlog/capture/test_records.h"

#include <cstdint>
#include <utility>

#include "testlog/capture/record_of.h"
#include "tracing_core/record/decode/region_reader.h"
#include "tracing_core/support/fork.h"

namespace testlog { inline namespace v1 {

using tracing::recording::Entry;
using tracing::recording::EntryType;

// The records of a test as far as they were read, and what reading further needs.
class TestRecords::Snapshot {
 public:
  Snapshot(Capture const& capture, Attribution const& attribution)
      : capture_(capture),
        attribution_(attribution),
        begin_(capture.begin_of_test()),
        test_(attribution.running()),
        forks_(tracing::support::fork_count()),
        reader_(capture.store()->region(), begin_) {}

  // Returns true if further records may be added: the test and the process are the same, and no record is gone. So the
  // records take no more memory than the recording allows.
  bool is_current() const noexcept {
    return begin_ == capture_.begin_of_test() && test_ == attribution_.running() &&
           forks_ == tracing::support::fork_count() && !capture_.is_overwritten(begin_);
  }
  // Returns false if records belong before records that were added earlier.
  bool add_new() {
    return reader_.visit_new(capture_.now(), [this](Entry const& entry) { add(entry); });
  }
  Records records() const noexcept { return {blocks_, blocks_->size()}; }

 private:
  void add(Entry const& entry) {
    spans_.follow(entry);
    bool const is_record = entry.type == EntryType::event || begins_span(entry.type);
    if (!is_record || entry.ticks < begin_) return;
    Owner const owner = attribution_.owner_of(entry, spans_.current());
    if (!owner.late && owner.test == test_) fill_record(blocks_->add(), entry, spans_.current());
  }

  Capture const& capture_;
  Attribution const& attribution_;
  std::uint64_t const begin_;
  TestTag const test_;
  unsigned const forks_;
  tracing::recording::RegionReader reader_;
  tracing::recording::Spans spans_;  // refers to metadata of the reader
  std::shared_ptr<internal::RecordBlocks> const blocks_ = std::make_shared<internal::RecordBlocks>();
};

TestRecords::TestRecords(Capture const& capture, Attribution const& attribution) noexcept
    : capture_(capture), attribution_(attribution) {}
TestRecords::~TestRecords() = default;

// Does not wait for another thread that reads: in a forked child this thread may not exist.
Records TestRecords::read() {
  std::unique_ptr<Snapshot> own;
  if (capture_.store() == nullptr) return {};
  if (!mutex_.try_lock()) return read_afresh(own);
  try {
    Records records = read_locked();
    mutex_.unlock();
    return records;
  } catch (...) {
    snapshot_.reset();
    mutex_.unlock();
    throw;
  }
}

Records TestRecords::read_locked() {
  if (snapshot_ != nullptr && snapshot_->is_current() && snapshot_->add_new()) return snapshot_->records();
  return read_afresh(snapshot_);
}

Records TestRecords::read_afresh(std::unique_ptr<Snapshot>& snapshot) const {
  snapshot = std::make_unique<Snapshot>(capture_, attribution_);
  (void)snapshot->add_new();  // a new one has nothing that could be out of order
  return snapshot->records();
}

void TestRecords::forget() noexcept {
  if (!mutex_.try_lock()) return;
  snapshot_.reset();
  mutex_.unlock();
}

}}  // namespace testlog::v1
