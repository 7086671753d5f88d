#include "tracing_core/cuda/included_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unordered_set>
#include <utility>

namespace tracing::inline v1::cuda::internal {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";
constexpr std::size_t kMostBetween = 4096;  // characters of comments before a word, lest the time be more than linear

bool is_name_character(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// A backslash at the end of a line makes the next one part of it, also within a word.
std::string joined_lines(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  while (!source.empty()) {
    std::size_t const at = source.find('\\');
    text.append(source.substr(0, at));
    if (at == source.npos) break;
    source.remove_prefix(at + 1);
    std::size_t const end = source.find_first_not_of(kBlanks);
    if (end != source.npos && source[end] == '\n') source.remove_prefix(end + 1);
    else text += '\\';
  }
  return text;
}

void skip_blanks_and_comments(std::string_view& text) {
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    if (!text.starts_with("/*")) return;
    std::size_t const end = text.find("*/", 2);
    text.remove_prefix(end == text.npos ? text.size() : end + 2);
  }
}

std::string_view take_word(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && is_name_character(text[length])) ++length;
  std::string_view const word = text.substr(0, length);
  text.remove_prefix(length);
  return word;
}

// Whether nothing but blanks and comments stands before this place in its line: then it is a directive.
bool begins_line(std::string_view before) {
  std::size_t const line = before.rfind('\n');
  if (line != before.npos) before.remove_prefix(line + 1);
  std::size_t const comment = before.rfind("*/");
  if (comment != before.npos) before.remove_prefix(comment + 2);
  return before.find_first_not_of(kBlanks) == before.npos;
}

// Takes what `rest` begins with for the operand of an #include or __has_include.
void add_operand(IncludeNames& result, std::string_view rest, bool certain) {
  skip_blanks_and_comments(rest);
  char const open = rest.empty() ? '\0' : rest.front();
  if (open == '"' || open == '<') {
    std::string_view name = rest.substr(1, rest.find('\n') - 1);
    std::size_t const end = name.find(open == '<' ? '>' : '"');
    if (end != name.npos) result.names.emplace_back(name.substr(0, end));
  } else if (certain && result.computed.empty()) {
    result.computed = take_word(rest);
  }
}

// The value of an option that is written `-name=value`, `-namevalue` or in two pieces.
class Options {
 public:
  explicit Options(std::vector<std::string> pieces) : pieces_(std::move(pieces)) {}

  std::vector<std::string> values(std::initializer_list<std::string_view> names, bool joined) const {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      for (std::string_view const name : names) {
        std::string_view piece = pieces_[i];
        if (piece == name) {
          if (i + 1 < pieces_.size()) values.push_back(pieces_[i + 1]);
        } else if (piece.starts_with(name)) {
          piece.remove_prefix(name.size());
          if (piece.front() == '=') values.emplace_back(piece.substr(1));
          else if (joined) values.emplace_back(piece);
        }
      }
    }
    return values;
  }

 private:
  std::vector<std::string> pieces_;
};

void add_pieces(std::vector<std::string>& pieces, char const* variable, std::string_view separators) {
  char const* const value = std::getenv(variable);
  std::string_view text = value == nullptr ? "" : value;
  while (!text.empty()) {
    std::size_t const end = text.find_first_of(separators);
    if (end != 0) pieces.emplace_back(text.substr(0, end));
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
  }
}

std::optional<std::string> read_file(std::string const& path) {
  int const file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return std::nullopt;
  struct stat status {};
  std::optional<std::string> content;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
    content.emplace();
    content->resize(static_cast<std::size_t>(status.st_size));
    std::size_t size = 0;
    ssize_t got = 0;
    while (size < content->size() && (got = read(file, content->data() + size, content->size() - size)) > 0)
      size += static_cast<std::size_t>(got);
    content->resize(size);
  }
  close(file);
  return content;
}

std::string folder_of(std::string const& path) {
  std::size_t const slash = path.rfind('/');
  return slash == path.npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
}

class Search {
 public:
  explicit Search(CompileRequest const& request) {
    std::vector<std::string> pieces = request.options;
    add_pieces(pieces, "NVRTC_PREPEND_FLAGS", " \t\n");
    add_pieces(pieces, "NVRTC_APPEND_FLAGS", " \t\n");
    Options const options(std::move(pieces));
    folders_ = request.include_folders;
    for (std::string& folder : options.values({"-I", "--include-path"}, true)) folders_.push_back(std::move(folder));
    add_pieces(folders_, "CPPCX_INCLUDE_PATH", ":");
    folders_.push_back(folder_of(request.name));
    folders_.emplace_back(".");
    for (std::string const& name : options.values({"-include", "--pre-include", "-pre-include", "--preinclude"}, false))
      look_for(name, ".");
    look_into(request.source, folder_of(request.name));
    for (MemoryHeader const& header : request.headers) look_into(header.source, folder_of(header.name));
    // Grows while it is gone through.
    for (std::size_t i = 0; i < result_.files.size(); ++i)
      look_into(result_.files[i].content, folder_of(result_.files[i].path));
  }

  IncludedFiles take() { return std::move(result_); }

 private:
  void look_into(std::string_view source, std::string const& folder) {
    IncludeNames const includes = include_names(source);
    for (std::string const& name : includes.names) look_for(name, folder);
    if (!includes.computed.empty() && result_.why_unknown.empty())
      result_.why_unknown = "an #include is named by the macro " + includes.computed;
  }

  void look_for(std::string const& name, std::string const& folder) {
    if (name.empty() || !looked_for_.insert(folder + '\0' + name).second) return;
    if (name.front() == '/') return look_at(name);
    look_at(folder + "/" + name);
    for (std::string const& other : folders_) look_at(other + "/" + name);
  }

  void look_at(std::string const& path) {
    if (!looked_at_.insert(path).second) return;
    if (auto content = read_file(path)) result_.files.push_back({path, std::move(*content)});
  }

  std::vector<std::string> folders_;
  std::unordered_set<std::string> looked_for_;
  std::unordered_set<std::string> looked_at_;
  IncludedFiles result_;
};

}  // namespace

IncludeNames include_names(std::string_view source) {
  IncludeNames result;
  std::string const text = joined_lines(source);
  std::string_view const all = text;
  for (std::size_t at = all.find("include"); at != all.npos; at = all.find("include", at + 1)) {
    // `# include`, `#include_next`, `%:include`, each with comments between
    std::size_t const window = at > kMostBetween ? at - kMostBetween : 0;
    std::string_view before = all.substr(window, at - window);
    std::string_view rest = all.substr(at);
    std::string_view const word = take_word(rest);
    if (before.ends_with("__has_")) {
      skip_blanks_and_comments(rest);
      if (rest.starts_with('(')) add_operand(result, rest.substr(1), false);
      continue;
    }
    if (word != "include" && word != "include_next") continue;
    while (!before.empty()) {
      before = before.substr(0, before.find_last_not_of(kBlanks) + 1);
      if (!before.ends_with("*/")) break;
      std::size_t const open = before.rfind("/*");
      before = before.substr(0, open == before.npos ? 0 : open);
    }
    if (before.ends_with('#')) before.remove_suffix(1);
    else if (before.ends_with("%:")) before.remove_suffix(2);
    else continue;
    add_operand(result, rest, begins_line(before));
  }
  return result;
}

IncludedFiles included_files(CompileRequest const& request) { return Search(request).take(); }

}  // namespace tracing::inline v1::cuda::internal
