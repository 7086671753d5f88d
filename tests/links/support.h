// Plugin is an opened plugin. Printed collects the text printed from the records of the process.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <tracing_core/setup.h>
#include <tracing_core/tracing.h>

/// Opens a plugin with RTLD_LOCAL; the destructor closes it.
class Plugin {
 public:
  explicit Plugin(char const* path) : handle_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) ADD_FAILURE() << dlerror();
  }
  Plugin(Plugin const&) = delete;
  Plugin& operator=(Plugin const&) = delete;
  ~Plugin() { close(); }

  template <class F>
  F* function(char const* name) const {
    return reinterpret_cast<F*>(dlsym(handle_, name));
  }
  void run() const { function<void()>("plugin_run")(); }
  void close() {
    if (handle_ != nullptr) dlclose(std::exchange(handle_, nullptr));
  }
  /// Returns true if the plugin is loaded.
  static bool is_loaded(char const* path) {
    void* const handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (handle != nullptr) dlclose(handle);
    return handle != nullptr;
  }

 private:
  void* handle_;
};

/// Becomes the subscriber of the process; keeps the text of the records that pass the filter.
class Printed {
 public:
  static Printed& get() {
    static auto* const printed = new Printed;
    return *printed;
  }

  void set_filter(char const* directives) { reload_(directives); }
  /// Returns and clears the text printed so far.
  std::string take() { return std::exchange(text_, {}); }

 private:
  Printed() {
    auto [filter, handle] = tracing::reloadable(tracing::to_filter(tracing::EnvFilter("off")));
    reload_ = [handle = handle](char const* directives) mutable {
      handle.reload(tracing::to_filter(tracing::EnvFilter(directives)));
    };
    auto sink = tracing::make_sink([this](tracing::Level, std::string_view line) { text_ += line; });
    tracing::FormatOptions options;
    options.timer = nullptr;
    tracing::set_global_default(tracing::RegistryBuilder()
                                    .with(tracing::print_layer({.event_format = tracing::make_event_format(options),
                                                                .writer = tracing::to_sink(std::move(sink))}),
                                          std::move(filter))
                                    .build());
  }

  std::string text_;
  std::function<void(char const*)> reload_;
};
