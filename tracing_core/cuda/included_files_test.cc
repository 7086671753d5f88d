#include "tracing_core/cuda/included_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/cuda/compile_test_support.h"

namespace tracing::cuda_test {
namespace {

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
  char const* computed = "";
};

TEST(IncludeNames, FindsTheNamesOfASource) {
  Case const cases[] = {
      {"nothing", "", {}},
      {"both forms", "#include \"a.h\"\n#include <b/c.h>\n", {"a.h", "b/c.h"}},
      {"blanks", " \t#  include\t<a.h>", {"a.h"}},
      {"no blank", "#include<a.h>\n#include\"b.h\"\n", {"a.h", "b.h"}},
      {"the next of a name", "#include_next <a.h>\n", {"a.h"}},
      {"another spelling of the hash", "%:include <a.h>\n", {"a.h"}},
      {"comments", "/* x */ # /* y */ include /* z */ <a.h>\n", {"a.h"}},
      {"a comment over lines", "/* x\n y */ #include <a.h>\n#/*\n*/include <b.h>\n", {"a.h", "b.h"}},
      {"a line that goes on", "#inc\\\nlude \\\n <a\\\n.h>\n#include \\ \n<b.h>\n", {"a.h", "b.h"}},
      {"the question whether there is one", "#if __has_include(<a.h>) && __has_include ( \"b.h\" )\n", {"a.h", "b.h"}},
      {"what is not compiled", "#if 0\n#include <a.h>\n#endif\n// #include <b.h>\n", {"a.h", "b.h"}},
      {"the word alone", "int include = 3; x(include); #included <a.h>\n#includes\n", {}},
      {"no end", "#include <a.h\n#include \"b.h\n#include <", {}},
      {"a macro", "#define H <a.h>\n#include H\n", {}, "H"},
      {"a macro behind a comment", "/* a\n b */ #include H(x)\n", {}, "H"},
      {"a macro in the text of a comment", "// say #include to get it\n * use #include too\n", {}},
      {"the question whether a macro's is there", "#if __has_include(H)\n#endif", {}},
  };
  for (Case const& c : cases) {
    auto const found = include_names(c.source);
    EXPECT_EQ(found.names, c.names) << c.what;
    EXPECT_EQ(found.computed, c.computed) << c.what;
  }
}

TEST(IncludeNames, TakesLinearTime) {
  std::string hostile;
  for (int i = 0; i < 20'000; ++i) hostile += "*/ include ";
  EXPECT_THAT(include_names(hostile).names, IsEmpty());
  hostile.assign(1'000'000, '\\');
  EXPECT_THAT(include_names(hostile).names, IsEmpty());
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

TEST_F(IncludedFiles, AreThoseOfTheFoldersAndTheirOwn) {
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
  request.options = {"-I", files_.path() + "/b"};
  EXPECT_EQ(names(request).size(), 5u);
  request.options = {};
  EXPECT_THAT(names(request), UnorderedElementsAre("a/first.h", "a/beside.h"));
}

TEST_F(IncludedFiles, AreThoseBesideTheSourceToo) {
  write("beside.h", "");
  EXPECT_THAT(names({.name = files_.path() + "/k.cu", .source = "#include \"beside.h\"\n"}), ElementsAre("beside.h"));
  EXPECT_THAT(names({.name = "k.cu", .source = "#include \"" + files_.path() + "/beside.h\"\n"}), ElementsAre("beside.h"));
}

TEST_F(IncludedFiles, AreThoseOfHeadersInMemoryAndOfOptions) {
  write("of_memory.h", "");
  write("forced.h", "");
  CompileRequest request{.include_folders = {files_.path()}};
  request.headers = {{"memory.h", "#include <of_memory.h>\n"}};
  request.options = {"--pre-include=forced.h"};
  EXPECT_THAT(names(request), UnorderedElementsAre("forced.h", "of_memory.h"));
  request.options = {"-include", "forced.h"};
  EXPECT_THAT(names(request), UnorderedElementsAre("forced.h", "of_memory.h"));
}

TEST_F(IncludedFiles, AreNoFoldersOrPipes) {
  write("folder.h/file", "");
  ASSERT_EQ(mkfifo((files_.path() + "/pipe.h").c_str(), 0600), 0);
  EXPECT_THAT(names({.source = "#include <folder.h>\n#include <pipe.h>\n", .include_folders = {files_.path()}}), IsEmpty());
}

TEST_F(IncludedFiles, AreUnknownWhereAMacroNamesThem) {
  write("a.h", "#include NAME\n");
  auto const found = included_files({.source = "#include <a.h>\n", .include_folders = {files_.path()}});
  EXPECT_EQ(found.why_unknown, "an #include is named by the macro NAME");
}

TEST_F(IncludedFiles, AreKnownOfTheToolkitsOwnHeaders) {
  auto const found = included_files({.source = "#include <cuda_fp16.h>\n", .include_folders = {TRACING_CUDA_INCLUDE}});
  EXPECT_EQ(found.why_unknown, "");
  EXPECT_GT(found.files.size(), 1u);
}

}  // namespace
}  // namespace tracing::cuda_test
