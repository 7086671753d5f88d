#include "tracing_core/environment/ci.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "tracing_core/environment/variables.h"

namespace tracing { inline namespace v1 { namespace environment {
namespace {

// The variables of a service. In the last five, `$NAME` stands for the value of a variable, and `|` separates
// alternatives: the first whose variables are all set counts.
struct Service {
  char const* name;
  char const* sign;  // the variable that the service sets in each job
  char const* revision;
  char const* url;
  char const* job;
  char const* run;
  char const* branch;
};

constexpr Service kServices[] = {
    // https://docs.github.com/actions/reference/workflows-and-actions/variables
    {"github", "GITHUB_ACTIONS", "$GITHUB_SHA", "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID",
     "$GITHUB_WORKFLOW / $GITHUB_JOB|$GITHUB_JOB", "$GITHUB_RUN_ID", "$GITHUB_HEAD_REF|$GITHUB_REF_NAME"},
    // https://docs.gitlab.com/ci/variables/predefined_variables
    {"gitlab", "GITLAB_CI", "$CI_COMMIT_SHA", "$CI_JOB_URL", "$CI_JOB_NAME", "$CI_PIPELINE_ID", "$CI_COMMIT_REF_NAME"},
    // https://learn.microsoft.com/azure/devops/pipelines/build/variables
    {"azure", "TF_BUILD", "$BUILD_SOURCEVERSION",
     "$SYSTEM_COLLECTIONURI$SYSTEM_TEAMPROJECT/_build/results?buildId=$BUILD_BUILDID",
     "$SYSTEM_JOBDISPLAYNAME|$SYSTEM_JOBNAME", "$BUILD_BUILDID", "$BUILD_SOURCEBRANCHNAME"},
    // https://buildkite.com/docs/pipelines/configure/environment-variables
    {"buildkite", "BUILDKITE", "$BUILDKITE_COMMIT", "$BUILDKITE_BUILD_URL#$BUILDKITE_JOB_ID|$BUILDKITE_BUILD_URL",
     "$BUILDKITE_LABEL|$BUILDKITE_PIPELINE_SLUG", "$BUILDKITE_BUILD_ID", "$BUILDKITE_BRANCH"},
    // https://www.jetbrains.com/help/teamcity/predefined-build-parameters.html
    {"teamcity", "TEAMCITY_VERSION", "$BUILD_VCS_NUMBER", "$BUILD_URL", "$TEAMCITY_BUILDCONF_NAME", "$BUILD_NUMBER",
     ""},
    // https://www.jenkins.io/doc/book/pipeline/jenkinsfile/#using-environment-variables
    {"jenkins", "JENKINS_URL", "$GIT_COMMIT", "$BUILD_URL", "$JOB_NAME", "$BUILD_NUMBER", "$BRANCH_NAME|$GIT_BRANCH"},
    // https://bazel.build/reference/test-encyclopedia#initial-conditions
    {"bazel", "TEST_TARGET", "", "", "$TEST_TARGET", "", ""},
};

bool is_name(char c) noexcept { return (c >= 'A' && c <= 'Z') || c == '_'; }

// Returns `text` with the values of variables, or an empty text if a variable is not set.
std::string with_values(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::size_t const end = std::min(text.find('$'), text.size());
    out += text.substr(0, end);
    text.remove_prefix(end);
    if (text.empty()) break;
    text.remove_prefix(1);
    std::size_t length = 0;
    while (length < text.size() && is_name(text[length])) ++length;
    char const* const value = environment_variable(std::string(text.substr(0, length)).c_str());
    if (value == nullptr || *value == 0) return {};
    out += value;
    text.remove_prefix(length);
  }
  return out;
}

std::string first_of(std::string_view choices) {
  for (;;) {
    std::size_t const bar = choices.find('|');
    std::string text = with_values(choices.substr(0, bar));
    if (!text.empty() || bar == choices.npos) return text;
    choices.remove_prefix(bar + 1);
  }
}

}  // namespace

CiJob ci_job() {
  for (Service const& service : kServices) {
    char const* const sign = environment_variable(service.sign);
    if (sign == nullptr || *sign == 0) continue;
    return {service.name,          first_of(service.revision), first_of(service.url),
            first_of(service.job), first_of(service.run),      first_of(service.branch)};
  }
  return {};
}

}}}  // namespace tracing::v1::environment
