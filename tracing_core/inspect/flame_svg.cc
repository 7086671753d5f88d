#include "tracing_core/inspect/flame_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "tracing_core/inspect/flame_assets.h"
#include "tracing_core/inspect/flame_palette.h"
#include "tracing_core/support/utf8.h"

namespace tracing { inline namespace v1 {
namespace {

using internal::Rgb;
using support::decode_utf8;
using support::DecodedChar;

constexpr double kColumnWidth = 6.7;  // of a character of a frame's name
constexpr double kTitleColumn = 9.0;  // of a character of the title, at most
constexpr double kAboutColumn = 6.2;  // of a character of the second line
constexpr int kControlsWidth = 330;   // of the controls that the script adds at the right of the title
constexpr int kBaseline = 11;         // of a frame's name, below the frame's upper edge
constexpr int kFrameHeight = 16;
constexpr int kTop = 36;     // above the highest frame: the title
constexpr int kBottom = 34;  // below the lowest frame: details
constexpr int kSide = 10;    // left and right of the frames
constexpr std::size_t kPieceBytes = 64 * 1024;
constexpr std::string_view kReplacement = "\xef\xbf\xbd";
constexpr std::string_view kEllipsis = "\xe2\x80\xa6";

// Returns the width of a character: East Asian characters are as wide as two others. The script has these ranges, too.
std::size_t columns_of(char32_t c) noexcept {
  bool const is_wide = (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
                       (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
                       c >= 0x1F300;
  return is_wide ? 2 : 1;
}

// Returns how many bytes of `text` fit into `room` columns.
std::size_t bytes_that_fit(std::string_view text, std::size_t room) noexcept {
  std::size_t bytes = 0;
  for (std::size_t used = 0; bytes < text.size();) {
    DecodedChar const c = decode_utf8(text.substr(bytes));
    used += columns_of(c.value);
    if (used > room) break;
    bytes += c.size;
  }
  return bytes;
}

std::string cut(std::string_view text, std::size_t room) {
  if (bytes_that_fit(text, room) == text.size()) return std::string(text);
  return std::string(text.substr(0, bytes_that_fit(text, room - 1))) + std::string(kEllipsis);
}

// Returns a name as a frame shows it: completely, without namespaces, cut, or not at all.
std::string fitted(std::string_view name, std::size_t room) {
  if (room < 3) return {};
  return bytes_that_fit(name, room) == name.size() ? std::string(name) : cut(internal::short_name(name), room);
}

bool is_xml_char(char32_t c) noexcept {
  return c >= 0x20 ? c != 0xFFFE && c != 0xFFFF : c == '\t' || c == '\n' || c == '\r';
}

std::string as_xml(std::string_view text) {
  std::string out;
  for (; !text.empty();) {
    DecodedChar const c = decode_utf8(text);
    if (c.value == '&') {
      out += "&amp;";
    } else if (c.value == '<') {
      out += "&lt;";
    } else if (c.value == '>') {
      out += "&gt;";
    } else if (c.value == '"') {
      out += "&quot;";
    } else {
      out += c.valid && is_xml_char(c.value) ? text.substr(0, c.size) : kReplacement;
    }
    text.remove_prefix(c.size);
  }
  return out;
}

double nanoseconds_of(std::string_view unit) noexcept {
  if (unit == "ns") return 1;
  if (unit == "us" || unit == "\xc2\xb5s") return 1e3;
  if (unit == "ms") return 1e6;
  return unit == "s" ? 1e9 : 0;
}

// Returns a time in a larger unit that fits, ` = 1.235 ms`. Returns nothing if no larger unit fits, or if `unit` is not
// a unit of time.
std::string human_time(std::uint64_t count, std::string_view unit) {
  constexpr std::pair<double, char const*> kScales[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "\xc2\xb5s"}};
  double const ns_of_one = nanoseconds_of(unit);
  double const ns = static_cast<double>(count) * ns_of_one;
  for (auto const& [size, name] : kScales) {
    if (size <= ns_of_one) break;
    if (ns >= size) return fmt::format(" = {:.3f} {}", ns / size, name);
  }
  return {};
}

// Returns `1,234,567` for 1234567.
std::string grouped(std::uint64_t number) {
  std::string text = fmt::format_int(number).str();
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

std::string frames(std::size_t count) { return grouped(count) + (count == 1 ? " frame" : " frames"); }

std::string change(std::uint64_t before, std::uint64_t after) {
  if (before == after) return "unchanged";
  return after > before ? '+' + grouped(after - before) : '-' + grouped(before - after);
}

// Returns `launch (1,200 ns, 28.57%)` or, in a differential flame graph,
// `launch (1,200 ns, 28.57%; before 1,000, after 1,200: +200; own before 800, after 700: -100)`.
std::string describe(FlameGraph const& graph, FlameFrame const& frame, std::string_view name, std::string_view unit) {
  // Multiply before dividing: the last digit depends on the order.
  double const percent = 100.0 * static_cast<double>(frame.width) / static_cast<double>(graph.total());
  std::string const share = frame.depth == 0 ? "100" : fmt::format("{:.2f}", percent);
  std::uint64_t const count = graph.width == FlameWidth::after ? frame.count : frame.before;
  std::string text = fmt::format("{} ({} {}, {}%", name, grouped(count), unit, share);
  if (graph.is_differential) {
    text += fmt::format("; before {}, after {}: {}; own before {}, after {}: {}", grouped(frame.before),
                        grouped(frame.count), change(frame.before, frame.count), grouped(frame.self_before),
                        grouped(frame.self), change(frame.self_before, frame.self));
  }
  return text += ')';
}

std::uint64_t change_of(FlameFrame const& frame) noexcept {
  return frame.self > frame.self_before ? frame.self - frame.self_before : frame.self_before - frame.self;
}

class Drawing {
 public:
  Drawing(FlameGraph const& graph, FlamePicture const& picture, std::function<void(std::string_view)> const& write)
      : graph_(graph), picture_(picture), write_(write), percent_of_one_(100.0 / static_cast<double>(graph.total())) {
    std::uint32_t depth = 0;
    for (FlameFrame const& frame : graph.frames) {
      largest_change_ = std::max(largest_change_, change_of(frame));
      if (!is_drawn(frame)) continue;
      ++drawn_;
      depth = std::max(depth, frame.depth);
    }
    lowest_ = kTop + static_cast<int>(depth) * kFrameHeight;
  }

  void draw() {
    begin();
    for (FlameFrame const& frame : graph_.frames) {
      if (is_drawn(frame)) draw(frame);
      if (text_.size() >= kPieceBytes) pass_on();
    }
    end();
    pass_on();
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }
  void pass_on() {
    write_(text_);
    text_.clear();
  }

  void begin() {
    int const width = picture_.width;
    int const height = lowest_ + kFrameHeight + kBottom;
    std::string const title = as_xml(picture_.title);
    auto const room = static_cast<std::size_t>(std::max(40, width - kControlsWidth) / kTitleColumn);
    add("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\" "
        "data-unit=\"{}\" data-kind=\"{}\">\n",
        width, height, width, height, as_xml(picture_.unit), graph_.is_differential ? "differential" : "plain");
    add("<title>{}</title>\n<style>\n{}</style>\n", title, internal::kFlameStyle);
    add("<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
    add("<text class=\"heading\" x=\"10\" y=\"17\">{}</text>\n", as_xml(cut(picture_.title, room)));
    std::string const about_it = about();
    add("<text class=\"about\" x=\"10\" y=\"31\"><title>{}</title>{}</text>\n", as_xml(about_it),
        as_xml(cut(about_it, static_cast<std::size_t>((width - 20) / kAboutColumn))));
    add("<text class=\"details\" x=\"10\" y=\"{}\"></text>\n", height - 13);
    add("<text class=\"matched\" x=\"{}\" y=\"{}\"></text>\n", width - 10, height - 13);
    add("<svg class=\"frames\" x=\"{}\" width=\"{}\">\n", kSide, frames_width());
  }
  void end() { add("</svg>\n<script><![CDATA[\n{}]]></script>\n</svg>\n", internal::kFlameScript); }

  int frames_width() const { return picture_.width - 2 * kSide; }
  bool is_drawn(FlameFrame const& frame) const {
    return static_cast<double>(frame.width) >= picture_.min_width_percent / percent_of_one_;
  }

  std::string about() const {
    FlameFrame const& all = graph_.frames.front();
    std::string text;
    if (graph_.is_differential) {
      char const* const shown = graph_.width == FlameWidth::after ? "after" : "before";
      text = fmt::format("Width: {} {}; before {}, after {}. Red: own {} grew, blue: shrank", picture_.unit, shown,
                         grouped(all.before), grouped(all.count), picture_.unit);
    } else {
      text = fmt::format("Width: {}, {} in all{}", picture_.unit, grouped(all.count),
                         human_time(all.count, picture_.unit));
    }
    std::size_t narrow = graph_.frames.size() - drawn_;
    if (graph_.is_differential) {
      char const* const other = graph_.width == FlameWidth::after ? "before" : "after";
      if (graph_.only_in_other > 0) text += fmt::format("; {} only {}", frames(graph_.only_in_other), other);
      narrow -= std::min(narrow, graph_.only_in_other);
    }
    if (narrow > 0) {
      text += fmt::format("; {} left out, narrower than {}%", frames(narrow), picture_.min_width_percent);
    }
    return text;
  }

  void draw(FlameFrame const& frame) {
    std::string_view const name = frame.depth == 0 ? "all" : std::string_view(graph_.names[frame.name]);
    Rgb const color = color_of(frame);
    double const begin = static_cast<double>(frame.start) * percent_of_one_;
    double const width = static_cast<double>(frame.start + frame.width) * percent_of_one_ - begin;
    // The row of pixels above a frame is the gap to the next.
    int const offset = static_cast<int>(frame.depth) * kFrameHeight;
    int const y = (picture_.inverted ? kTop + offset : lowest_ - offset) + 1;
    add("<g class=\"f\" data-f=\"{},{},{},{}\"><title>{}</title>", frame.depth, frame.start, frame.width,
        graph_.width == FlameWidth::after ? frame.self : frame.self_before,
        as_xml(describe(graph_, frame, name, picture_.unit)));
    add("<rect x=\"{:.4f}%\" y=\"{}\" width=\"{:.4f}%\" height=\"{}\" rx=\"1\" fill=\"rgb({},{},{})\"/>", begin, y,
        width, kFrameHeight - 1, color.red, color.green, color.blue);
    double const room = (width * frames_width() / 100 - 6) / kColumnWidth;
    std::string const text = room < 3 ? std::string() : fitted(name, static_cast<std::size_t>(room));
    if (!text.empty()) {
      add("<text x=\"{:.4f}%\" dx=\"3\" y=\"{}.5\">{}</text>", begin, y + kBaseline, as_xml(text));
    }
    add("</g>\n");
  }

  Rgb color_of(FlameFrame const& frame) const {
    if (graph_.is_differential) return internal::difference_color(frame.self_before, frame.self, largest_change_);
    if (frame.depth == 0) return {222, 220, 212};
    std::string_view const name = graph_.names[frame.name];
    return picture_.colors == FlameColors::module ? internal::module_color(name) : internal::hot_color(name);
  }

  FlameGraph const& graph_;
  FlamePicture const& picture_;
  std::function<void(std::string_view)> const& write_;
  double const percent_of_one_;
  std::uint64_t largest_change_ = 0;
  std::size_t drawn_ = 0;
  int lowest_ = 0;  // the upper edge of the lowest row
  std::string text_;
};

}  // namespace

void write_flame_svg(FlameGraph const& graph, FlamePicture const& picture,
                     std::function<void(std::string_view)> const& write) {
  Drawing(graph, picture, write).draw();
}

}}  // namespace tracing::v1
