# The version comes from project(VERSION); the revision from git where there is one, or from
# -DLAPSE_REVISION=... where only the sources are.
if(NOT LAPSE_REVISION)
	execute_process(COMMAND git rev-parse --short HEAD
		WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
		OUTPUT_VARIABLE LAPSE_REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT LAPSE_REVISION)
	set(LAPSE_REVISION unknown)
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/version.h.in
	${PROJECT_BINARY_DIR}/generated/version.h @ONLY)
target_include_directories(lapse_flags INTERFACE ${PROJECT_BINARY_DIR}/generated)
