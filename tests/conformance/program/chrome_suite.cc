// The cases of chrome.json: the complete text of a trace in the reference's form, without its times.
#include <map>
#include <string>
#include <utility>

#include "printed_text.h"
#include "scenario.h"
#include "suite.h"
#include "tracing_core/export/chrome.h"

namespace conformance {
namespace {

tracing::ChromeStyle style(std::string const& text) {
  if (text == "Threaded") return tracing::ChromeStyle::threaded;
  if (text == "Async") return tracing::ChromeStyle::async;
  throw BadCase("unknown style: " + text);
}

tracing::ChromeOptions chrome_options(Json const& config) {
  ObjectReader reader(config, "the config");
  tracing::ChromeOptions options;
  options.as_tracing_chrome = true;
  options.style = style(reader.get<std::string>("style"));
  options.include_args = reader.get_or("include_args", false);
  options.include_locations = reader.get_or("include_locations", true);
  reader.finish();
  return options;
}

// Replaces each number after `key` by `replace(number)`. It finds only members of the records: arguments are strings,
// and in strings quotes are escaped.
template <class F>
void replace_numbers(std::string& text, std::string const& key, F replace) {
  for (std::size_t at = text.find(key); at != text.npos; at = text.find(key, at)) {
    at += key.size();
    std::size_t const end = text.find_first_not_of("0123456789.e+-", at);
    if (end == at) continue;
    text.replace(at, end - at, replace(text.substr(at, end - at)));
  }
}

Json trace(Json const& input, std::size_t) {
  ObjectReader reader(input, "the input");
  Scenario& scenario = Scenario::start(reader.at("callsites"));
  Json const& operations = reader.at("ops");
  tracing::ChromeOptions options = chrome_options(reader.at("config"));
  reader.finish();

  auto& text = *new std::string;  // never destroyed, like the registry
  options.sink = tracing::make_sink([&text](tracing::Level, std::string_view records) { text += records; });
  {
    auto [layer, guard] = tracing::chrome_layer(std::move(options));
    tracing::set_global_default(tracing::RegistryBuilder().with(std::move(layer)).build());
    for (Json const& operation : operations) scenario.play(operation);
  }
  replace_numbers(text, "\"ts\":", [](std::string const& number) {
    if (number.find('.') == number.npos) throw BadCase("not a time as the reference writes it: " + number);
    return std::string("0.0");
  });
  return {{"text", text}};
}

// Replaces ids by numbers in the order in which they appear, so that only the equality of ids is compared.
void count_ids(Json& answer) {
  auto const text = answer.find("text");
  if (text == answer.end() || !text->is_string()) return;
  std::map<std::string, std::string> seen;
  auto counted = text->get<std::string>();
  replace_numbers(counted, ",\"id\":", [&](std::string const& id) {
    return seen.try_emplace(id, std::to_string(seen.size() + 1)).first->second;
  });
  *text = counted;
}

}  // namespace

constinit Suite const kChrome{.file = "chrome", .tasks_per_process = 1, .answer = trace, .normalise = count_ids};

}  // namespace conformance
