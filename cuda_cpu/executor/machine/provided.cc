// Implements the functions that a device provides: vprintf(), __assertfail(), malloc() and free(). Their arguments are
// in the caller's frame.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "cuda_cpu/executor/check/global_races.h"
#include "cuda_cpu/executor/machine/places.h"
#include "cuda_cpu/executor/steps/map.h"

namespace cuda_cpu {
namespace {

constexpr std::size_t kMaxText = 4096;

std::byte* frame_of(Warp& warp, unsigned lane) {
  return warp.block.local_of(warp, lane) + std::size_t{warp.depth} * warp.block.launch.kernel->local_frame_bytes;
}

template <class T>
T argument(Warp& warp, Step const& step, unsigned lane, unsigned i) {
  T value;
  std::memcpy(&value, frame_of(warp, lane) + step.call->arguments[i].from, sizeof value);
  return value;
}

// Returns a string in the device's memory, or nothing if its address is invalid or it is too long.
std::optional<std::string> text_at(Block& block, std::uint64_t address) {
  std::string text;
  for (;; ++address) {
    std::byte const* const place = block.find(address, 1);
    if (place == nullptr || text.size() > kMaxText) return std::nullopt;
    if (*place == std::byte{0}) return text;
    text.push_back(static_cast<char>(*place));
  }
}

// The arguments of printf: values one after the other, each aligned to its size.
class Values {
 public:
  Values(Block& block, std::uint64_t address) : block_(block), address_(address) {}

  template <class T>
  T take() {
    offset_ = (offset_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    if (std::byte const* const place = block_.find(address_ + offset_, sizeof(T)))
      std::memcpy(&value, place, sizeof value);
    else
      bad_ = true;
    offset_ += sizeof(T);
    ++count_;
    return value;
  }
  bool bad() const noexcept { return bad_; }
  int count() const noexcept { return count_; }  // number of values taken

 private:
  Block& block_;
  std::uint64_t address_;
  std::uint64_t offset_ = 0;
  int count_ = 0;
  bool bad_ = false;
};

template <class... A>
void put(std::string& text, std::string const& spec, A... values) {
  char buffer[512];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
  int const size = std::snprintf(buffer, sizeof buffer, spec.c_str(), values...);
#pragma GCC diagnostic pop
  if (size > 0) text.append(buffer, std::min<std::size_t>(static_cast<std::size_t>(size), sizeof buffer - 1));
}

// Appends a value formatted by `spec`, from '%' to the letter. `size`: "h", "hh", or "ll" for 64 bits.
void format_value(Block& block, std::string& text, std::string spec, std::string_view size, Values& values) {
  char const letter = spec.back();
  if (letter == 'c') return put(text, spec, values.take<int>());
  if (std::string_view("diuoxX").find(letter) != std::string_view::npos) {
    if (size != "ll") return put(text, spec.insert(spec.size() - 1, size), values.take<int>());
    spec.insert(spec.size() - 1, "ll");
    return put(text, spec, values.take<long long>());
  }
  if (std::string_view("fFeEgGaA").find(letter) != std::string_view::npos)
    return put(text, spec, values.take<double>());
  auto const pointer = values.take<std::uint64_t>();
  if (letter == 'p') return put(text, spec, reinterpret_cast<void*>(pointer));
  auto const string = text_at(block, pointer);
  put(text, spec, string ? string->c_str() : "(unreadable)");
}

std::string formatted(Block& block, std::string_view format, Values& values) {
  std::string text;
  while (!format.empty()) {
    std::size_t const percent = std::min(format.find('%'), format.size());
    text.append(format.substr(0, percent));
    format.remove_prefix(percent);
    if (format.empty()) break;
    std::string spec = "%";
    std::string size;
    std::size_t i = 1;
    for (; i < format.size() && std::string_view("-+ #0123456789.*lhzjt").find(format[i]) != std::string_view::npos;
         ++i) {
      if (format[i] == '*')
        spec += std::to_string(values.take<int>());
      else if (std::string_view("lzjt").find(format[i]) != std::string_view::npos)
        size = "ll";
      else if (format[i] == 'h')
        size = size.empty() ? "h" : "hh";
      else
        spec += format[i];
    }
    char const letter = i < format.size() ? format[i] : '\0';
    format.remove_prefix(std::min(i + 1, format.size()));
    if (letter == '%') {
      text += '%';
    } else if (letter == '\0' || std::string_view("diuoxXcfFeEgGaAps").find(letter) == std::string_view::npos) {
      text += spec + letter;  // unknown conversions are copied
    } else {
      format_value(block, text, spec + letter, size, values);
    }
  }
  return text;
}

bool vprintf_step(Warp& warp, Step const& step, Mask lanes) {
  Block& block = warp.block;
  for (; lanes != 0; lanes &= lanes - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(lanes));
    auto const pointer = argument<std::uint64_t>(warp, step, lane, 0);
    auto const format = pointer == 0 ? std::optional<std::string>("") : text_at(block, pointer);
    Values values(block, argument<std::uint64_t>(warp, step, lane, 1));
    std::string const text = format ? formatted(block, *format, values) : "";
    if (!format || values.bad())
      return block.fail(warp, step, Mask{1} << lane, FaultKind::illegal_address,
                        "printf of memory that is not allocated", pointer);
    if (pointer != 0) block.launch.print(text);
    // Unlike in C, printf() on a device returns the number of values, and -1 without a format.
    int const done = pointer == 0 ? -1 : values.count();
    for (auto const& result : step.call->results) std::memcpy(frame_of(warp, lane) + result.to, &done, sizeof done);
  }
  return true;
}

bool assert_step(Warp& warp, Step const& step, Mask lanes) {
  auto const lane = static_cast<unsigned>(std::countr_zero(lanes));
  auto const text = [&](unsigned i) {
    return text_at(warp.block, argument<std::uint64_t>(warp, step, lane, i)).value_or("(unreadable)");
  };
  std::string const what = text(1) + ":" + std::to_string(argument<std::uint32_t>(warp, step, lane, 2)) + ": " +
                           text(3) + ": Assertion `" + text(0) + "` failed";
  return warp.block.fail(warp, step, Mask{1} << lane, FaultKind::assertion, what);
}

// malloc(): gives a null pointer if the heap is exhausted.
bool malloc_step(Warp& warp, Step const& step, Mask lanes) {
  Launch& launch = warp.block.launch;
  each_lane(lanes, [&](unsigned lane) {
    auto const bytes = argument<std::uint64_t>(warp, step, lane, 0);
    std::uint64_t const address = launch.memory->allocate_on_heap(bytes);
    if (launch.races != nullptr && address != 0) launch.races->forget(address, bytes);
    for (auto const& result : step.call->results)
      std::memcpy(frame_of(warp, lane) + result.to, &address, sizeof address);
  });
  return true;
}

bool free_step(Warp& warp, Step const& step, Mask lanes) {
  Block& block = warp.block;
  for (; lanes != 0; lanes &= lanes - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(lanes));
    auto const address = argument<std::uint64_t>(warp, step, lane, 0);
    if (address == 0) continue;
    if (!block.launch.memory->free_on_heap(address)) {
      return block.fail(warp, step, Mask{1} << lane, FaultKind::illegal_address,
                        "free of " + hexadecimal(address) + ", which malloc in a kernel did not give or was freed",
                        address);
    }
    block.forget_range(address);
  }
  return true;
}

}  // namespace

Handler select_provided(std::string_view name) {
  if (name == "vprintf") return vprintf_step;
  if (name == "malloc") return malloc_step;
  if (name == "free") return free_step;
  return name == "__assertfail" ? assert_step : nullptr;
}

}  // namespace cuda_cpu
