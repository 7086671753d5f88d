#include "tracing_core/cuda/compile/compile_internal.h"
#include "tracing_core/support/characters.h"
#include "tracing_core/support/short_text.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <unordered_set>
#include <utility>

namespace tracing { inline namespace v1 { namespace cuda { namespace internal {
namespace {

using tracing::support::without_trailing;

constexpr std::string_view kBlanks = " \t\r\v\f";

void skip_blanks_and_comments(std::string_view& text) {
  while (true) {
    text = tracing::support::without_leading(text, kBlanks);
    if (!text.starts_with("/*")) return;
    std::size_t const end = text.find("*/", 2);
    text.remove_prefix(end == text.npos ? text.size() : end + 2);
  }
}

// Returns true if `before`, the text before the word `include`, ends with a line that has nothing but the `#` of a
// directive.
bool begins_directive(std::string_view before) {
  before = without_trailing(before, kBlanks);
  if (!before.ends_with('#')) return false;
  before = without_trailing(before.substr(0, before.size() - 1), kBlanks);
  return before.empty() || before.ends_with('\n') || before.ends_with("*/");
}

std::string folder_of(std::string const& path) {
  std::size_t const slash = path.rfind('/');
  return slash == path.npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
}

class Search {
 public:
  explicit Search(CompileRequest const& request) : folders_(request.include_folders) {
    for (std::string_view const option : request.options)
      for (std::string_view const prefix : {"-I", "--include-path="})
        if (option.starts_with(prefix)) folders_.emplace_back(option.substr(prefix.size()));
    folders_.push_back(folder_of(request.name));
    folders_.emplace_back(".");
    scan(request.source, folder_of(request.name));
    for (MemoryHeader const& header : request.headers) scan(header.source, folder_of(header.name));
    // Scanning a file may append further files.
    for (std::size_t i = 0; i < result_.files.size(); ++i)
      scan(result_.files[i].content, folder_of(result_.files[i].path));
  }

  IncludedFiles take() { return std::move(result_); }

 private:
  void scan(std::string_view source, std::string const& folder) {
    IncludeNames const includes = include_names(source);
    for (std::string const& name : includes.names) add(name, folder);
    if (!includes.macro.empty() && result_.why_unknown.empty())
      result_.why_unknown = "the macro " + includes.macro + " names an included file";
  }

  void add(std::string const& name, std::string const& folder) {
    if (name.empty()) return;
    if (name.front() == '/') return add_file(name);
    add_file(folder + "/" + name);
    for (std::string const& other : folders_) add_file(other + "/" + name);
  }

  void add_file(std::string const& path) {
    std::error_code ignored;
    if (!seen_.insert(path).second || !std::filesystem::is_regular_file(path, ignored)) return;
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) return;
    std::string content(static_cast<std::size_t>(std::max<std::streamoff>(file.tellg(), 0)), '\0');
    file.seekg(0).read(content.data(), static_cast<std::streamsize>(content.size()));
    content.resize(static_cast<std::size_t>(file.gcount()));
    result_.files.push_back({path, std::move(content)});
  }

  std::vector<std::string> folders_;
  std::unordered_set<std::string> seen_;
  IncludedFiles result_;
};

}  // namespace

IncludeNames include_names(std::string_view source) {
  IncludeNames result;
  constexpr std::string_view kWord = "include";
  for (std::size_t at = source.find(kWord); at != source.npos; at = source.find(kWord, at + 1)) {
    std::string_view rest = source.substr(at + kWord.size());
    if (rest.starts_with("_next")) rest.remove_prefix(5);
    if (!rest.empty() && tracing::support::is_word_character(rest.front())) continue;
    skip_blanks_and_comments(rest);
    if (rest.starts_with('(')) rest.remove_prefix(1);  // of __has_include
    skip_blanks_and_comments(rest);
    if (rest.starts_with('"') || rest.starts_with('<')) {
      std::size_t const end = rest.find_first_of(rest.front() == '<' ? ">\n" : "\"\n", 1);
      if (end != rest.npos && rest[end] != '\n') result.names.emplace_back(rest.substr(1, end - 1));
    } else if (result.macro.empty() && begins_directive(source.substr(0, at))) {
      result.macro = without_trailing(rest.substr(0, rest.find('\n')), kBlanks);
    }
  }
  return result;
}

IncludedFiles included_files(CompileRequest const& request) { return Search(request).take(); }

}}}}  // namespace tracing::v1::cuda::internal
