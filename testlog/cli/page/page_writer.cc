#include "testlog/cli/page/page_writer.h"

#include <utility>

#include "testlog/cli/base64.h"
#include "testlog/cli/page/page_assets.h"
#include "tracing_core/profile/gzip.h"

namespace testlog::cli::page {
namespace {

std::string bytes_of_hex(std::string_view hex) {
  auto const digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1]));
  return bytes;
}

std::string hash_of(std::string_view sha256) { return "'sha256-" + base64_of(bytes_of_hex(sha256)) + "'"; }

}  // namespace

std::string packed(std::string_view bytes) {
  using tracing::recording::Gzip;
  if (!Gzip::is_available()) return base64_of(bytes);
  std::string compressed;
  Gzip gzip([&compressed](std::string_view piece) { compressed += piece; });
  if (!gzip.write(bytes) || !gzip.finish()) return base64_of(bytes);
  return base64_of(compressed);
}

PageWriter::PageWriter(Out out) : out_(std::move(out)) {
  out_(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src ");
  out_(hash_of(kPageScriptSha256));
  out_("; style-src ");
  out_(hash_of(kPageStyleSha256));
  out_(
      "; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>testlog report</title>\n<style>");
  out_(kPageStyle);
  out_(
      "</style>\n</head>\n<body>\n<noscript>This report needs JavaScript. `testlog show` prints recordings without a "
      "browser.</noscript>\n");
}

void PageWriter::add(std::string_view id, std::string_view packed) {
  out_("<script type=\"text/plain\" id=\"");
  out_(id);
  out_("\">");
  out_(packed);
  out_("</script>\n");
}

void PageWriter::finish() {
  out_("<script>");
  out_(kPageScript);
  out_("</script>\n</body>\n</html>\n");
}

}  // namespace testlog::cli::page
