# One folder of a library is one part: a static library of its own, so that it can only link, and a
# reader only needs to know, what it names here.

# gprofml_part(NAME FOLDER [LINK ...] [PRIVATE_LINK ...]): static library NAME from FOLDER/*.cpp
function(gprofml_part name folder)
  cmake_parse_arguments(part "" "" "LINK;PRIVATE_LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC gprofml_settings ${part_LINK} PRIVATE ${part_PRIVATE_LINK})
endfunction()
