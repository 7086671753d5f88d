#include "testlog/cli/directive_notes.h"

#include <utility>
#include <vector>

#include "testlog/cli/terminal.h"

namespace testlog::cli {

DirectiveNotes::DirectiveNotes(std::string command, std::string const& directives)
    : command_(std::move(command)), filter_(parsed_filter(command_, directives)) {}

void DirectiveNotes::add(OpenedRecording const& file) {
  std::vector<tracing::Metadata const*> const reached(file.callsites.begin(), file.callsites.end());
  std::map<std::string, tracing::DirectiveNote> here;
  // The recordings are replayed through other filters, so filter_ has seen no values.
  for (tracing::DirectiveNote& note : tracing::explain(filter_, reached, false)) here[note.directive] = std::move(note);
  if (!std::exchange(has_files_, true)) return notes_.swap(here);
  std::erase_if(notes_, [&here](auto const& one) { return !here.contains(one.first); });
  for (auto& [directive, note] : notes_) {
    if (!note.is_near) note = here[directive];  // perhaps only this recording has a similar name
  }
}

std::string DirectiveNotes::lines() const {
  std::string lines;
  for (auto const& [directive, note] : notes_)
    lines += "testlog " + command_ + ": --filter: " + printable(note.sentence) + "\n";
  return lines;
}

}  // namespace testlog::cli
