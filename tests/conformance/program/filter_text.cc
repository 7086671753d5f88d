#include "filter_text.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace conformance {

tracing::Directive directive_of(std::string const& text) {
  tracing::ParseError error;
  auto directive = tracing::Directive::parse(text, &error, tracing::ValueSyntax::regex);
  if (!directive) throw BadCase("`" + text + "` is no directive: " + error.message);
  return *std::move(directive);
}

FilterSettings::FilterSettings(ObjectReader& reader) {
  text = reader.get<std::string>("filter");
  options.regex = reader.get_or("regex", true);
  options.literal_text = false;
  if (reader.find("default_directive") != nullptr) {
    options.default_directive = directive_of(reader.get<std::string>("default_directive"));
  }
  added = reader.get_or<std::vector<std::string>>("add_directives", {});
}

tracing::EnvFilter FilterSettings::make() const {
  std::vector<tracing::ParseError> ignored;
  auto filter = tracing::EnvFilter::parse_lossy(text, options, &ignored);
  for (std::string const& directive : added) filter.add_directive(directive_of(directive));
  return filter;
}

std::string_view name_of(tracing::Interest interest) {
  switch (interest) {
    case tracing::Interest::never: return "never";
    case tracing::Interest::sometimes: return "sometimes";
    case tracing::Interest::always: return "always";
  }
  return "unknown";
}

StderrCapture::StderrCapture()
    : file_(memfd_create("stderr", MFD_CLOEXEC)), before_(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) {
  std::fflush(stderr);
  if (file_ < 0 || before_ < 0 || dup2(file_, STDERR_FILENO) < 0) {
    throw std::system_error(errno, std::generic_category(), "redirecting stderr");
  }
}

StderrCapture::~StderrCapture() {
  std::fflush(stderr);
  dup2(before_, STDERR_FILENO);
  close(before_);
  close(file_);
}

std::string StderrCapture::text() const {
  std::fflush(stderr);
  std::string out;
  char room[4096];
  while (true) {
    ssize_t const count = pread(file_, room, sizeof(room), static_cast<off_t>(out.size()));
    if (count <= 0) return out;
    out.append(room, static_cast<std::size_t>(count));
  }
}

}  // namespace conformance
