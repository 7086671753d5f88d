// TestRecorder: makes a new recording of a test, with the marks that a test program writes.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/dispatch/thread_name.h"
#include "tracing_core/record/ring/mark_site.h"
#include "tracing_core/record/ring/record_layer.h"

namespace testlog::why {

class TestRecorder {
 public:
  explicit TestRecorder(std::string const& path, std::size_t limit_bytes = std::size_t{64} << 20) {
    std::filesystem::remove(path);
    std::error_code error;
    auto region = tracing::internal::Region::make_file(path, limit_bytes, error);
    EXPECT_FALSE(error) << error.message();
    store_ = std::make_shared<tracing::internal::RecordStore>(std::move(region));
    registry_ = tracing::RegistryBuilder().with(std::make_unique<tracing::internal::RecordLayer>(store_)).build();
    marks_.start(store_->parts(), tracing::internal::kMarksTrack, getpid(), describe);
    static tracing::internal::MarkSite const process("process", {"command", "googletest"});
    mark(process, {tracing::Value::of_text("build/pool_test --gtest_brief=1"), tracing::Value::of_text("1.14.0")});
  }
  TestRecorder(TestRecorder const&) = delete;
  TestRecorder& operator=(TestRecorder const&) = delete;

  /// Writes what CI says about the run, before its tests.
  void ci(std::string_view revision, std::string_view run) {
    static tracing::internal::MarkSite const site("ci", {"revision", "run"});
    mark(site, {tracing::Value::of_text(revision), tracing::Value::of_text(run)});
  }
  /// Runs a test. `body` may call fail() and returns the result; an empty one means that the test did not end.
  template <class F>
  void run(std::string_view test, F body) {
    static tracing::internal::MarkSite const begin("test_begin", {"test"}), end("test_end", {"test", "result"});
    test_ = test;
    store_->set_tag(store_->tag() + 1);
    mark(begin, {tracing::Value::of_text(test_)});
    std::string const result = in_registry(body);
    if (!result.empty()) mark(end, {tracing::Value::of_text(test_), tracing::Value::of_text(result)});
  }
  void fail(std::string_view message = {}) {
    static tracing::internal::MarkSite const failure("failure", {"test", "file", "line", "message"});
    auto const given = [&message](tracing::Value value) { return message.empty() ? tracing::Value() : value; };
    mark(failure, {tracing::Value::of_text(test_), given(tracing::Value::of_text("src/pool_test.cc")),
                   given(tracing::Value::of_i64(21)), given(tracing::Value::of_text(message))});
  }
  /// Returns a thread that records.
  template <class F>
  std::thread thread(std::string_view name, F body) {
    return std::thread([this, name = std::string(name), body] {
      tracing::set_thread_name(name);
      in_registry([&body] { return body(), std::string(); });
    });
  }

 private:
  static void describe(tracing::internal::ChunkWriter& writer) noexcept { writer.describe_thread("testlog"); }

  template <class F>
  std::string in_registry(F const& body) {
    std::string result;
    tracing::with_default(registry_, [&] { result = body(); });
    return result;
  }
  void mark(tracing::internal::MarkSite const& site, std::initializer_list<tracing::Value> values) {
    marks_.write({.type = tracing::recording::EntryType::mark,
                  .metadata = &site.metadata(),
                  .values = values.begin(),
                  .flags = static_cast<std::uint8_t>(tracing::Parent::Kind::root)},
                 describe);
  }

  std::shared_ptr<tracing::internal::RecordStore> store_;
  std::shared_ptr<tracing::Registry> registry_;
  tracing::internal::ChunkWriter marks_;
  std::string test_;
};

}  // namespace testlog::why
