# testlog_cuda()
#
# Looks for the CUDA Toolkit (12 or newer) by its headers and its nvcc, by CUDA_PATH, CUDA_HOME, the PATH or where it is put
# by default, and makes the target tracing::cuda_headers of them. Nothing of the toolkit is linked: the driver and NVRTC are
# opened while a program runs, so that it starts on every machine. Sets TESTLOG_CUDA_INCLUDE_DIR, empty where there is none,
# and TESTLOG_NVCC.

function(testlog_cuda)
  find_program(TESTLOG_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
  set(hints "")
  if(TESTLOG_NVCC)
    file(REAL_PATH ${TESTLOG_NVCC} nvcc)
    cmake_path(SET root NORMALIZE ${nvcc}/../..)
    set(hints ${root} ${root}/targets/${CMAKE_SYSTEM_PROCESSOR}-linux)
  endif()
  find_path(TESTLOG_CUDA_INCLUDE_DIR cudaTypedefs.h HINTS ${hints} ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda
    PATH_SUFFIXES include)
  if(NOT TARGET tracing::cuda_headers)
    add_library(tracing::cuda_headers INTERFACE IMPORTED GLOBAL)
    if(TESTLOG_CUDA_INCLUDE_DIR)
      target_include_directories(tracing::cuda_headers SYSTEM INTERFACE ${TESTLOG_CUDA_INCLUDE_DIR})
    endif()
  endif()
endfunction()
