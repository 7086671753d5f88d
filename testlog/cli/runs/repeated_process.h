// RepeatedProcess: runs programs one after the other, and stops the running one when the user has had enough.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace testlog::cli {

/// While it exists, SIGINT, SIGTERM and SIGHUP stop the running program instead of this process. Single-thread: other
/// threads of the process would get the signals.
class RepeatedProcess {
 public:
  enum class End : std::uint8_t {
    by_itself,
    out_of_time,  ///< stopped at the deadline
    interrupted,  ///< stopped because the user interrupted it
  };
  struct Outcome {
    End end = End::by_itself;
    bool succeeded = false;  ///< ended by itself with exit status 0
  };
  using Variables = std::vector<std::pair<std::string, std::string>>;

  RepeatedProcess();
  RepeatedProcess(RepeatedProcess const&) = delete;
  RepeatedProcess& operator=(RepeatedProcess const&) = delete;
  ~RepeatedProcess();

  /// Runs words[0], which is found as a shell does, with `variables` added to the environment. Both outputs go to the
  /// file `log`, which is replaced. Calls `tick` twice a second. When it returns, all processes of the program's group
  /// have ended. Throws std::runtime_error if the program or the file cannot be opened.
  Outcome run(std::vector<std::string> const& words, Variables const& variables, std::string const& log,
              std::int64_t deadline_ns, std::function<void()> const& tick);

  /// Returns true once a signal has asked for the end.
  bool is_interrupted() const noexcept { return is_interrupted_; }

 private:
  int wait_for(pid_t child, std::int64_t until_ns) noexcept;

  sigset_t signals_{}, mask_before_{};
  bool is_interrupted_ = false;
};

}  // namespace testlog::cli
