// For tests: reads the fat binaries in testdata, which tools/renew_fatbins.sh makes.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "cuda_cpu/fatbin/fatbin.h"

namespace cuda_cpu::fatbin {

inline std::string read_testdata(std::string const& name) {
  std::ifstream file(std::string(TESTLOG_TEST_DIR) + "/testdata/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::span<std::byte const> bytes_of(std::string const& text) { return std::as_bytes(std::span(text)); }

/// Returns the message of an error, empty if there is no error.
template <class T>
std::string error_of(Result<T> const& result) {
  auto const* const error = std::get_if<Error>(&result);
  return error == nullptr ? "" : error->message;
}

inline std::vector<Entry> entries_of(std::string const& container) {
  auto const entries = read(bytes_of(container));
  EXPECT_EQ(error_of(entries), "");
  auto const* const all = std::get_if<std::vector<Entry>>(&entries);
  return all == nullptr ? std::vector<Entry>{} : *all;
}

/// The structure that programs register: see containers_of().
struct Wrapper {
  unsigned magic = 0x466243b1;
  unsigned version = 1;
  void const* data = nullptr;
  void const* units = nullptr;
};

}  // namespace cuda_cpu::fatbin
