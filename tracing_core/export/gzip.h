// Gzip: compresses what is written to a file.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

namespace tracing::inline v1::internal {

// Needs zlib, which the library may have been built without. Single-thread.
class Gzip {
 public:
  using Out = std::function<void(std::string_view)>;
  static bool is_available() noexcept;

  // REQUIRES: is_available().
  explicit Gzip(Out out);
  Gzip(Gzip const&) = delete;
  Gzip& operator=(Gzip const&) = delete;
  ~Gzip();

  // False if memory ran out: what was written is not a whole file.
  bool write(std::string_view text);
  bool finish();

 private:
  struct Stream;
  bool pass(std::string_view text, bool is_last);

  Out const out_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace tracing::inline v1::internal
