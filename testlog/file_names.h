// Declares how files are named that the TRACE_ variables ask for, and how one is made that is whole from the first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "tracing_core/model/text_buffer.h"

namespace testlog::inline v1 {

/// What stands for %t where no test runs.
inline constexpr std::string_view kOutsideTests = "outside_tests";

/// `path` with the process for %p and the test for %t, in whose name `/` becomes `_`.
std::string filled_in(std::string_view path, std::string_view test);
/// The same in two steps: first the test, then the process, that is the one which runs now.
std::string filled_in_test(std::string_view path, std::string_view test);
void append_filled_in_process(tracing::TextBuffer& out, std::string_view path) noexcept;

/// Whether something is there that is neither a file nor a folder: a pipe, a device.
bool is_no_file(std::string const& path) noexcept;

/// Says on `complain_to` that lines are missing in the file that a variable asked for; nothing where `count` is none.
void tell_missing_lines(int complain_to, std::string_view variable, std::string_view path, std::uint64_t count) noexcept;

/// Makes an empty file that nobody else has: `path` or, where that is there, `name.<process>.json` beside `name.json`, or
/// `name.<process>.2.json` and so on. What is no file, such as a pipe, is taken as it is. Returns its path; where it cannot be
/// made, `error` says why.
std::string claim_file(std::string const& path, std::error_code& error);

/// Makes a file of `text`, under the name that claim_file() would give it, and in one step: it is written beside, as
/// `name.json.<process>.part`, and then renamed. Where it cannot be made, `error` says why, and nothing is left; a path that
/// ends in `/` is that of a folder. What is no file is written to.
std::string make_whole_file(std::string const& path, std::string_view text, std::error_code& error);

}  // namespace testlog::inline v1
