#include "testlog/cli/otlp/otel_variables.h"

#include <strings.h>

#include <charconv>
#include <cstdlib>
#include <utility>

#include "tracing_core/profile/gzip.h"
#include "tracing_core/support/short_text.h"

namespace testlog::cli::otlp {
namespace {

using tracing::support::trimmed;

// Decodes `%20`. Returns false if the text has another percent sign.
bool decode_percent(std::string_view text, std::string& out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    std::string const digits(text.substr(i + 1, 2));
    if (digits.size() != 2 || digits.find_first_not_of("0123456789abcdefABCDEF") != digits.npos) return false;
    out.push_back(static_cast<char>(std::strtol(digits.c_str(), nullptr, 16)));
    i += 2;
  }
  return true;
}

void reject(std::string& reports, std::string_view variable, std::string_view value, std::string const& why) {
  reports.append("testlog: ").append(variable).append("=").append(value).append(": ").append(why).append("\n");
}

// A variable that is set for a signal, or for all signals.
struct Setting {
  std::string variable;
  std::string value;  // empty: unset
};

Setting setting_of(Signal signal, std::string const& name, GetVariable get) {
  std::string const of_signal =
      std::string("OTEL_EXPORTER_OTLP_") + (signal == Signal::traces ? "TRACES_" : "LOGS_") + name;
  for (std::string const& variable : {of_signal, "OTEL_EXPORTER_OTLP_" + name}) {
    char const* const value = get(variable.c_str());
    if (value != nullptr && *value != 0) return {variable, std::string(trimmed(value))};
  }
  return {};
}

// Splits a URL. Returns false if it is not one of HTTP.
bool split(std::string_view url, Endpoint& endpoint) {
  std::size_t const host = url.starts_with("http://") ? 7 : url.starts_with("https://") ? 8 : 0;
  std::size_t const end = url.find_first_of("/?#", host);
  std::string_view const server = url.substr(0, end);
  bool const is_url = host != 0 && server.size() > host && url.find_first_of(" \t\r\n@#") == url.npos;
  if (!is_url) return false;
  endpoint.server = server;
  endpoint.path = end == url.npos ? "" : url.substr(end);
  return true;
}

bool read_url(Signal signal, std::string const& url, GetVariable get, Endpoint& endpoint, std::string& reports) {
  Setting setting = setting_of(signal, "ENDPOINT", get);
  if (!url.empty()) setting = {"--otlp-http", url};
  if (setting.value.empty()) setting.value = "http://127.0.0.1:4318";
  if (!split(setting.value, endpoint)) {
    reject(reports, setting.variable, setting.value, "not a URL; expected one such as http://127.0.0.1:4318");
    return false;
  }
  bool const is_whole =
      setting.variable.find("TRACES") != std::string::npos || setting.variable.find("LOGS") != std::string::npos;
  if (!is_whole) {
    if (!endpoint.path.ends_with('/')) endpoint.path += '/';
    endpoint.path += signal == Signal::traces ? "v1/traces" : "v1/logs";
  }
  if (endpoint.path.empty()) endpoint.path = "/";
  return true;
}

void read_timeout(Setting const& setting, Endpoint& endpoint, std::string& reports) {
  if (setting.value.empty()) return;
  int number = 0;
  char const* const last = setting.value.data() + setting.value.size();
  auto const [end, error] = std::from_chars(setting.value.data(), last, number);
  if (error != std::errc() || end != last || number < 1)
    return reject(reports, setting.variable, setting.value, "not a valid time; expected milliseconds");
  endpoint.timeout = std::chrono::milliseconds(number);
}

// Reads one of two words. Returns true if it is the first.
bool read_choice(Setting const& setting, std::string_view first, std::string_view second, std::string& reports) {
  if (setting.value.empty() || setting.value == first || setting.value == second) return setting.value == first;
  reject(reports, setting.variable, setting.value,
         "unknown value; expected one of " + std::string(first) + ", " + std::string(second));
  return false;
}

}  // namespace

std::vector<KeyValue> read_list(std::string const& variable, std::string_view list, std::string& reports) {
  std::vector<KeyValue> all;
  for (std::string_view rest = list; !rest.empty();) {
    std::size_t const comma = rest.find(',');
    std::string_view const member = trimmed(rest.substr(0, comma));
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
    if (member.empty()) continue;
    std::size_t const equals = member.find('=');
    KeyValue one;
    bool const is_good = equals != member.npos && equals > 0 &&
                         decode_percent(trimmed(member.substr(0, equals)), one.key) &&
                         decode_percent(trimmed(member.substr(equals + 1)), one.value);
    if (!is_good) {
      reject(reports, variable, list,
             "bad member " + tracing::support::in_quotes(member) + "; expected name=value, with %20 for a blank");
      return {};
    }
    all.push_back(std::move(one));
  }
  return all;
}

std::optional<Endpoint> read_endpoint(Signal signal, std::string const& url, GetVariable get, std::string& reports) {
  Endpoint endpoint;
  if (!read_url(signal, url, get, endpoint, reports)) return std::nullopt;
  Setting const headers = setting_of(signal, "HEADERS", get);
  // Their values may be secret.
  std::string problem;
  endpoint.headers = read_list(headers.variable, headers.value, problem);
  if (!problem.empty())
    reject(reports, headers.variable, "...", "not a list of headers; expected name=value,name=value");
  read_timeout(setting_of(signal, "TIMEOUT", get), endpoint, reports);
  Setting const compression = setting_of(signal, "COMPRESSION", get);
  endpoint.is_compressed = read_choice(compression, "gzip", "none", reports);
  if (endpoint.is_compressed && !tracing::recording::Gzip::is_available()) {
    endpoint.is_compressed = false;
    reject(reports, compression.variable, "gzip",
           "this program was built without zlib (Debian: zlib1g-dev); expected none");
  }
  endpoint.is_json = read_choice(setting_of(signal, "PROTOCOL", get), "http/json", "http/protobuf", reports);
  return endpoint;
}

bool is_disabled(GetVariable get) {
  char const* const value = get("OTEL_SDK_DISABLED");
  return value != nullptr && strcasecmp(value, "true") == 0;
}

}  // namespace testlog::cli::otlp
