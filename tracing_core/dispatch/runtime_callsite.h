// Declares RuntimeCallsite, a callsite whose names are known only when the program runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tracing_core/dispatch/callsite.h"

namespace tracing::inline v1 {

/// The names of a callsite to be made at run time. Copied: nothing needs to outlive the making.
struct CallsiteDescription {
  Kind kind = Kind::event;
  std::string_view name = "event";
  std::string_view target{};
  Level level = Level::info;
  std::vector<std::string_view> fields{};  ///< at most 250, more are left out; a message is the field "message"
  std::string_view file{};                 ///< empty: not known
  std::optional<std::uint32_t> line{};     ///< empty: not known
  std::optional<std::string_view> module_path{};
  std::string_view function{};
  bool is_perf = false;                    ///< see Metadata::is_perf()
};

/// A callsite made at run time, for bridges and replayers. A handle: copies share the callsite; the last one frees it, but
/// not before the last span or kept record that names it is gone. So a program may make any number of names over its life
/// and pays for those it holds. Copying is thread-safe.
class RuntimeCallsite {
 public:
  explicit RuntimeCallsite(CallsiteDescription const& description);
  RuntimeCallsite(RuntimeCallsite const& other) noexcept;
  RuntimeCallsite& operator=(RuntimeCallsite other) noexcept {
    std::swap(owned_, other.owned_);
    return *this;
  }
  ~RuntimeCallsite();

  Callsite& callsite() const noexcept;
  Metadata const& metadata() const noexcept { return callsite().metadata(); }

 private:
  struct Owned;
  friend void retain(Metadata const& metadata) noexcept;
  friend void release(Metadata const& metadata) noexcept;
  friend bool knows_line(Metadata const& metadata) noexcept;

  Owned* owned_;
};

/// Whether the line of a callsite is known. Macros know theirs; a callsite made at run time may say that it is 0, which
/// Metadata::line() alone does not tell from saying nothing.
bool knows_line(Metadata const& metadata) noexcept;

/// Keeps metadata made at run time until release(), for collectors that keep records. For metadata made at compile time
/// there is nothing to do, and nothing is done. Thread-safe.
void retain(Metadata const& metadata) noexcept;
void release(Metadata const& metadata) noexcept;

}  // namespace tracing::inline v1
