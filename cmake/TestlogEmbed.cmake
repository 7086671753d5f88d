# testlog_embed(<library> OUTPUT <file.cc> HEADER <file that declares the constants> [NAMESPACE <name>] [COMPACT]
#               [<constant> <file>]...)
#
# Adds the text of files to a library, each as a std::string_view constant in namespace tracing::internal or the given one. Files
# joined by `+` become one text. If the header declares <constant>Sha256, too, it gets the hash of the text in hexadecimal.
# COMPACT leaves out comments (`//` in a line of its own or after two blanks), indentation, blanks around punctuation in style
# sheets and around operators in scripts, and line ends after punctuation. So texts in scripts must not have an operator between
# blanks, a blank after `)`, a word after `; `, or a word between two marks such as `, word.`; and all statements end with `;` or `}`.
#
# As a script (-P) it writes that source file: OUTPUT, HEADER, SPACE (the namespace), COMPACT and TEXTS as above.

function(testlog_embed library)
  cmake_parse_arguments(ARG "COMPACT" "OUTPUT;HEADER;NAMESPACE" "" ${ARGN})
  if(NOT ARG_NAMESPACE)
    set(ARG_NAMESPACE "tracing::inline v1::internal")
  endif()
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${ARG_OUTPUT})
  set(files ${ARG_UNPARSED_ARGUMENTS})
  list(FILTER files INCLUDE REGEX "\\.")
  string(REPLACE "+" ";" files "${files}")
  list(TRANSFORM files PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DHEADER=${ARG_HEADER} "-DSPACE=${ARG_NAMESPACE}" -DCOMPACT=${ARG_COMPACT} "-DTEXTS=${ARG_UNPARSED_ARGUMENTS}"
      -DFOLDER=${CMAKE_CURRENT_SOURCE_DIR} -DROOT=${PROJECT_SOURCE_DIR} -P ${TESTLOG_EMBED_SCRIPT}
    DEPENDS ${files} ${TESTLOG_EMBED_SCRIPT} VERBATIM)
  # A target, since the library may belong to another folder.
  add_custom_target(${library}_texts DEPENDS ${output})
  set_source_files_properties(${output} TARGET_DIRECTORY ${library} PROPERTIES GENERATED ON)
  target_sources(${library} PRIVATE ${output})
  add_dependencies(${library} ${library}_texts)
endfunction()

set(TESTLOG_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
if(NOT CMAKE_SCRIPT_MODE_FILE)
  return()
endif()

file(READ ${ROOT}/${HEADER} header)
set(source "#include \"${HEADER}\"\n\nnamespace ${SPACE} {\n\n")
while(TEXTS)
  list(POP_FRONT TEXTS constant file)
  string(REPLACE "+" ";" parts "${file}")
  set(text "")
  foreach(part IN LISTS parts)
    file(READ ${FOLDER}/${part} one)
    if(COMPACT)
      string(REGEX REPLACE "(^|\n|  )// [^\n]*" "\\1" one "${one}")
      string(REGEX REPLACE "[ \n]*\n[ \n]*" "\n" one "${one}")
    endif()
    if(COMPACT AND part MATCHES "css$")
      string(REGEX REPLACE "[ \n]*([{}:;,>])[ \n]*" "\\1" one "${one}")
      string(REPLACE ";}" "}" one "${one}")
    elseif(COMPACT)
      string(REGEX REPLACE " ([-+*/%=<>?:]|===|!==|=>|&&|[|][|]|[<>+-]=|[?][?]) " "\\1" one "${one}")
      string(REGEX REPLACE "(if|for|while|catch) \\(" "\\1(" one "${one}")
      string(REGEX REPLACE "\\) ([A-Za-z{}])" ")\\1" one "${one}")
      string(REPLACE "; }" ";}" one "${one}")
      string(REGEX REPLACE "([,:]) ([[({0-9-])" "\\1\\2" one "${one}")
      foreach(once RANGE 1)  # the first time finds only every other word of a list
        string(REGEX REPLACE "([,:]) ([A-Za-z_.]+[],.()=;:?*/+}-])" "\\1\\2" one "${one}")
      endforeach()
      string(REGEX REPLACE "(const|let|return|case|of) ([[{(])" "\\1\\2" one "${one}")
      string(REGEX REPLACE "([A-Za-z)][,:]|[A-Za-z]\",) \"" "\\1\"" one "${one}")
      string(REGEX REPLACE "; ([a-z+])" ";\\1" one "${one}")
      string(REGEX REPLACE "([;,{}(])\n" "\\1" one "${one}")
    endif()
    string(APPEND text "${one}")
  endforeach()
  string(APPEND source "constinit std::string_view const ${constant} = R\"TESTLOG(${text})TESTLOG\";\n\n")
  if(header MATCHES "${constant}Sha256")
    string(SHA256 hash "${text}")
    string(APPEND source "constinit std::string_view const ${constant}Sha256 = \"${hash}\";\n\n")
  endif()
endwhile()
string(APPEND source "}  // namespace ${SPACE}\n")
file(WRITE ${OUTPUT} "${source}")
