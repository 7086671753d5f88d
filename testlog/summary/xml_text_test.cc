#include "testlog/summary/xml_text.h"

#include <gtest/gtest.h>

#include <string>

namespace testlog::summary { namespace {

TEST(XmlText, KeepsTextAndItsLines) {
  EXPECT_EQ(xml_text("one\n\ttwo  three\n"), "one\n\ttwo  three\n");
  EXPECT_EQ(xml_text("\u00e9 \U0001f600"), "\u00e9 \U0001f600");
  EXPECT_EQ(xml_text(""), "");
}

TEST(XmlText, EscapesWhatEndsText) {
  EXPECT_EQ(xml_text("]]></failure> & \"'"), "]]&gt;&lt;/failure&gt; &amp; &quot;'");
}

TEST(XmlText, RemovesColors) {
  EXPECT_EQ(xml_text("\x1b[1;31mERROR\x1b[0m: x\x1b[m"), "ERROR: x");
  EXPECT_EQ(xml_text("\x1b[2Kx\x1b["), "\\x1b[2Kx\\x1b[");
}

TEST(XmlText, EscapesWhatXmlDoesNotAllow) {
  EXPECT_EQ(xml_text(std::string("a\0\x01\x1b\x7f", 5)), "a\\x00\\x01\\x1b\\x7f");
  EXPECT_EQ(xml_text("\r\n"), "\\r\n");
  EXPECT_EQ(xml_text("\xff \xc3"), "\\xff \\xc3");
  EXPECT_EQ(xml_text("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(xml_text("\ufffe\uffff"), "\\u{fffe}\\u{ffff}");
  EXPECT_EQ(xml_text("\u2028\u2029"), "\\u{2028}\\u{2029}");
}

TEST(XmlText, IsOneLineInAttributes) {
  EXPECT_EQ(xml_attribute("name", "<a>\n\"b\"\t\x1b[0mc"), " name=\"&lt;a&gt;\\n&quot;b&quot;\\tc\"");
}

TEST(XmlText, IsBoundedInAttributes) {
  EXPECT_EQ(xml_attribute("n", "12345", 5), " n=\"12345\"");
  EXPECT_EQ(xml_attribute("n", "123456", 5), " n=\"12...\"");
  EXPECT_EQ(xml_attribute("n", std::string(1 << 20, '&')).size(), 5 + 5 * 1021 + 3);
}

}}  // namespace testlog::summary
