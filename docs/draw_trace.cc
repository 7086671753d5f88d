// Draws a Chrome trace for the documentation, as SVG on standard output: a row for each level of nested spans of each
// thread, a bar for each span, a diamond for each event. Accepts only traces of ChromeStyle::threaded in which every
// end has a beginning.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

using Json = nlohmann::json;

constexpr double kWidth = 900, kLabels = 104, kRow = 20, kTop = 44;
constexpr int kTicks = 6;
constexpr char const* kColors[] = {"#9ecbe8", "#f2c78f", "#b5dba4", "#e3b3d6"};

struct Bar {
  Json const* begin;
  double end_us;
  std::size_t depth;
};

struct Thread {
  std::string name;
  std::vector<Bar> bars;
  std::vector<std::size_t> open;
  std::vector<Json const*> events;
  std::size_t rows = 1;
  double first_us = 1e300;
};

[[noreturn]] void fail(char const* why, Json const& record) {
  std::fprintf(stderr, "%s: %s\n", why, record.dump().c_str());
  std::exit(1);
}

std::string escaped(std::string const& text) {
  std::string out;
  for (char const c : text) out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

// ` layers=2`, without the location in the source and the name that is that of the span.
std::string arguments(Json const& record) {
  std::string out;
  if (!record.contains("args")) return out;
  for (auto const& [name, value] : record["args"].items()) {
    if (name[0] != '.' && name != "kernel.name") out += ' ' + name + '=' + value.dump();
  }
  return out;
}

class Picture {
 public:
  explicit Picture(Json const& records) {
    for (Json const& record : records) read(record);
    // In the order of time; threads come before streams of devices, whose numbers are greater than any of the system's.
    std::stable_sort(order_.begin(), order_.end(), [this](double a, double b) {
      bool const is_stream_a = a >= 1 << 30, is_stream_b = b >= 1 << 30;
      return is_stream_a != is_stream_b ? is_stream_b : threads_[a].first_us < threads_[b].first_us;
    });
    for (auto const& [tid, thread] : threads_) {
      if (!thread.open.empty()) fail("a span has no end", *thread.bars[thread.open.back()].begin);
    }
  }

  void draw() const {
    double height = kTop + 12;
    for (double const tid : order_) height += static_cast<double>(threads_.at(tid).rows) * kRow + 12;
    std::printf(R"(<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %g %g">
<style>
text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: #222; }
.time { font-size: 10px; fill: #666; text-anchor: end; }
.bar text { font: 11px ui-monospace, "DejaVu Sans Mono", monospace; }
</style>
<rect fill="#fcfcfa" width="%g" height="%g"/>
<text x="8" y="18">%s</text>
)",
                kWidth, height, kWidth, height, kWidth, height, escaped(process_).c_str());
    for (int i = 1; i <= kTicks; ++i) {
      double const at = x(first_us_ + (last_us_ - first_us_) * i / kTicks);
      std::printf(R"(<path d="M%.1f 26V%g" stroke="#e3e1d9"/><text class="time" x="%.1f" y="36">%.2f ms</text>)"
                  "\n",
                  at, height, at - 3, (last_us_ - first_us_) * i / kTicks / 1000);
    }
    double y = kTop;
    for (double const tid : order_) {
      draw(threads_.at(tid), y);
      y += static_cast<double>(threads_.at(tid).rows) * kRow + 12;
    }
    std::puts("</svg>");
  }

 private:
  void read(Json const& record) {
    Thread& thread = threads_[record.at("tid")];
    std::string const phase = record.at("ph");
    if (phase == "M") return record["name"] == "thread_name" ? name_thread(thread, record) : name_process(record);
    double const us = record.at("ts");
    if (first_us_ < 0 || us < first_us_) first_us_ = us;
    last_us_ = std::max(last_us_, us);
    thread.first_us = std::min(thread.first_us, us);
    if (phase == "B") {
      thread.bars.push_back({&record, us, thread.open.size()});
      thread.open.push_back(thread.bars.size() - 1);
      thread.rows = std::max(thread.rows, thread.open.size());
    } else if (phase == "E") {
      if (thread.open.empty()) fail("an end without a beginning", record);
      Bar& bar = thread.bars[thread.open.back()];
      if (bar.begin->at("name") != record.at("name")) fail("this end is of another span", record);
      bar.end_us = us;
      thread.open.pop_back();
    } else if (phase == "i") {
      thread.events.push_back(&record);
    } else {
      fail("unknown phase", record);
    }
  }
  void name_process(Json const& record) { process_ = record["args"]["name"]; }
  void name_thread(Thread& thread, Json const& record) {
    thread.name = record["args"]["name"];
    order_.push_back(record["tid"]);
  }

  void draw(Thread const& thread, double y) const {
    std::printf("<text x=\"8\" y=\"%g\">%s</text>\n", y + 14, escaped(thread.name).c_str());
    for (Bar const& bar : thread.bars) {
      std::string const name = bar.begin->at("name");
      double const begin_us = bar.begin->at("ts");
      std::size_t color = 0;
      for (char const c : name) color = color * 31 + static_cast<unsigned char>(c);
      // A nested <svg> clips its content.
      std::printf(R"(<svg class="bar" x="%.1f" y="%g" width="%.1f" height="%g"><title>%s: %.3f ms</title>)"
                  R"(<rect fill="%s" width="100%%" height="100%%"/><text x="4" y="13">%s</text></svg>)"
                  "\n",
                  x(begin_us), y + static_cast<double>(bar.depth) * kRow,
                  std::max(1.0, x(bar.end_us) - x(begin_us) - 0.7), kRow - 2, escaped(name).c_str(),
                  (bar.end_us - begin_us) / 1000, kColors[color % std::size(kColors)],
                  escaped(name + arguments(*bar.begin)).c_str());
    }
    for (Json const* const event : thread.events) {
      std::printf(R"(<path d="M%.1f %gl4 4-4 4-4-4z" fill="#a3129c"><title>%s</title></path>)"
                  "\n",
                  x(event->at("ts")), y + static_cast<double>(thread.rows) * kRow - 1,
                  escaped(event->at("name").get<std::string>() + arguments(*event)).c_str());
    }
  }
  double x(double us) const {
    return kLabels + (kWidth - kLabels - 8) * (us - first_us_) / std::max(1e-3, last_us_ - first_us_);
  }

  std::string process_;
  std::map<double, Thread> threads_;
  std::vector<double> order_;
  double first_us_ = -1, last_us_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream file(argv[1]);
  Json const trace = Json::parse(file);  // throws if it is not strict JSON
  Picture(trace.is_object() ? trace.at("traceEvents") : trace).draw();
}
