#include "scenario.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "recorded_values.h"
#include "tracing_core/dispatch/thread_name.h"

namespace conformance {

// A thread that exists as long as the scenario and runs one function at a time.
class Scenario::Worker {
 public:
  /// The thread has no name if `name` begins with '#'.
  explicit Worker(std::string const& name) : thread_([this, name] { work(name); }) {}

  void run(std::function<void()> const& f) {
    std::unique_lock lock(mutex_);
    task_ = &f;
    changed_.notify_all();
    changed_.wait(lock, [this] { return task_ == nullptr; });
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  void work(std::string const& name) {
    tracing::set_thread_name(name.starts_with('#') ? "" : name);  // also assigns its number
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return task_ != nullptr; });
      try {
        (*task_)();
      } catch (...) {
        error_ = std::current_exception();
      }
      task_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> const* task_ = nullptr;
  std::exception_ptr error_;
  std::thread thread_;
};

tracing::Level level_of(std::string const& text) {
  for (auto const level : {tracing::Level::error, tracing::Level::warn, tracing::Level::info, tracing::Level::debug,
                           tracing::Level::trace}) {
    if (tracing::name(level) == text) return level;
  }
  throw BadCase("unknown level: " + text);
}

tracing::RuntimeCallsite make_callsite(Json const& json, std::string const& what) {
  ObjectReader reader(json, what);
  tracing::CallsiteDescription description;
  auto const kind = reader.get<std::string>("kind");
  if (kind != "span" && kind != "event") throw BadCase("unknown kind of callsite: " + kind);
  description.kind = kind == "span" ? tracing::Kind::span : tracing::Kind::event;
  auto const file = reader.get_or<std::string>("file", "");
  description.file = file;
  if (reader.find("line") != nullptr) description.line = reader.get<std::uint32_t>("line");
  // The reference makes names from the source location, even if the metadata lacks a location.
  auto const place =
      "event " + (file.empty() ? "src/main.rs" : file) + ":" + std::to_string(description.line.value_or(0));
  auto const name = kind == "span" ? reader.get<std::string>("name") : reader.get_or<std::string>("name", place);
  description.name = name;
  auto const target = reader.get<std::string>("target");
  description.target = target;
  description.level = level_of(reader.get<std::string>("level"));
  auto const fields = reader.get<std::vector<std::string>>("fields");
  description.fields.assign(fields.begin(), fields.end());
  std::optional<std::string> module_path;
  if (reader.find("module_path") != nullptr) {
    module_path = reader.get<std::string>("module_path");
    description.module_path = *module_path;
  }
  reader.finish();
  return tracing::RuntimeCallsite(description);
}

Scenario::Scenario(Json const& callsites) {
  tracing::set_thread_name("main");  // also makes it the first thread
  if (!callsites.is_object()) throw BadCase("`callsites` is not an object");
  for (auto const& [key, json] : callsites.items()) callsites_.emplace(key, make_callsite(json, "callsite " + key));
}

Scenario::~Scenario() = default;

Scenario& Scenario::start(Json const& callsites) { return *new Scenario(callsites); }

tracing::RuntimeCallsite const& Scenario::callsite(std::string const& key) const {
  auto const found = callsites_.find(key);
  if (found == callsites_.end()) throw BadCase("unknown callsite: " + key);
  return found->second;
}

Scenario::OpenSpan& Scenario::span(std::string const& key) {
  auto const found = spans_.find(key);
  if (found == spans_.end()) throw BadCase("unknown span: " + key);
  return found->second;
}

tracing::Parent Scenario::parent(Json const* key) {
  if (key == nullptr) return {};
  if (!key->is_string()) throw BadCase("not a parent: " + key->dump());
  if (*key == "root") return tracing::Parent::root();
  return tracing::Parent::below(span(key->get<std::string>()).id);
}

void Scenario::on_thread(Thread const& thread, std::function<void()> const& f) {
  if (!thread) return f();
  auto& worker = workers_[*thread];
  if (worker == nullptr) worker = std::make_unique<Worker>(*thread);
  worker->run(f);
}

Step Scenario::new_span(ObjectReader& reader, Thread const& thread) {
  auto const& callsite = this->callsite(reader.get<std::string>("cs"));
  auto const key = reader.get<std::string>("span");
  RecordedValues const values(reader.at("values"), callsite.metadata());
  tracing::Parent const below = parent(reader.find("parent"));
  reader.finish();
  auto& open = spans_.insert_or_assign(key, OpenSpan()).first->second;
  on_thread(thread, [&] { open.span = tracing::Span::make(callsite.callsite(), values.data(), below); });
  open.metadata = &callsite.metadata();
  open.id = open.span.id();
  return {.emitted = &callsite.metadata()};
}

Step Scenario::event(ObjectReader& reader, Thread const& thread) {
  auto const& callsite = this->callsite(reader.get<std::string>("cs"));
  RecordedValues const values(reader.at("values"), callsite.metadata());
  tracing::Parent const below = parent(reader.find("parent"));
  reader.finish();
  on_thread(thread, [&] { tracing::emit_event(callsite.callsite(), values.data(), below); });
  return {.emitted = &callsite.metadata()};
}

Step Scenario::change(std::string const& operation, ObjectReader& reader, Thread const& thread) {
  auto& open = span(reader.get<std::string>("span"));
  Json const no_values = Json::array();
  Json const& list = operation == "record" ? reader.at("values") : no_values;
  reader.finish();
  if (std::exchange(open.closed, open.closed || operation == "close") && operation != "exit") {
    throw BadCase("the span is closed, so it has no " + operation);
  }
  RecordedValues const values(list, *open.metadata);  // rejects unknown values even if the span is disabled
  if (!open.id) {
    on_thread(thread, [] {});  // assigns the thread's number even then
    return {.on_disabled_span = true};
  }
  Entered& entered = open.entered[thread.value_or("")];
  if (operation == "enter") {
    on_thread(thread, [&] { entered.push_back(tracing::Span(open.span).entered()); });
  } else if (operation == "exit") {
    if (entered.empty()) throw BadCase("exit from a span that the thread is not in");
    on_thread(thread, [&] { entered.pop_back(); });
  } else if (operation == "close") {
    on_thread(thread, [&] { open.span = tracing::Span(); });
  } else {
    // As Span::record(): in the given order, without names that the span was not made with.
    for (Json const& item : list) {
      Json const alone = Json::array({item});
      RecordedValues const value(alone, *open.metadata);
      if (value.names_a_field()) on_thread(thread, [&] { open.span.record_all(value.data()); });
    }
  }
  return {};
}

Step Scenario::play(Json const& operation) {
  ObjectReader reader(operation, "the operation");
  auto const name = reader.get<std::string>("op");
  Thread thread;
  if (reader.find("thread") != nullptr) thread = reader.get<std::string>("thread");
  if (name == "new_span") return new_span(reader, thread);
  if (name == "event") return event(reader, thread);
  if (name == "enter" || name == "exit" || name == "close" || name == "record") return change(name, reader, thread);
  throw BadCase("unknown operation: " + name);
}

}  // namespace conformance
