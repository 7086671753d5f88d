# testlog_cuda()
#
# Looks for the CUDA Toolkit (12 or newer) by its headers and its nvcc, by CUDA_PATH, CUDA_HOME, the PATH or where it is put
# by default, and makes the target tracing::cuda_headers of them. Nothing of the toolkit is linked: the driver and NVRTC are
# opened while a program runs, so that it starts on every machine. Sets TESTLOG_CUDA_INCLUDE_DIR, empty where there is none,
# and TESTLOG_NVCC.
#
# testlog_cublas()
#
# Looks for what testlog::cublas_on_cpu needs, Eigen and the headers of cuBLAS, which some packages of the toolkit leave out. Sets
# TESTLOG_CUBLAS_INCLUDE_DIR; says so if something is missing.
function(testlog_cublas)
  find_package(Eigen3 3.3 QUIET NO_MODULE)
  find_path(TESTLOG_CUBLAS_INCLUDE_DIR cublasLt.h HINTS ${TESTLOG_CUDA_INCLUDE_DIR} NO_DEFAULT_PATH)
  if(TESTLOG_CUDA_INCLUDE_DIR AND NOT TARGET Eigen3::Eigen)
    message(STATUS "No Eigen here (Debian: libeigen3-dev): testlog::cublas_on_cpu is left out, so programs cannot call cuBLAS without a GPU.")
  elseif(TESTLOG_CUDA_INCLUDE_DIR AND NOT TESTLOG_CUBLAS_INCLUDE_DIR)
    message(STATUS "No headers of cuBLAS in ${TESTLOG_CUDA_INCLUDE_DIR}: testlog::cublas_on_cpu is left out, so programs cannot call cuBLAS without a GPU.")
  endif()
endfunction()

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
