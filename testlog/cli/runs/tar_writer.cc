#include "testlog/cli/runs/tar_writer.h"

#include <algorithm>
#include <cstring>

#include "tracing_core/record/decode/tar_header.h"

namespace testlog::cli {
namespace {

using tracing::recording::kTarBlock;
using tracing::recording::TarHeader;

constexpr std::uint64_t kMaxOctal = (std::uint64_t{1} << 33) - 1;  // 11 digits

template <std::size_t kSize>
void put_octal(char (&field)[kSize], std::uint64_t number) noexcept {
  field[kSize - 1] = '\0';
  for (std::size_t i = kSize - 1; i-- > 0; number >>= 3) field[i] = static_cast<char>('0' + (number & 7));
}

// Returns a record of pax, whose first number counts its own digits.
std::string pax_record(std::string_view key, std::string_view value) {
  std::size_t const rest = key.size() + value.size() + 3;  // blank, =, end of line
  std::size_t size = rest + 1;
  while (size != rest + std::to_string(size).size()) size = rest + std::to_string(size).size();
  std::string record = std::to_string(size) + " ";
  return record.append(key).append("=").append(value).append("\n");
}

}  // namespace

void TarWriter::add(std::string const& name, std::string_view content, tracing::Instant time) {
  std::string attributes;
  if (name.size() > sizeof(TarHeader::name)) attributes += pax_record("path", name);
  if (content.size() > kMaxOctal) attributes += pax_record("size", std::to_string(content.size()));
  if (!attributes.empty()) {
    add_header("attributes", attributes.size(), time, 'x');
    add_content(attributes);
  }
  add_header(name, content.size(), time, '0');
  add_content(content);
}

void TarWriter::finish() { out_(std::string(2 * kTarBlock, '\0')); }

void TarWriter::add_header(std::string_view name, std::uint64_t size, tracing::Instant time, char type) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  TarHeader header{};
  name.copy(header.name, sizeof(header.name));
  put_octal(header.mode, 0644);
  put_octal(header.user, 0);
  put_octal(header.group, 0);
  put_octal(header.size, std::min(size, kMaxOctal));
  put_octal(header.time, static_cast<std::uint64_t>(std::max<std::int64_t>(time.ns, 0) / kSecond));
  header.type = type;
  std::memcpy(header.magic, "ustar\00000", sizeof(header.magic));
  char checksum[7];
  put_octal(checksum, header.sum());
  std::memcpy(header.checksum, checksum, sizeof(checksum));
  header.checksum[7] = ' ';
  out_({reinterpret_cast<char const*>(&header), sizeof(header)});
}

void TarWriter::add_content(std::string_view content) {
  out_(content);
  out_(std::string(tracing::recording::padded_to_tar_block(content.size()) - content.size(), '\0'));
}

}  // namespace testlog::cli
