# Warnings, hardening and sanitizers in one interface target, linked privately by all of ours.
add_library(lapse_flags INTERFACE)
target_compile_definitions(lapse_flags INTERFACE _POSIX_C_SOURCE=200809L)
target_include_directories(lapse_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(lapse_flags INTERFACE
	-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
	-Wold-style-definition -Wformat=2 -Wundef -Wvla -Wcast-qual -Wwrite-strings -Wpointer-arith
	-Wimplicit-fallthrough -Wswitch-enum)
if(LAPSE_WERROR)
	target_compile_options(lapse_flags INTERFACE -Werror)
endif()
if(LAPSE_FAILPOINTS)
	target_compile_definitions(lapse_flags INTERFACE LAPSE_FAILPOINTS)
endif()
if(LAPSE_SANITIZE)
	target_compile_options(lapse_flags INTERFACE
		-fsanitize=${LAPSE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
	target_link_options(lapse_flags INTERFACE -fsanitize=${LAPSE_SANITIZE})
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
	target_compile_options(lapse_flags INTERFACE
		-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong
		-fstack-clash-protection -fPIE)
	target_link_options(lapse_flags INTERFACE -pie -Wl,-z,relro,-z,now)
endif()
