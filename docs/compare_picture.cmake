# Draws a picture and compares it with the one that the documentation shows: PROGRAM with ARGUMENTS, APPROVED.
# `TESTLOG_APPROVE=1 ctest -R docs.picture` draws those anew.
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} OUTPUT_VARIABLE drawn COMMAND_ERROR_IS_FATAL ANY)
if("$ENV{TESTLOG_APPROVE}" STREQUAL "1")
  file(WRITE ${APPROVED} "${drawn}")
  return()
endif()
set(approved "")
if(EXISTS ${APPROVED})
  file(READ ${APPROVED} approved)
endif()
if(NOT "${drawn}" STREQUAL "${approved}")
  message(FATAL_ERROR "${APPROVED} is not what is drawn of the lines beside it.\n"
    "To draw it anew: TESTLOG_APPROVE=1 ctest -R docs.picture")
endif()
