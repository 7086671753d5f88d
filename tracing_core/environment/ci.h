// CiJob: the CI job in which a process runs, as its variables describe the job.
#pragma once

#include <string>

namespace tracing { inline namespace v1 { namespace environment {

/// Texts are empty if the service does not tell, or outside a service.
struct CiJob {
  std::string service;   ///< github, gitlab, azure, jenkins, buildkite, teamcity or bazel
  std::string revision;  ///< of the source
  std::string url;       ///< of the job's page or, if the service names no job, of the build's
  std::string job;       ///< its name, as the service shows it
  std::string run;       ///< the id of the pipeline's run
  std::string branch;    ///< or tag
};

/// Returns the job in which this process runs, by the variables of the services. A Bazel test in a job of another
/// service is a test of that job, if Bazel passes its variables on.
CiJob ci_job();

}}}  // namespace tracing::v1::environment
