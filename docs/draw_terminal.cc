// Draws a picture of a terminal for the documentation: `draw_terminal FILE COMMAND` writes an SVG to the standard
// output, in which COMMAND printed the lines of FILE. Levels and spans are coloured as in a terminal; long lines are
// wrapped.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::size_t kColumns = 112;
constexpr double kColumn = 7.225, kRow = 17, kMargin = 12;  // pixels; a monospaced letter of 12 px is 7.225 wide

// Text in one style.
struct Piece {
  char const* style;
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

void draw(std::vector<Line> const& rows) {
  double const width = kColumns * kColumn + 2 * kMargin, height = static_cast<double>(rows.size()) * kRow + 2 * kMargin;
  std::printf(R"(<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %g %g">
<style>
text { font: 12px ui-monospace, "DejaVu Sans Mono", monospace; fill: #d6d6d0; white-space: pre; }
.dim { fill: #8a8a84; } .error { fill: #ff7b72; } .warn { fill: #e3b341; } .info { fill: #7ee787; } .debug { fill: #79c0ff; }
.trace { fill: #d2a8ff; } .spans { fill: #ffffff; font-weight: bold; }
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
                    piece.style, kMargin + static_cast<double>(column) * kColumn, y,
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
  if (argc != 3) return 2;
  std::ifstream file(argv[1]);
  if (!file) return std::fprintf(stderr, "cannot read %s\n", argv[1]), 1;
  std::vector<Line> rows{{{"dim", "$ "}, {"", argv[2]}}};
  for (std::string line; std::getline(file, line);) {
    std::vector<Line> const more = wrapped(coloured(line));
    rows.insert(rows.end(), more.begin(), more.end());
  }
  draw(rows);
}
