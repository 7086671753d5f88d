#include "tracing_core/cuda/compile/compile_internal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/cuda/compile/compile_test_support.h"

namespace tracing::cuda_test { namespace {

using cuda::CompileRequest;
using cuda::internal::include_names;
using cuda::internal::included_files;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

struct Case {
  char const* what;
  std::string_view source;
  std::vector<std::string> names;
  char const* macro = "";
};

TEST(IncludeNames, FindsNamesAndMacros) {
  Case const cases[] = {
      {"nothing", "", {}},
      {"both forms", "#include \"a.h\"\n#include <b/c.h>\n", {"a.h", "b/c.h"}},
      {"blanks", " \t#  include\t<a.h>", {"a.h"}},
      {"no blank", "#include<a.h>\n#include\"b.h\"\n", {"a.h", "b.h"}},
      {"include_next", "#include_next <a.h>\n", {"a.h"}},
      {"comments", "/* x\n */ #include /* z */ <a.h>\n", {"a.h"}},
      {"__has_include", "#if __has_include(<a.h>) && __has_include ( \"b.h\" )\n", {"a.h", "b.h"}},
      {"disabled code", "#if 0\n#include <a.h>\n#endif\n// #include <b.h>\n", {"a.h", "b.h"}},
      {"the word only", "int include = 3; x(include); #included <a.h>\n#includes\n", {}},
      {"no end", "#include <a.h\n#include \"b.h\n#include <", {}},
      {"a macro", "#define H <a.h>\n#include H\n", {}, "H"},
      {"a macro with arguments", "/* a\n b */ # include H(x) \n", {}, "H(x)"},
      {"a continued line", "#include \\\n<b.h>\n", {}, "\\"},
      {"the word in a comment", "// say #include to get it\n * use #include too\n", {}},
      {"__has_include of a macro", "#if __has_include(H)\n#endif", {}},
  };
  for (Case const& c : cases) {
    auto const found = include_names(c.source);
    EXPECT_EQ(found.names, c.names) << c.what;
    EXPECT_EQ(found.macro, c.macro) << c.what;
  }
}

class IncludedFiles : public ::testing::Test {
 protected:
  std::string write(std::string const& name, std::string const& content) { return files_.write(name, content); }
  std::vector<std::string> names(CompileRequest const& request) {
    std::vector<std::string> names;
    for (auto const& file : included_files(request).files) names.push_back(file.path.substr(files_.path().size() + 1));
    return names;
  }

  TemporaryFolder files_;
};

TEST_F(IncludedFiles, AreFoundInFoldersAndBesideTheIncludingFile) {
  write("a/first.h", "#include \"beside.h\"\n#include <deep/second.h>\n");
  write("a/beside.h", "#include \"first.h\"\n");
  write("b/deep/second.h", "#include \"third.h\"\n");
  write("b/deep/third.h", "");
  write("b/third.h", "in another folder under the same name");
  write("b/unused.h", "");
  CompileRequest request{.name = "nowhere/k.cu", .source = "#include <first.h>\n#include <missing.h>\n"};
  request.include_folders = {files_.path() + "/a"};
  request.options = {"-I" + files_.path() + "/b"};
  EXPECT_THAT(names(request),
              UnorderedElementsAre("a/first.h", "a/beside.h", "b/deep/second.h", "b/deep/third.h", "b/third.h"));
  request.options = {"--include-path=" + files_.path() + "/b"};
  EXPECT_EQ(names(request).size(), 5u);
  request.options = {};
  EXPECT_THAT(names(request), UnorderedElementsAre("a/first.h", "a/beside.h"));
}

TEST_F(IncludedFiles, AreFoundBesideTheSource) {
  write("beside.h", "");
  EXPECT_THAT(names({.name = files_.path() + "/k.cu", .source = "#include \"beside.h\"\n"}), ElementsAre("beside.h"));
  EXPECT_THAT(names({.name = "k.cu", .source = "#include \"" + files_.path() + "/beside.h\"\n"}),
              ElementsAre("beside.h"));
}

TEST_F(IncludedFiles, AreFoundInHeadersInMemory) {
  write("of_memory.h", "");
  CompileRequest request{.include_folders = {files_.path()}};
  request.headers = {{"memory.h", "#include <of_memory.h>\n"}};
  EXPECT_THAT(names(request), ElementsAre("of_memory.h"));
}

TEST_F(IncludedFiles, AreRegularFiles) {
  write("folder.h/file", "");
  ASSERT_EQ(mkfifo((files_.path() + "/pipe.h").c_str(), 0600), 0);
  EXPECT_THAT(names({.source = "#include <folder.h>\n#include <pipe.h>\n", .include_folders = {files_.path()}}),
              IsEmpty());
}

TEST_F(IncludedFiles, AreUnknownIfAMacroNamesThem) {
  write("a.h", "#include NAME\n");
  auto const found = included_files({.source = "#include <a.h>\n", .include_folders = {files_.path()}});
  EXPECT_EQ(found.why_unknown, "the macro NAME names an included file");
}

TEST_F(IncludedFiles, AreKnownForTheToolkitsHeaders) {
  auto const found = included_files({.source = "#include <cuda_fp16.h>\n", .include_folders = {TRACING_CUDA_INCLUDE}});
  EXPECT_EQ(found.why_unknown, "");
  EXPECT_GT(found.files.size(), 1u);
}

}}  // namespace tracing::cuda_test
