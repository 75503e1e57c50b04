# The CUDA toolkit, if there is one: headers of CUDA, CUPTI and NVTX. Nothing of it is linked; the
# recorder opens CUPTI when the program runs. Sets GPROFML_CUDA_INCLUDE_DIR and GPROFML_CUDA_FOUND.
find_path(GPROFML_CUDA_INCLUDE_DIR cuda.h
  HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES include targets/x86_64-linux/include)
find_path(GPROFML_CUPTI_INCLUDE_DIR cupti.h
  HINTS ${GPROFML_CUDA_INCLUDE_DIR} ENV CUDA_PATH ENV CUDA_HOME
  PATHS /usr/local/cuda PATH_SUFFIXES include extras/CUPTI/include)
find_path(GPROFML_NVTX_INCLUDE_DIR nvtx3/nvToolsExt.h
  HINTS ${GPROFML_CUDA_INCLUDE_DIR} ENV CUDA_PATH ENV CUDA_HOME
  PATHS /usr/local/cuda PATH_SUFFIXES include)
mark_as_advanced(GPROFML_CUDA_INCLUDE_DIR GPROFML_CUPTI_INCLUDE_DIR GPROFML_NVTX_INCLUDE_DIR)

set(GPROFML_CUDA_FOUND OFF)
if(GPROFML_CUDA_INCLUDE_DIR AND GPROFML_CUPTI_INCLUDE_DIR AND GPROFML_NVTX_INCLUDE_DIR)
  set(GPROFML_CUDA_FOUND ON)
  add_library(gprofml_cuda_headers INTERFACE)
  target_include_directories(gprofml_cuda_headers SYSTEM INTERFACE
    ${GPROFML_CUDA_INCLUDE_DIR} ${GPROFML_CUPTI_INCLUDE_DIR} ${GPROFML_NVTX_INCLUDE_DIR})
else()
  message(STATUS "No CUDA toolkit with CUPTI and NVTX headers: injection/, samples/ and the simulated "
                 "GPU with their tests are left out")
endif()
