// RuntimeCallsite: a callsite whose names become known only at run time.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tracing_core/dispatch/callsite.h"

namespace tracing { inline namespace v1 {

/// The names of a callsite that is created at run time. The callsite copies them.
struct CallsiteDescription {
  Kind kind = Kind::event;
  std::string_view name = "event";
  std::string_view target{};
  Level level = Level::info;
  std::vector<std::string_view> fields{};  ///< at most 250, further fields are left out; a message is the field
                                           ///< "message"
  std::string_view file{};                 ///< empty if unknown
  std::optional<std::uint32_t> line{};     ///< empty if unknown
  std::optional<std::string_view> module_path{};
  std::string_view function{};
  bool is_perf = false;        ///< see Metadata::is_perf()
  bool is_annotation = false;  ///< see Metadata::is_annotation()
  bool is_permanent = false;   ///< the callsite is never freed, so its records cost what those of a macro cost
};

namespace internal {
/// Tells callsites made at run time apart, whose addresses are reused. Returns 0 for a callsite made at compile time.
std::uint64_t serial_of(Metadata const& metadata) noexcept;
}  // namespace internal

/// A callsite that is created at run time, for bridges and replayers. Copies share it by reference counting; spans and
/// stored records hold references, too. It is freed with the last reference, so a program may use any number of names
/// over its lifetime. Copying is thread-safe.
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
  friend std::uint64_t internal::serial_of(Metadata const& metadata) noexcept;

  Owned* owned_;
};

/// True if the line of a callsite is known. Metadata::line() returns 0 both for an unknown line and for the line 0,
/// which a RuntimeCallsite may be given.
bool knows_line(Metadata const& metadata) noexcept;

/// Keeps the metadata of a RuntimeCallsite until release(), for collectors that store records. Does nothing for
/// metadata created at compile time. Thread-safe.
void retain(Metadata const& metadata) noexcept;
void release(Metadata const& metadata) noexcept;

}}  // namespace tracing::v1
