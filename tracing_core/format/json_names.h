// JsonNames: gives each field of a record a unique name in a JSON object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tracing_core/model/field_values.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing { inline namespace v1 { namespace formatting {

// The names of an object's members. If a field's name is taken, by the object's own member or by an earlier field, the
// field gets the name `fields.<name>`. If the n-th field finds this name taken, too, it gets `fields.<n>.<name>`.
class JsonNames {
 public:
  JsonNames() noexcept { begins_[0] = 0; }

  // Adds the name of one of the object's own members. Call it before add().
  void reserve(std::string_view name) noexcept {
    begin(name);
    begins_[++count_] = static_cast<std::uint32_t>(texts_.size());
    reserved_ = count_;
  }
  // Adds the next field; returns its number.
  std::size_t add(std::string_view name) noexcept {
    std::size_t const number = count_ - reserved_;
    begin(name);
    if (is_taken()) {
      begin("fields.");
      texts_.append(name);
    }
    if (is_taken()) {
      begin("fields.");
      texts_.append_uint(number + 1);
      texts_.push_back('.');
      texts_.append(name);
    }
    while (is_taken() && !texts_.truncated()) texts_.push_back('_');
    begins_[++count_] = static_cast<std::uint32_t>(texts_.size());
    return number;
  }
  // Returns the name of a field; valid until the next add().
  std::string_view name(std::size_t field) const noexcept { return at(reserved_ + field); }

  // Adds all fields of a callsite.
  void add_all(Metadata const& metadata) noexcept {
    for (std::size_t i = 0; i < metadata.parts().field_count; ++i) add(metadata.fields()[i]);
  }

 private:
  static constexpr std::size_t kMax = 300;  // more than the fields of a callsite and the own members of an object

  void begin(std::string_view name) noexcept {
    texts_.resize_down(begins_[count_]);
    texts_.append(name);
  }
  std::string_view at(std::size_t index) const noexcept {
    return texts_.view().substr(begins_[index], begins_[index + 1] - begins_[index]);
  }
  bool is_taken() const noexcept {
    std::string_view const name = texts_.view().substr(begins_[count_]);
    for (std::size_t i = 0; i < count_; ++i) {
      if (at(i) == name) return true;
    }
    return false;
  }

  InlineTextBuffer<512> texts_;
  std::uint32_t begins_[kMax + 1];
  std::size_t count_ = 0;
  std::size_t reserved_ = 0;
};

}}}  // namespace tracing::v1::formatting
