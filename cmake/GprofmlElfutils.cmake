# elfutils (Debian: libdw-dev) unwinds saved stacks and names their functions.
find_path(GPROFML_ELFUTILS_INCLUDE_DIR elfutils/libdwfl.h REQUIRED)
find_library(GPROFML_DW_LIBRARY dw REQUIRED)
find_library(GPROFML_ELF_LIBRARY elf REQUIRED)
mark_as_advanced(GPROFML_ELFUTILS_INCLUDE_DIR GPROFML_DW_LIBRARY GPROFML_ELF_LIBRARY)
add_library(gprofml_elfutils INTERFACE)
target_include_directories(gprofml_elfutils SYSTEM INTERFACE ${GPROFML_ELFUTILS_INCLUDE_DIR})
target_link_libraries(gprofml_elfutils INTERFACE ${GPROFML_DW_LIBRARY} ${GPROFML_ELF_LIBRARY})
