#include "tracing_core/export/xplane/xplane_plane.h"

#include <utility>

#include "tracing_core/export/timeline/proto_writer.h"
#include "tracing_core/export/timeline/timeline.h"

namespace tracing { inline namespace v1 { namespace recording {
namespace {

std::uint64_t picoseconds(std::int64_t ns) noexcept { return static_cast<std::uint64_t>(ns) * 1000; }

// Returns `?` for an empty name, since viewers reject it.
std::string_view named(std::string_view name) noexcept { return name.empty() ? "?" : name; }

// Appends an entry of a map from numbers to messages that have a number and a name.
template <class F>
void add_entry(TextBuffer& to, std::uint32_t field, std::uint32_t number, std::string_view name, F&& fill) {
  ProtoWriter proto(to);
  proto.message(field, [&] {
    proto.number(1, number);
    proto.message(2, [&] {
      proto.number(1, number);
      proto.text(2, name);
      fill();
    });
  });
}

// Passes text on in blocks.
class Blocks {
 public:
  explicit Blocks(XPlane::Out const& out) : out_(out) {}
  ~Blocks() { flush(); }
  Blocks(Blocks const&) = delete;
  Blocks& operator=(Blocks const&) = delete;

  TextBuffer& text() noexcept { return text_; }
  void flush_if_full() {
    if (text_.size() >= std::size_t{256} * 1024) flush();
  }

 private:
  void flush() {
    if (!text_.empty()) out_(text_.view());
    text_.clear();
  }

  XPlane::Out const& out_;
  TextBuffer text_;
};

}  // namespace

XPlane::Line& XPlane::add_line(std::int64_t id, std::string_view name) {
  Line& line = lines_.emplace_back();
  line.id = free_id(id);
  line.name = named(name);
  return line;
}

// Returns the first free number from `id` on. Each number passed on the way then leads past the result, so that the
// next search is short even if many lines ask for the same number.
std::int64_t XPlane::free_id(std::int64_t id) {
  std::int64_t free = id;
  for (auto at = next_ids_.find(free); at != next_ids_.end(); at = next_ids_.find(free)) free = at->second;
  while (id != free) id = std::exchange(next_ids_[id], free + 1);
  next_ids_.emplace(free, free + 1);
  return free;
}

std::uint32_t XPlane::stat(std::string_view name) {
  auto const found = stats_.find(name);
  if (found != stats_.end()) return found->second;
  return stats_.emplace(name, static_cast<std::uint32_t>(stats_.size() + 1)).first->second;
}

std::uint32_t XPlane::add_metadata(std::string_view name, std::string_view stats) {
  add_entry(metadata_, 4, ++last_metadata_, named(name), [&] { ProtoWriter(metadata_).encoded(stats); });
  return last_metadata_;
}

void XPlane::add_own_stat(std::string_view name, std::uint64_t value) {
  append_stat(own_stats_, Of::plane, stat(name), Value::of_u64(value));
}

void XPlane::append_stat(TextBuffer& to, Of of, std::uint32_t stat, Value const& value) {
  if (value.is_empty()) return;
  ProtoWriter proto(to);
  proto.message(static_cast<std::uint32_t>(of), [&] {
    proto.number(1, stat);
    switch (value.kind()) {
      case ValueKind::f64:
      case ValueKind::f32: return proto.real(2, value.as_double());
      case ValueKind::u64: return proto.number(3, value.as_u64());
      case ValueKind::i64: return proto.integer(4, value.as_i64());
      default: with_text_of(value, [&proto](std::string_view text) { proto.text(5, text); });
    }
  });
}

std::uint64_t XPlane::size_of(Event const& event) noexcept {
  return ProtoWriter::size_of_number(event.metadata) + ProtoWriter::size_of_number(picoseconds(event.begin_ns)) +
         ProtoWriter::size_of_number(picoseconds(event.duration_ns)) + event.stats_size;
}

void XPlane::write(std::uint32_t field, Out const& out) const {
  TextBuffer rest;  // everything but lines
  ProtoWriter proto(rest);
  proto.integer(1, id_);
  proto.text(2, name_);
  proto.encoded(metadata_.view());
  for (auto const& [name, number] : stats_) add_entry(rest, 5, number, name, [] {});
  proto.encoded(own_stats_.view());

  // The encoded beginnings of lines, and the size of each line.
  std::deque<TextBuffer> heads;
  std::vector<std::uint64_t> sizes;
  std::uint64_t size = rest.size();
  for (Line const& line : lines_) {
    ProtoWriter head(heads.emplace_back());
    head.integer(1, line.id);
    head.text(2, line.name);
    head.integer(10, line.id);
    std::uint64_t line_size = heads.back().size();
    for (Event const& event : line.events) line_size += ProtoWriter::size_of_message(size_of(event));
    size += ProtoWriter::size_of_message(line_size);
    sizes.push_back(line_size);
  }

  Blocks blocks(out);
  ProtoWriter to(blocks.text());
  to.begin_message(field, size);
  to.encoded(rest.view());
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    to.begin_message(3, sizes[i]);
    to.encoded(heads[i].view());
    for (Event const& event : lines_[i].events) {
      to.begin_message(4, size_of(event));
      to.number(1, event.metadata);
      to.number(2, picoseconds(event.begin_ns));
      to.number(3, picoseconds(event.duration_ns));
      to.encoded(lines_[i].stats.view().substr(event.stats_at, event.stats_size));
      blocks.flush_if_full();
    }
  }
}

}}}  // namespace tracing::v1::recording
