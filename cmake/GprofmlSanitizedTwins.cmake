# A second and third build of the same libraries under GCC's ThreadSanitizer and AddressSanitizer,
# beside the normal one, so that one test can run a whole program with instrumented libraries.

# gprofml_sanitized_twins(TARGET... GROUP name): for each shared library TARGET the twins
# TARGET_thread and TARGET_address, built only when asked for by the targets GROUP_thread and
# GROUP_address. A twin has the sources, settings and file name of its original, lies in the folder
# of its original with -tsan or -asan added, and links the twins of what its original links. Call it
# after everything about the originals is said, with originals that link each other in link order.
function(gprofml_sanitized_twins)
  cmake_parse_arguments(twins "" "GROUP" "" ${ARGN})
  foreach(kind thread address)
    if(NOT TARGET ${twins_GROUP}_${kind})
      add_custom_target(${twins_GROUP}_${kind})
    endif()
    foreach(original ${twins_UNPARSED_ARGUMENTS})
      gprofml_sanitized_twin(${original} ${kind})
      add_dependencies(${twins_GROUP}_${kind} ${original}_${kind})
    endforeach()
  endforeach()
endfunction()

function(gprofml_sanitized_twin original kind)
  set(twin ${original}_${kind})
  get_target_property(sources ${original} SOURCES)
  get_target_property(folder ${original} SOURCE_DIR)
  set(absolute)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder})
    list(APPEND absolute ${source})
  endforeach()
  add_library(${twin} SHARED EXCLUDE_FROM_ALL ${absolute})
  set_target_properties(${twin} PROPERTIES OUTPUT_NAME ${original})
  foreach(property OUTPUT_NAME SOVERSION VERSION COMPILE_OPTIONS COMPILE_DEFINITIONS
                   INCLUDE_DIRECTORIES LINK_OPTIONS LINK_DEPENDS LINKER_LANGUAGE PREFIX SUFFIX
                   CXX_VISIBILITY_PRESET C_VISIBILITY_PRESET VISIBILITY_INLINES_HIDDEN BUILD_RPATH)
    get_target_property(value ${original} ${property})
    if(NOT value MATCHES "-NOTFOUND$")
      set_target_properties(${twin} PROPERTIES ${property} "${value}")
    endif()
  endforeach()
  # A library cannot be linked with "no undefined symbols" when a preloaded runtime supplies them.
  get_target_property(link_options ${twin} LINK_OPTIONS)
  if(link_options)
    list(REMOVE_ITEM link_options "-Wl,-z,defs" "LINKER:-z,defs" "-Wl,--no-undefined")
    set_target_properties(${twin} PROPERTIES LINK_OPTIONS "${link_options}")
  endif()
  get_target_property(links ${original} LINK_LIBRARIES)
  foreach(link ${links})
    if(TARGET ${link}_${kind})
      target_link_libraries(${twin} PRIVATE ${link}_${kind})
    elseif(link)
      target_link_libraries(${twin} PRIVATE ${link})
    endif()
  endforeach()
  # GCC 12 sees uninitialised values in std::function where AddressSanitizer has been at work.
  target_compile_options(${twin} PRIVATE -fsanitize=${kind} -fno-omit-frame-pointer -g -O1
                                         -Wno-maybe-uninitialized)
  target_link_options(${twin} PRIVATE -fsanitize=${kind})
  get_target_property(output ${original} LIBRARY_OUTPUT_DIRECTORY)
  if(NOT output)
    set(output ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
  endif()
  string(REGEX REPLACE "^(.).*" "\\1san" suffix ${kind})
  set_target_properties(${twin} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${output}-${suffix})
endfunction()
