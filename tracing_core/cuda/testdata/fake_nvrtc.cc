// A library with NVRTC's calls, of which only nvrtcVersion() may be called.
#include <nvrtc.h>

nvrtcResult nvrtcVersion(int* major, int* minor) {
  *major = FAKE_MAJOR;
  *minor = FAKE_MINOR;
  return NVRTC_SUCCESS;
}

char const* nvrtcGetErrorString(nvrtcResult) { return "fake"; }
nvrtcResult nvrtcGetNumSupportedArchs(int*) { return NVRTC_SUCCESS; }
nvrtcResult nvrtcGetSupportedArchs(int*) { return NVRTC_SUCCESS; }
nvrtcResult nvrtcCreateProgram(nvrtcProgram*, char const*, char const*, int, char const* const*, char const* const*) {
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram*) { return NVRTC_SUCCESS; }
nvrtcResult nvrtcAddNameExpression(nvrtcProgram, char const*) { return NVRTC_SUCCESS; }
nvrtcResult nvrtcCompileProgram(nvrtcProgram, int, char const* const*) { return NVRTC_SUCCESS; }
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram, size_t*) { return NVRTC_SUCCESS; }
nvrtcResult nvrtcGetProgramLog(nvrtcProgram, char*) { return NVRTC_SUCCESS; }
nvrtcResult nvrtcGetPTXSize(nvrtcProgram, size_t*) { return NVRTC_SUCCESS; }
nvrtcResult nvrtcGetPTX(nvrtcProgram, char*) { return NVRTC_SUCCESS; }
#if !defined(FAKE_LACKS_CUBIN)
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram, size_t*) { return NVRTC_SUCCESS; }
#endif
nvrtcResult nvrtcGetCUBIN(nvrtcProgram, char*) { return NVRTC_SUCCESS; }
nvrtcResult nvrtcGetLoweredName(nvrtcProgram, char const*, char const**) { return NVRTC_SUCCESS; }
