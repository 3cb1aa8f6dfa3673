# Turns the migrations into one C file: cmake -DFOLDER=... -DNAMES=a,b -DOUTPUT=... -P this_file
#
# Bytes, not string literals, so that the program holds exactly the file the checksum is of.
string(REPLACE "," ";" names "${NAMES}")
set(arrays "")
set(rows "")
set(expected 0)
foreach(name IN LISTS names)
	set(path "${FOLDER}/${name}.sql")
	if(NOT name MATCHES "^([0-9][0-9][0-9][0-9])_([a-z0-9_]+)$")
		message(FATAL_ERROR "${name}: is not NNNN_name")
	endif()
	set(digits "${CMAKE_MATCH_1}")
	set(title "${CMAKE_MATCH_2}")
	math(EXPR expected "${expected} + 1")
	string(REGEX REPLACE "^0+" "" version "${digits}")
	if(NOT version EQUAL expected)
		message(FATAL_ERROR "${name}: migration ${expected} is missing")
	endif()
	file(SHA256 "${path}" checksum)
	file(READ "${path}" bytes HEX)
	string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
	string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
	string(APPEND arrays "static const unsigned char sql_${digits}[] = {\n${bytes}\n0x00 };\n")
	string(APPEND rows "\t{ ${version}, \"${title}\", \"${checksum}\", sql_${digits},\n"
		"\t\tsizeof(sql_${digits}) - 1 },\n")
endforeach()
file(WRITE "${OUTPUT}" "/* Written by cmake/embed_migrations.cmake from schema/. */
#include \"ctl/migration.h\"

#include \"version.h\"

_Static_assert(LAPSE_SCHEMA_VERSION == ${expected}, \"cmake/version.h.in names the last migration\");

${arrays}
const struct migration migration_files[] = {
${rows}};
const size_t migration_file_count = ${expected};
")
