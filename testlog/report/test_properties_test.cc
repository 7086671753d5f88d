#include "testlog/report/test_properties.h"

#include <gtest/gtest.h>

#include <string>

namespace testlog { namespace {

TEST(TestProperties, HaveCharactersOfXmlAlone) {
  EXPECT_EQ(beginning_for_xml("\x1b[31mERROR\x1b[0m: a\tb\n", 100), "ERROR: a\tb\n");
  EXPECT_EQ(beginning_for_xml("\x1b \x07 \xff \uffff \u00e9 \U0001f600", 100),
            "\\x1b \\x07 \\xff \\u{ffff} \u00e9 \U0001f600");
  EXPECT_EQ(beginning_for_xml(std::string(1, '\0') + "\x1b[", 100), "\\x00");
}

TEST(TestProperties, AreCutAfterALineOrACharacter) {
  EXPECT_EQ(beginning_for_xml("one\ntwo\n", 8), "one\ntwo\n");
  EXPECT_EQ(beginning_for_xml("one\ntwo\nthree\n", 12), "one\ntwo\n...");
  EXPECT_EQ(beginning_for_xml("one\ntwo\nthree\n", 8), "one\n...");
  EXPECT_EQ(beginning_for_xml("\u00e9\u00e9\u00e9\u00e9\u00e9", 8), "\u00e9\u00e9...");
  EXPECT_EQ(beginning_for_xml("\x01\x01\x01", 7), "\\x01...");
  EXPECT_EQ(beginning_for_xml("\uffff\uffff", 12), "\\u{ffff}...");
}

TEST(TestProperties, HaveTheBeginningOfALongLineAfterAShortOne) {
  EXPECT_EQ(beginning_for_xml("one\n" + std::string(50, 'x'), 40), "one\n" + std::string(33, 'x') + "...");
}

}}  // namespace testlog
