// Draws what a program prints for the documentation: draw_terminal FILE COMMAND, a picture of a terminal in which COMMAND
// printed the lines of FILE, on the standard output. Levels and spans have the colours that a terminal shows them in; long
// lines go on in the next row.
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
constexpr double kColumn = 7.225, kRow = 17, kMargin = 12;  // of 12 px: a monospaced letter is 0.602 of its size wide

// A run of characters that look the same.
struct Piece {
  char const* look;
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

// Where the spans behind a level end: before the `: ` that is in no brace and no quotes.
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

Line painted(std::string_view line) {
  for (std::string_view const level : {"ERROR ", " WARN ", " INFO ", "DEBUG ", "TRACE "}) {
    std::size_t const at = line.find(level);
    // At the beginning, or behind a time.
    if (at == line.npos || (at != 0 && (line[0] < '0' || line[0] > '9'))) continue;
    std::string_view const rest = line.substr(at + level.size());
    std::size_t const spans = end_of_spans(rest);
    std::string const look(level.substr(level[0] == ' ', 1));
    char const* const color = look == "E"   ? "error"
                              : look == "W" ? "warn"
                              : look == "I" ? "info"
                              : look == "D" ? "debug"
                                            : "trace";
    return {{"dim", std::string(line.substr(0, at))},
            {color, std::string(level)},
            {"spans", std::string(rest.substr(0, spans))},
            {"", std::string(rest.substr(spans))}};
  }
  return {{"", std::string(line)}};
}

// In rows of the terminal's width.
std::vector<Line> wrapped(Line const& line) {
  std::vector<Line> rows(1);
  std::size_t column = 0;
  for (Piece const& piece : line) {
    rows.back().push_back({piece.look, ""});
    for (char const c : piece.text) {
      if (bool const begins = (c & 0xc0) != 0x80; begins && column++ == kColumns) {
        rows.push_back({{piece.look, ""}});
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
      // Each has its place and width, so that the columns stand below each other in any font.
      if (piece.text.find_first_not_of(' ') != std::string::npos) {
        std::printf(R"(<text class="%s" x="%g" y="%g" textLength="%g" xml:space="preserve">%s</text>)"
                    "\n",
                    piece.look, kMargin + static_cast<double>(column) * kColumn, y, static_cast<double>(size) * kColumn,
                    escaped(piece.text).c_str());
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
    std::vector<Line> const more = wrapped(painted(line));
    rows.insert(rows.end(), more.begin(), more.end());
  }
  draw(rows);
}
