// PrometheusText strictly reads the text that Prometheus scrapes (exposition format 0.0.4).
#pragma once

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace tracing_test {

/// The samples of a text, and the first error in it. Stricter than scrapers are: each family has HELP, then TYPE, then
/// its samples, and the only blanks are the separators.
class PrometheusText {
 public:
  using Labels = std::map<std::string, std::string>;

  explicit PrometheusText(std::string_view text) {
    if (!is_utf8(text)) fail("not UTF-8", "");
    if (!text.ends_with('\n')) fail("no newline at the end", "");
    while (!text.empty() && problem_.empty()) {
      std::size_t const end = text.find('\n');
      take_line(text.substr(0, end));
      text.remove_prefix(end + 1);
    }
  }

  /// Returns the first error; empty if the text is valid.
  std::string const& problem() const { return problem_; }
  std::map<std::pair<std::string, Labels>, double> const& samples() const { return samples_; }
  std::optional<double> find(std::string const& metric, Labels const& labels) const {
    auto const found = samples_.find({metric, labels});
    return found == samples_.end() ? std::nullopt : std::optional<double>(found->second);
  }

 private:
  static bool is_utf8(std::string_view text) {
    try {
      (void)nlohmann::json(text).dump();
      return true;
    } catch (nlohmann::json::exception const&) {
      return false;
    }
  }

  void fail(std::string_view what, std::string_view line) {
    if (problem_.empty()) problem_ = std::string(what) + ": " + std::string(line.substr(0, 200));
  }

  void take_line(std::string_view line) {
    if (line.starts_with("# HELP ")) return take_help(line.substr(7));
    if (line.starts_with("# TYPE ")) return take_type(line.substr(7));
    if (line.starts_with("#") || line.empty()) return fail("a comment or an empty line", line);
    take_sample(line);
  }

  void take_help(std::string_view rest) {
    family_ = std::string(take_name(rest, true));
    type_.clear();
    if (family_.empty() || !rest.starts_with(" ") || rest.find('\\') != rest.npos) fail("malformed HELP", rest);
    if (!families_.insert(family_).second) fail("a family appears twice", family_);
  }

  void take_type(std::string_view rest) {
    if (!rest.starts_with(family_ + " ")) return fail("TYPE of another family", rest);
    type_ = std::string(rest.substr(family_.size() + 1));
    if (type_ != "summary" && type_ != "counter" && type_ != "gauge") fail("unknown type", rest);
  }

  void take_sample(std::string_view line) {
    std::string_view rest = line;
    std::string const metric(take_name(rest, true));
    Labels labels;
    if (rest.starts_with("{") && !take_labels(rest, labels)) return fail("malformed labels", line);
    if (!rest.starts_with(" ")) return fail("no blank before the value", rest);
    std::string const digits(rest.substr(1));
    char* end = nullptr;
    double const value = std::strtod(digits.c_str(), &end);
    if (digits.empty() || digits.find_first_not_of("0123456789.e-+") != digits.npos || *end != '\0')
      fail("not a number", rest);
    bool const is_summary = type_ == "summary";
    bool const is_part = is_summary && (metric == family_ + "_sum" || metric == family_ + "_count");
    if (type_.empty() || (metric != family_ && !is_part)) fail("belongs to no family", line);
    if (labels.contains("quantile") != (is_summary && !is_part)) fail("misplaced quantile", line);
    if (!samples_.emplace(std::pair(metric, std::move(labels)), value).second) fail("duplicate sample", line);
  }

  static std::string_view take_name(std::string_view& text, bool is_metric) {
    std::size_t size = 0;
    auto const is_letter = [&](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (is_metric && c == ':');
    };
    while (size < text.size() && (is_letter(text[size]) || (size > 0 && text[size] >= '0' && text[size] <= '9')))
      ++size;
    std::string_view const name = text.substr(0, size);
    text.remove_prefix(size);
    return name;
  }

  static bool take_labels(std::string_view& text, Labels& labels) {
    do {
      text.remove_prefix(1);  // `{` or `,`
      std::string const name(take_name(text, false));
      if (name.empty() || !text.starts_with("=\"")) return false;
      text.remove_prefix(2);
      std::string value;
      for (; !text.empty() && text.front() != '"'; text.remove_prefix(1)) {
        bool const is_escape = text.front() == '\\';
        if (is_escape) text.remove_prefix(1);
        char const c = text.empty() ? '\0' : text.front();
        if (is_escape && c != '\\' && c != '"' && c != 'n') return false;
        value += is_escape && c == 'n' ? '\n' : c;
      }
      if (text.empty() || !labels.emplace(name, std::move(value)).second) return false;
      text.remove_prefix(1);
    } while (text.starts_with(","));
    if (!text.starts_with("}")) return false;
    text.remove_prefix(1);
    return true;
  }

  std::string problem_;
  std::string family_;
  std::string type_;
  std::set<std::string> families_;
  std::map<std::pair<std::string, Labels>, double> samples_;
};

}  // namespace tracing_test
