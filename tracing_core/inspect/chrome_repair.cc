#include "tracing_core/inspect/chrome_repair.h"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "tracing_core/internal/utf8.h"

namespace tracing::inline v1 {
namespace {

constexpr std::size_t kBlockBytes = 256 * 1024;
constexpr std::size_t kMostOfRecord = std::size_t{64} << 20;

bool is_blank(char c) noexcept { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_hex_digit(char c) noexcept { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Reads one JSON object a character at a time, so that what breaks off is noticed where something else begins.
class ObjectReader {
 public:
  enum class Result { goes_on, whole, broken };

  void start() noexcept {
    open_.clear();
    expected_ = Expected::value;
  }

  Result take(char c) {
    switch (expected_) {
      case Expected::string: return in_string(c);
      case Expected::escape: return in_escape(c);
      case Expected::number: return in_number(c);
      case Expected::literal: return in_literal(c);
      default: return is_blank(c) ? Result::goes_on : between(c);
    }
  }

 private:
  enum class Expected { value, value_or_end, key, key_or_end, colon, comma_or_end, string, escape, number, literal };
  enum class Digits { none, zero, whole, point, fraction, e, sign, exponent };

  bool in_object() const noexcept { return open_.back() == '{'; }
  Result expect(Expected next) noexcept {
    expected_ = next;
    return Result::goes_on;
  }

  Result between(char c) {
    switch (expected_) {
      case Expected::colon: return c == ':' ? expect(Expected::value) : Result::broken;
      case Expected::key_or_end:
        if (c == '}') return close();
        [[fallthrough]];
      case Expected::key:
        is_key_ = true;
        return c == '"' ? expect(Expected::string) : Result::broken;
      case Expected::comma_or_end:
        if (c == ',') return expect(in_object() ? Expected::key : Expected::value);
        return c == (in_object() ? '}' : ']') ? close() : Result::broken;
      case Expected::value_or_end:
        if (c == ']') return close();
        [[fallthrough]];
      default: return begin_value(c);
    }
  }

  Result begin_value(char c) {
    if (c == '{' || c == '[') {
      open_.push_back(c);
      return expect(c == '{' ? Expected::key_or_end : Expected::value_or_end);
    }
    if (open_.empty()) return Result::broken;
    is_key_ = false;
    if (c == '"') return expect(Expected::string);
    literal_ = c == 't' ? "rue" : c == 'f' ? "alse" : c == 'n' ? "ull" : "";
    if (!literal_.empty()) return expect(Expected::literal);
    digits_ = c == '-' ? Digits::none : c == '0' ? Digits::zero : Digits::whole;
    return c == '-' || is_digit(c) ? expect(Expected::number) : Result::broken;
  }

  Result close() noexcept {
    open_.pop_back();
    return open_.empty() ? Result::whole : expect(Expected::comma_or_end);
  }

  Result in_string(char c) noexcept {
    if (c == '"') return expect(is_key_ ? Expected::colon : Expected::comma_or_end);
    if (c == '\\') {
      hex_digits_ = 0;
      return expect(Expected::escape);
    }
    return static_cast<unsigned char>(c) < 0x20 ? Result::broken : Result::goes_on;
  }

  Result in_escape(char c) noexcept {
    if (hex_digits_ == 0) {
      if (c == 'u') return hex_digits_ = 4, Result::goes_on;
      return std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos ? expect(Expected::string) : Result::broken;
    }
    if (!is_hex_digit(c)) return Result::broken;
    return --hex_digits_ == 0 ? expect(Expected::string) : Result::goes_on;
  }

  Result in_literal(char c) noexcept {
    if (c != literal_.front()) return Result::broken;
    literal_.remove_prefix(1);
    return literal_.empty() ? expect(Expected::comma_or_end) : Result::goes_on;
  }

  Result in_number(char c) {
    bool const may_end = digits_ == Digits::zero || digits_ == Digits::whole || digits_ == Digits::fraction ||
                         digits_ == Digits::exponent;
    if (is_digit(c)) {
      switch (digits_) {
        case Digits::none: return digits_ = c == '0' ? Digits::zero : Digits::whole, Result::goes_on;
        case Digits::zero: return Result::broken;
        case Digits::point: return digits_ = Digits::fraction, Result::goes_on;
        case Digits::e:
        case Digits::sign: return digits_ = Digits::exponent, Result::goes_on;
        default: return Result::goes_on;
      }
    }
    if (c == '.' && (digits_ == Digits::zero || digits_ == Digits::whole)) return digits_ = Digits::point, Result::goes_on;
    if ((c == 'e' || c == 'E') && may_end && digits_ != Digits::exponent) return digits_ = Digits::e, Result::goes_on;
    if ((c == '-' || c == '+') && digits_ == Digits::e) return digits_ = Digits::sign, Result::goes_on;
    if (!may_end) return Result::broken;
    expected_ = Expected::comma_or_end;
    return take(c);
  }

  std::vector<char> open_;  // the brackets
  Expected expected_ = Expected::value;
  bool is_key_ = false;
  int hex_digits_ = 0;
  Digits digits_ = Digits::none;
  std::string_view literal_;
};

class Repairing {
 public:
  Repairing(ChromeRepair& found, std::function<void(std::string_view)> const& write) : found_(found), write_(write) {}

  // False where this is no list.
  bool take(std::string_view block) {
    for (char const c : block) {
      if (!take(c)) return false;
    }
    return true;
  }
  void begin_list() {
    found_.is_list = true;
    out_ += "[\n";
  }
  void finish() {
    if (in_record_) leave_out(record_.size());
    if (!found_.is_list) return;
    out_ += found_.records == 0 ? "]\n" : "\n]\n";
    write_(out_);
  }

 private:
  enum class Last { nothing, comma, record, end, rubbish };  // what stood before, in the list

  bool take(char c) {
    if (in_record_) {
      take_of_record(c);
      return true;
    }
    if (c == '{' && found_.is_list) {
      in_record_ = true;
      found_.was_closed = false;
      reader_.start();
      record_.clear();
      take_of_record(c);
      return true;
    }
    return take_between(c);
  }

  bool take_between(char c) {
    if (is_blank(c)) return true;
    if (!found_.is_list) {
      if (c == '[') begin_list();
      return found_.is_list;
    }
    if (c == ',' || c == ']' || c == '[') {
      take_mark(c);
      return true;
    }
    if (last_ != Last::rubbish) ++found_.left_out;
    last_ = Last::rubbish;
    ++found_.bytes_left_out;
    return true;
  }

  void take_mark(char c) {
    if (c != ',') found_.was_closed = c == ']';
    if (last_ == Last::rubbish) return;  // the mark may belong to it
    bool const is_right = last_ == Last::record ? c != '[' : last_ == Last::nothing && c == ']';
    if (!is_right) ++found_.put_right;
    last_ = c == ',' ? Last::comma : c == ']' ? Last::end : Last::nothing;
  }

  void take_of_record(char c) {
    // At the beginning of a line stands a record: one that broke off in a list would take it for an element.
    bool const begins_another = c == '{' && !record_.empty() && record_.back() == '\n';
    bool const is_right = !begins_another && record_.size() < kMostOfRecord;
    ObjectReader::Result const result = is_right ? reader_.take(c) : ObjectReader::Result::broken;
    if (result == ObjectReader::Result::broken) {
      leave_out(record_.size());
      take(c);  // which may be the beginning of the next
      return;
    }
    record_ += c;
    if (result == ObjectReader::Result::goes_on) return;
    if (!internal::is_utf8(record_)) return leave_out(record_.size());
    in_record_ = false;
    if (last_ == Last::record || last_ == Last::end) ++found_.put_right;
    last_ = Last::record;
    if (found_.records++ != 0) out_ += ",\n";
    out_ += record_;
    if (out_.size() < kBlockBytes) return;
    write_(out_);
    out_.clear();
  }

  void leave_out(std::size_t bytes) {
    in_record_ = false;
    ++found_.left_out;
    found_.bytes_left_out += bytes;
    last_ = Last::rubbish;  // what follows belongs to it
  }

  ChromeRepair& found_;
  std::function<void(std::string_view)> const& write_;
  ObjectReader reader_;
  std::string record_;
  std::string out_;
  bool in_record_ = false;
  Last last_ = Last::nothing;
};

}  // namespace

std::error_code repair_chrome(int file, ChromeRepair& found, std::function<void(std::string_view text)> const& write) {
  found = {};
  Repairing repairing(found, write);
  std::string block(kBlockBytes, '\0');
  bool is_empty = true;
  for (;;) {
    ssize_t const size = read(file, block.data(), block.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      std::error_code const error(errno, std::generic_category());
      repairing.finish();
      return error;
    }
    if (size == 0) break;
    is_empty = false;
    if (!repairing.take({block.data(), static_cast<std::size_t>(size)})) break;
  }
  found.was_empty = is_empty;
  if (is_empty) repairing.begin_list();
  repairing.finish();
  return {};
}

}  // namespace tracing::inline v1
