#!/bin/sh
# Prints the C++ source of the texts that a header declares, for builds without CMake. cmake/TestlogEmbed.cmake makes smaller texts.
#
#   embed.sh <header, by its path in the tree> <namespace> {<constant> <file>[+<file>...]}...
#
# Files joined by `+` become one text. <constant>Sha256 is its hash in hexadecimal.
set -eu
printf '#include "%s"\n\nnamespace %s {\n' "$1" "$2"
shift 2
IFS=+
while [ $# -gt 0 ]; do
  printf 'constinit std::string_view const %s = R"TESTLOG(' "$1"
  # shellcheck disable=SC2086  # the files
  cat -- $2
  # shellcheck disable=SC2086
  printf ')TESTLOG";\nconstinit std::string_view const %sSha256 = "%s";\n' "$1" "$(cat -- $2 | sha256sum | cut -c 1-64)"
  shift 2
done
echo '}'
