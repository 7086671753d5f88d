#include "tracing_core/format/json_names.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <set>
#include <string>
#include <vector>

namespace tracing::formatting { namespace {

std::vector<std::string> names_of(std::initializer_list<char const*> own, std::vector<std::string> const& fields) {
  JsonNames names;
  for (char const* const name : own) names.reserve(name);
  for (std::string const& field : fields) names.add(field);
  std::vector<std::string> all;
  for (std::size_t i = 0; i < fields.size(); ++i) all.emplace_back(names.name(i));
  return all;
}
using Names = std::vector<std::string>;

TEST(JsonNames, KeepsNamesThatAreFree) { EXPECT_EQ(names_of({"name"}, {"a", "names", ""}), (Names{"a", "names", ""})); }

TEST(JsonNames, PrefixesANameThatIsTaken) {
  EXPECT_EQ(names_of({"name", "level"}, {"level", "x", "name"}), (Names{"fields.level", "x", "fields.name"}));
  EXPECT_EQ(names_of({}, {"a", "b", "a"}), (Names{"a", "b", "fields.a"}));
}

TEST(JsonNames, NumbersANameWhosePrefixedFormIsTakenToo) {
  EXPECT_EQ(names_of({"name"}, {"name", "fields.name", "name"}),
            (Names{"fields.name", "fields.fields.name", "fields.3.name"}));
  EXPECT_EQ(names_of({}, {"a", "a", "a", "a"}), (Names{"a", "fields.a", "fields.3.a", "fields.4.a"}));
}

TEST(JsonNames, GivesEachOfManyFieldsItsOwnName) {
  std::vector<std::string> fields;
  for (int i = 0; i < 250; ++i) {
    fields.push_back(i % 5 == 0 ? "fields." + std::to_string(i + 3) + ".a" : i % 2 == 0 ? "a" : "fields.a");
  }
  std::vector<std::string> const names = names_of({"a", "fields.a"}, fields);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), fields.size());
}

}}  // namespace tracing::formatting
