#include "tracing_core/inspect/stack_path.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace tracing::internal { namespace {

std::vector<std::string> frames_of(StackPath const& path) {
  std::vector<std::string> frames;
  for (std::size_t i = 0; i < path.size(); ++i) frames.emplace_back(path.frame(i));
  return frames;
}

using Frames = std::vector<std::string>;

TEST(StackPath, CountsSharedFrames) {
  StackPath path;
  EXPECT_EQ(path.go_to("main;load;parse"), 0u);
  EXPECT_EQ(frames_of(path), (Frames{"main", "load", "parse"}));
  EXPECT_EQ(path.go_to("main;load;parse"), 3u);
  EXPECT_EQ(path.go_to("main;load"), 2u);
  EXPECT_EQ(frames_of(path), (Frames{"main", "load"}));
  EXPECT_EQ(path.go_to("main;loader;x"), 1u) << "a name that begins like another is not that one";
  EXPECT_EQ(path.go_to("main;load"), 1u);
  EXPECT_EQ(path.go_to("mai"), 0u);
  EXPECT_EQ(frames_of(path), (Frames{"mai"}));
}

TEST(StackPath, KeepsFramesWithoutName) {
  StackPath path;
  path.go_to(";a;;b;");
  EXPECT_EQ(frames_of(path), (Frames{"", "a", "", "b", ""}));
  EXPECT_EQ(path.go_to(";a;"), 3u);
  EXPECT_EQ(path.go_to(""), 1u);
  EXPECT_EQ(frames_of(path), (Frames{""}));
}

TEST(StackPath, ReversesStacks) {
  StackPath path;
  path.go_to_reversed("main;load;parse");
  EXPECT_EQ(frames_of(path), (Frames{"parse", "load", "main"}));
  EXPECT_EQ(path.go_to_reversed("other;load;parse"), 2u);
  path.go_to_reversed(";a;");
  EXPECT_EQ(frames_of(path), (Frames{"", "a", ""}));
}

Frames split(std::string const& text) {
  Frames frames(1);
  for (char const c : text) {
    if (c == ';') {
      frames.emplace_back();
    } else {
      frames.back() += c;
    }
  }
  return frames;
}

TEST(StackPath, AgreesWithComparingFrameByFrame) {
  std::mt19937 random(1);
  StackPath path;
  Frames last;
  for (int i = 0; i < 20'000; ++i) {
    std::string stack;
    for (std::size_t size = random() % 8; size > 0; --size) stack += "ab;;"[random() % 4];
    Frames const frames = split(stack);
    std::size_t shared = 0;
    while (shared < last.size() && shared < frames.size() && last[shared] == frames[shared]) ++shared;
    ASSERT_EQ(path.go_to(stack), shared) << stack;
    ASSERT_EQ(frames_of(path), frames) << stack;
    last = frames;
  }
}

}}  // namespace tracing::internal
