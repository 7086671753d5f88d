// Draws a picture of a terminal for the documentation: `draw_terminal FILE COMMAND [FIRST LAST]` writes an SVG to the
// standard output, in which COMMAND printed the lines of FILE, or those from the first that contains FIRST to the next
// that contains LAST. What the file has as ANSI sequences is drawn in their styles; of a file without any, levels and
// spans are coloured as in a terminal. Long lines are wrapped. Sections of a log of GitLab are drawn closed.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::size_t kColumns = 112;
constexpr double kColumn = 7.225, kRow = 17, kMargin = 12;  // pixels; a monospaced letter of 12 px is 7.225 wide

// Text in one style.
struct Piece {
  std::string style;  // names of CSS classes
  std::string text;
};
using Line = std::vector<Piece>;

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string escaped(std::string_view text) {
  std::string out;
  for (char const c : text) out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

// The end of the span path at the beginning of `text`: the first `: ` outside of braces and quotes.
std::size_t end_of_spans(std::string_view text) {
  int braces = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (quoted) continue;
    braces += (text[i] == '{') - (text[i] == '}');
    if (braces == 0 && text.substr(i).starts_with(": ")) return i;
  }
  return 0;
}

Line coloured(std::string_view line) {
  for (std::string_view const level : {"ERROR ", " WARN ", " INFO ", "DEBUG ", "TRACE "}) {
    std::size_t const at = line.find(level);
    // At the beginning, or after a time.
    if (at == line.npos || (at != 0 && (line[0] < '0' || line[0] > '9'))) continue;
    std::string_view const rest = line.substr(at + level.size());
    std::size_t const spans = end_of_spans(rest);
    std::string const initial(level.substr(level[0] == ' ', 1));
    char const* const color = initial == "E"   ? "error"
                              : initial == "W" ? "warn"
                              : initial == "I" ? "info"
                              : initial == "D" ? "debug"
                                               : "trace";
    return {{"dim", std::string(line.substr(0, at))},
            {color, std::string(level)},
            {"spans", std::string(rest.substr(0, spans))},
            {"", std::string(rest.substr(spans))}};
  }
  return {{"", std::string(line)}};
}

// The classes that a sequence `ESC [ numbers m` leaves, after those of the text before it.
std::string style_after(std::string_view numbers, std::string style) {
  static constexpr char const* kColors[] = {"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"};
  std::istringstream in{std::string(numbers.empty() ? "0" : numbers)};
  auto const add = [&style](char const* name) { style += (style.empty() ? "" : " ") + std::string(name); };
  for (std::string number; std::getline(in, number, ';');) {
    int const code = std::stoi(number);
    if (code == 0) style.clear();
    if (code == 1) add("bold");
    if (code == 2) add("dim");
    if (code == 3) add("italic");
    if (code >= 30 && code <= 37) add(kColors[code - 30]);
  }
  return style;
}

// A line with ANSI sequences.
Line styled(std::string_view line) {
  Line pieces;
  std::string style;
  while (!line.empty()) {
    std::size_t const escape = line.find("\x1b[");
    if (escape != 0) pieces.push_back({style, std::string(line.substr(0, escape))});
    if (escape == line.npos) break;
    std::size_t const end = line.find('m', escape);
    style = style_after(line.substr(escape + 2, end - escape - 2), style);
    line.remove_prefix(end == line.npos ? line.size() : end + 1);
  }
  return pieces;
}

// Wraps a line at the width of the terminal.
std::vector<Line> wrapped(Line const& line) {
  std::vector<Line> rows(1);
  std::size_t column = 0;
  for (Piece const& piece : line) {
    rows.back().push_back({piece.style, ""});
    for (char const c : piece.text) {
      if (bool const begins = (c & 0xc0) != 0x80; begins && column++ == kColumns) {
        rows.push_back({{piece.style, ""}});
        column = 1;
      }
      rows.back().back().text += c;
    }
  }
  return rows;
}

// Replaces each `ESC[0Ksection_start:...\rESC[0K<title>` and what follows, up to its end, by the title.
std::string with_closed_sections(std::string text) {
  std::string const begin = "\x1b[0Ksection_start:", end = "\x1b[0Ksection_end:", title = "\r\x1b[0K";
  for (std::size_t at = 0; (at = text.find(begin, at)) != text.npos;) {
    std::size_t const first = text.find(title, at) + title.size();
    std::string const line = "\u25b8 " + text.substr(first, text.find('\n', first) + 1 - first);
    text.replace(at, text.find('\n', text.find(end, at)) + 1 - at, line);
    at += line.size();
  }
  return text;
}

void draw(std::vector<Line> const& rows) {
  std::size_t longest = 0;
  for (Line const& row : rows) {
    std::size_t size = 0;
    for (Piece const& piece : row) size += columns(piece.text);
    longest = std::max(longest, size);
  }
  double const width = static_cast<double>(longest) * kColumn + 2 * kMargin;
  double const height = static_cast<double>(rows.size()) * kRow + 2 * kMargin;
  std::printf(R"(<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %g %g">
<style>
text { font: 12px ui-monospace, "DejaVu Sans Mono", monospace; fill: #d6d6d0; white-space: pre; }
.dim { fill: #8a8a84; } .error { fill: #ff7b72; } .warn { fill: #e3b341; } .info { fill: #7ee787; } .debug { fill: #79c0ff; }
.trace { fill: #d2a8ff; } .spans { fill: #ffffff; font-weight: bold; } .bold { font-weight: bold; } .italic { font-style: italic; }
.red { fill: #ff7b72; } .green { fill: #7ee787; } .yellow { fill: #e3b341; } .blue { fill: #79c0ff; } .magenta { fill: #d2a8ff; }
</style>
<rect fill="#1d1f21" width="%g" height="%g" rx="6"/>
)",
              width, height, width, height, width, height);
  double y = kMargin + 12;
  for (Line const& row : rows) {
    std::size_t column = 0;
    for (Piece const& piece : row) {
      std::size_t const size = columns(piece.text);
      // With its position and width, so that columns are aligned in any font.
      if (piece.text.find_first_not_of(' ') != std::string::npos) {
        std::printf(R"(<text class="%s" x="%g" y="%g" textLength="%g" xml:space="preserve">%s</text>)"
                    "\n",
                    piece.style.c_str(), kMargin + static_cast<double>(column) * kColumn, y,
                    static_cast<double>(size) * kColumn, escaped(piece.text).c_str());
      }
      column += size;
    }
    y += kRow;
  }
  std::puts("</svg>");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 5) return 2;
  std::ifstream file(argv[1]);
  if (!file) return std::fprintf(stderr, "cannot read %s\n", argv[1]), 1;
  std::vector<Line> rows{{{"dim", "$ "}, {"", argv[2]}}};
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (argc == 5) {
    std::size_t const first = text.rfind('\n', text.find(argv[3])) + 1;
    text = text.substr(first, text.find('\n', text.find(argv[4], first)) - first);
  }
  text = with_closed_sections(std::move(text));
  bool const has_styles = text.find('\x1b') != text.npos;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<Line> const more = wrapped(has_styles ? styled(line) : coloured(line));
    rows.insert(rows.end(), more.begin(), more.end());
  }
  draw(rows);
}
