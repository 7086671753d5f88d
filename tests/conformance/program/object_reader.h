// ObjectReader reads a JSON object and rejects unknown keys.
#pragma once

#include <nlohmann/json.hpp>

#include <set>
#include <stdexcept>
#include <string>
#include <utility>

namespace conformance {

using Json = nlohmann::json;

/// A case that cannot be run because of something unknown in it.
class BadCase : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads an object key by key. finish() throws BadCase if the object has other keys, so that no setting is ignored.
class ObjectReader {
 public:
  /// `what` names the object in errors. REQUIRES: `object` outlives this.
  ObjectReader(Json const& object, std::string what) : object_(object), what_(std::move(what)) {
    if (!object.is_object()) throw BadCase(what_ + " is not an object: " + object.dump());
  }

  /// Returns null if the key does not exist, or its value is null.
  Json const* find(std::string const& key) {
    read_.insert(key);
    auto const found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  Json const& at(std::string const& key) {
    Json const* const found = find(key);
    if (found == nullptr) throw BadCase(what_ + " has no `" + key + "`: " + object_.dump());
    return *found;
  }
  /// Returns the value of a key. Throws BadCase if it has another type.
  template <class T>
  T get(std::string const& key) {
    return convert<T>(key, at(key));
  }
  template <class T>
  T get_or(std::string const& key, T otherwise) {
    Json const* const found = find(key);
    return found == nullptr ? std::move(otherwise) : convert<T>(key, *found);
  }
  void finish() const {
    for (auto const& [key, value] : object_.items()) {
      if (!read_.contains(key)) throw BadCase(what_ + " has the unknown key `" + key + "`");
    }
  }

 private:
  template <class T>
  T convert(std::string const& key, Json const& value) const {
    try {
      return value.get<T>();
    } catch (Json::exception const&) {
      throw BadCase("`" + key + "` of " + what_ + " is of the wrong type: " + value.dump());
    }
  }

  Json const& object_;
  std::string what_;
  std::set<std::string> read_;
};

}  // namespace conformance
