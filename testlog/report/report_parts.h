// ReportParts: the parts of a test program that its reports are made of.
#pragma once

#include "testlog/capture/attribution.h"
#include "testlog/capture/capture.h"
#include "testlog/capture/recording_file.h"
#include "testlog/capture/run_records.h"
#include "testlog/environment.h"
#include "testlog/outputs/live_output.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/environment/file_outputs.h"

namespace testlog { inline namespace v1 {

/// All parts live as long as the process.
struct ReportParts {
  Environment const& environment;
  Output& output;
  Attribution const& attribution;
  Capture& capture;
  LiveOutput& live;
  RecordingFile const& recording_file;
  RunRecords* run_records;  ///< null unless the recording is in a file, or a file will be made of it
  tracing::environment::FileOutputs const* files;  ///< null if neither a Chrome trace nor folded stacks are written
  tracing::Registry const& registry;
  bool is_mute;  ///< nothing is printed in this process
};

}}  // namespace testlog::v1
