// Reads recordings as one timeline: what failed or warned, in which test and in which spans, with typed values.
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <tracing_core/record/recordings.h>
#include <tracing_core/record/spans.h>
#include <tracing_core/record/tests.h>

namespace rec = tracing::recording;

int main(int argc, char** argv) {
  auto recordings = rec::Recordings::open(std::vector<std::string>(argv + 1, argv + argc));
  for (std::string const& error : recordings.errors()) std::fprintf(stderr, "%s\n", error.c_str());
  std::map<rec::Recording const*, rec::Spans> spans;
  recordings.for_each([&](rec::Recordings::File const& file, rec::Entry const& entry) {
    rec::Spans& around = spans[file.recording.get()];
    around.follow(entry);
    if (entry.type != rec::EntryType::event || entry.metadata->level() > tracing::Level::warn) return;
    std::string const path = around.current() == nullptr ? "" : around.current()->path();
    std::printf("%s in %s:", std::string(entry.metadata->target()).c_str(), path.c_str());
    tracing::FieldValues const fields = entry.fields();
    for (std::size_t i = 0; i < fields.size(); ++i)
      std::printf(" %s=%s", std::string(fields.name(i)).c_str(), rec::text_of_field(entry, fields.name(i)).c_str());
    std::printf("\n");
  });
  for (auto const& file : recordings.files())
    for (auto const& [tag, test] : rec::tests_of(*file.recording))
      std::printf("%s: %s\n", test.name.c_str(), test.result.c_str());
  return recordings.errors().empty() ? 0 : 1;
}
