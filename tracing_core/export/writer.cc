#include "tracing_core/export/writer.h"

#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/sink_call.h"
#include "tracing_core/internal/thread_info.h"

namespace tracing::inline v1 {
namespace {

void write_to(spdlog::sinks::sink& sink, LineSink* line_sink, Line const& line) noexcept {
  Metadata const& metadata = line.metadata;
  if (!sink.should_log(to_spdlog(metadata.level()))) return;
  if (line_sink != nullptr) return line_sink->write(metadata.level(), line.text);
  internal::give_to(sink, {.level = metadata.level(),
                           .text = line.text,
                           .time = line.time,
                           .os_thread = internal::this_thread_info().os_thread,
                           .target = metadata.target(),
                           .file = metadata.file(),
                           .line = metadata.line()});
}

class ToSink final : public Writer {
 public:
  explicit ToSink(SinkPtr sink) : sink_(std::move(sink)), line_sink_(dynamic_cast<LineSink*>(sink_.get())) {}

  bool wants(Metadata const& metadata) const noexcept override {
    return sink_ != nullptr && sink_->should_log(to_spdlog(metadata.level()));
  }
  void write(Line const& line) noexcept override {
    if (sink_ != nullptr) write_to(*sink_, line_sink_, line);
  }
  void flush() noexcept override {
    if (sink_ != nullptr) internal::flush_sink(*sink_);
  }
  spdlog::sinks::sink* only_sink() const noexcept override { return sink_.get(); }

 private:
  SinkPtr const sink_;
  LineSink* const line_sink_;
};

class Filtered final : public Writer {
 public:
  using Passes = bool (*)(void const* object, Metadata const& metadata) noexcept;
  Filtered(WriterPtr writer, std::shared_ptr<void const> object, Passes passes)
      : writer_(std::move(writer)), object_(std::move(object)), passes_(passes) {}

  bool wants(Metadata const& metadata) const noexcept override {
    return passes_(object_.get(), metadata) && writer_->wants(metadata);
  }
  void write(Line const& line) noexcept override {
    if (passes_(object_.get(), line.metadata)) writer_->write(line);
  }
  void flush() noexcept override { writer_->flush(); }

 private:
  WriterPtr const writer_;
  std::shared_ptr<void const> const object_;
  Passes const passes_;
};

class Both final : public Writer {
 public:
  Both(WriterPtr first, WriterPtr second) : first_(std::move(first)), second_(std::move(second)) {}

  bool wants(Metadata const& metadata) const noexcept override {
    return first_->wants(metadata) || second_->wants(metadata);
  }
  void write(Line const& line) noexcept override {
    first_->write(line);
    second_->write(line);
  }
  void flush() noexcept override {
    first_->flush();
    second_->flush();
  }

 private:
  WriterPtr const first_;
  WriterPtr const second_;
};

class Either final : public Writer {
 public:
  Either(WriterPtr first, WriterPtr second) : first_(std::move(first)), second_(std::move(second)) {}

  bool wants(Metadata const& metadata) const noexcept override {
    return first_->wants(metadata) || second_->wants(metadata);
  }
  void write(Line const& line) noexcept override { (first_->wants(line.metadata) ? first_ : second_)->write(line); }
  void flush() noexcept override {
    first_->flush();
    second_->flush();
  }

 private:
  WriterPtr const first_;
  WriterPtr const second_;
};

class Choosing final : public Writer {
 public:
  using Choose = SinkPtr (*)(void const* object, Metadata const& metadata) noexcept;
  Choosing(std::shared_ptr<void const> object, Choose choose) : object_(std::move(object)), choose_(choose) {}

  // So that or_else() passes on what there is no sink for.
  bool wants(Metadata const& metadata) const noexcept override {
    SinkPtr const sink = choose_(object_.get(), metadata);
    return sink != nullptr && sink->should_log(to_spdlog(metadata.level()));
  }
  void write(Line const& line) noexcept override {
    if (SinkPtr const sink = choose_(object_.get(), line.metadata)) {
      write_to(*sink, dynamic_cast<LineSink*>(sink.get()), line);
    }
  }

 private:
  std::shared_ptr<void const> const object_;
  Choose const choose_;
};

}  // namespace

WriterPtr to_sink(SinkPtr sink) { return std::make_shared<ToSink>(std::move(sink)); }
WriterPtr tee(WriterPtr first, WriterPtr second) { return std::make_shared<Both>(std::move(first), std::move(second)); }
WriterPtr or_else(WriterPtr first, WriterPtr second) {
  return std::make_shared<Either>(std::move(first), std::move(second));
}
WriterPtr with_max_level(WriterPtr writer, Level level) {
  return with_filter(std::move(writer), [level](Metadata const& metadata) { return metadata.level() <= level; });
}
WriterPtr with_min_level(WriterPtr writer, Level level) {
  return with_filter(std::move(writer), [level](Metadata const& metadata) { return metadata.level() >= level; });
}

namespace internal {

WriterPtr with_filter(WriterPtr writer, std::shared_ptr<void const> object,
                      bool (*passes)(void const* object, Metadata const& metadata) noexcept) {
  return std::make_shared<Filtered>(std::move(writer), std::move(object), passes);
}
WriterPtr choose_sink(std::shared_ptr<void const> object,
                      SinkPtr (*choose)(void const* object, Metadata const& metadata) noexcept) {
  return std::make_shared<Choosing>(std::move(object), choose);
}

}  // namespace internal
}  // namespace tracing::inline v1
