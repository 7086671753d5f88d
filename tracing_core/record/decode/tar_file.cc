#include "tracing_core/record/decode/tar_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

#include "tracing_core/record/decode/tar_header.h"

namespace tracing { inline namespace v1 { namespace recording {
namespace {

constexpr std::uint64_t kMaxAttributes = 1 << 20;  // bytes of names and attributes of one file

std::string_view text_in(char const* field, std::size_t size) noexcept {
  return {field, static_cast<std::size_t>(std::find(field, field + size, '\0') - field)};
}

// Reads an octal number or, if the first bit is set as GNU does for large numbers, a big-endian binary number.
std::optional<std::uint64_t> number_in(char const* field, std::size_t size) noexcept {
  std::uint64_t number = 0;
  if (static_cast<unsigned char>(*field) == 0x80) {
    for (std::size_t i = 1; i < size; ++i) {
      if (number >> 56 != 0) return std::nullopt;
      number = number << 8 | static_cast<unsigned char>(field[i]);
    }
    return number;
  }
  std::string_view digits = text_in(field, size);
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  digits = digits.substr(0, digits.find(' '));
  for (char const digit : digits) {
    if (digit < '0' || digit > '7') return std::nullopt;
    number = number << 3 | static_cast<std::uint64_t>(digit - '0');
  }
  return number;
}

bool is_valid(TarHeader const& header) noexcept {
  auto const checksum = number_in(header.checksum, sizeof(header.checksum));
  return checksum && *checksum == header.sum();
}

bool is_zero(TarHeader const& header) noexcept {
  std::string_view const bytes(reinterpret_cast<char const*>(&header), sizeof(header));
  return bytes.find_first_not_of('\0') == bytes.npos;
}

std::string name_of(TarHeader const& header) {
  std::string name(text_in(header.name, sizeof(header.name)));
  bool const is_ustar = std::memcmp(header.magic, "ustar\0", 6) == 0;  // GNU's own format has no prefix
  std::string_view const prefix = is_ustar ? text_in(header.prefix, sizeof(header.prefix)) : std::string_view();
  return prefix.empty() ? name : std::string(prefix) + "/" + name;
}

std::string without_root(std::string name) {
  for (;;) {
    std::size_t const root = name.starts_with("./") ? 2 : name.starts_with('/') ? 1 : 0;
    if (root == 0) return name;
    name.erase(0, root);
  }
}

std::optional<std::uint64_t> decimal(std::string_view text) noexcept {
  std::uint64_t number = 0;
  if (text.empty() || text.size() > 18) return std::nullopt;
  for (char const digit : text) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = number * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return number;
}

}  // namespace

bool is_tar_header(std::string_view bytes) noexcept {
  TarHeader header;
  if (bytes.size() < sizeof(header)) return false;
  std::memcpy(&header, bytes.data(), sizeof(header));
  return is_valid(header);
}

// The facts about a file in the headers before it.
struct TarFile::Attributes {
  std::optional<std::string> name{};
  std::optional<std::uint64_t> size{};
  bool is_sparse = false;

  // Reads records like `27 path=a/long/name\n`. Returns false if they make no sense.
  bool read_pax(std::string_view records) {
    while (!records.empty() && records.front() != '\0') {
      std::size_t const blank = records.find(' ');
      auto const size_of_record = decimal(records.substr(0, blank));
      if (blank == records.npos || !size_of_record || *size_of_record > records.size() || *size_of_record < blank + 2)
        return false;
      std::string_view record = records.substr(blank + 1, *size_of_record - blank - 1);
      records.remove_prefix(*size_of_record);
      std::size_t const equals = record.find('=');
      if (equals == record.npos || record.back() != '\n') return false;
      record.remove_suffix(1);
      std::string_view const key = record.substr(0, equals), value = record.substr(equals + 1);
      if (key == "path") name = value.substr(0, value.find('\0'));
      if (key == "size" && !(size = decimal(value))) return false;
      is_sparse |= key.starts_with("GNU.sparse.");
    }
    return true;
  }
};

TarFile::TarFile(RecordingSource const& source) {
  Attributes next;
  for (std::uint64_t at = 0; add(source, at, next);) {
  }
}

bool TarFile::fail(std::uint64_t at, char const* what) {
  problem_ = "the TAR is " + std::string(what) + " at byte " + std::to_string(at);
  return false;
}

// Reads the header at `at` and goes to the next one. Returns false at the end.
bool TarFile::add(RecordingSource const& source, std::uint64_t& at, Attributes& next) {
  TarHeader header;
  if (source.read(at, &header, sizeof(header)) < sizeof(header)) return fail(at, "cut off");
  if (is_zero(header)) return false;
  auto const own_size = number_in(header.size, sizeof(header.size));
  if (!is_valid(header) || !own_size) return fail(at, "damaged");
  char const type = header.type;
  bool const is_extended = type == 'x' || type == 'g' || type == 'L' || type == 'K';
  std::uint64_t const size = is_extended ? *own_size : next.size.value_or(*own_size);
  std::uint64_t const begin = at + sizeof(header), end = source.size(),
                      there = end - std::min<std::uint64_t>(begin, end);
  if (is_extended && !read_attributes(source, begin, std::min(size, there), type, next)) return fail(at, "damaged");
  if (type == '0' || type == '\0' || type == '7') {
    std::string name = without_root(next.name.value_or(name_of(header)));
    if (!next.is_sparse && !name.ends_with('/')) members_[std::move(name)] = {begin, std::min(size, there)};
  }
  if (type == 'S' || (next.is_sparse && !is_extended))
    problem_ = "the TAR has files with holes, made by `tar -S`, which are left out";
  if (size > there) return fail(end, "cut off");
  if (!is_extended) next = {};
  at = begin + padded_to_tar_block(size);
  return true;
}

bool TarFile::read_attributes(RecordingSource const& source, std::uint64_t at, std::uint64_t size, char type,
                              Attributes& next) {
  if (size > kMaxAttributes) return false;
  std::string content(size, '\0');
  if (source.read(at, content.data(), size) < size) return false;
  if (type == 'x') return next.read_pax(content);
  if (type == 'L') next.name = content.substr(0, content.find('\0'));
  return true;  // attributes of all files and long names of links do not matter here
}

std::shared_ptr<TarFile const> open_tar(std::string const& path) {
  constexpr std::size_t kMaxTables = 64;
  using Identity = std::tuple<dev_t, ino_t, off_t, time_t, long>;
  static std::mutex mutex;
  static auto& tables = *new std::map<Identity, std::shared_ptr<TarFile const>>();  // never destroyed
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return nullptr;
  Identity const identity(status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  std::lock_guard const lock(mutex);
  if (auto const found = tables.find(identity); found != tables.end()) return found->second;
  std::string error;
  auto const source = open_bytes(path, error);
  std::array<char, kTarBlock> first{};
  if (source == nullptr || source->read(0, first.data(), first.size()) < first.size() ||
      !is_tar_header({first.data(), first.size()}))
    return nullptr;
  if (tables.size() >= kMaxTables) tables.clear();
  return tables[identity] = std::make_shared<TarFile const>(*source);
}

PathInTar split_at_tar(std::string const& path) {
  for (std::size_t slash = path.find('/', 1); slash != path.npos; slash = path.find('/', slash + 1)) {
    struct stat status {};
    std::string const part = path.substr(0, slash);
    if (stat(part.c_str(), &status) == 0 && S_ISREG(status.st_mode)) return {part, path.substr(slash + 1)};
  }
  return {};
}

}}}  // namespace tracing::v1::recording
