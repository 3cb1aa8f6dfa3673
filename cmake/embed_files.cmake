# Turns files into one C header: cmake -DFOLDER=... -DNAMES=a.css,b.js -DOUTPUT=... -P this_file
#
# Bytes with a NUL behind them; "console.css" becomes www_console_css.
string(REPLACE "," ";" names "${NAMES}")
set(arrays "")
foreach(name IN LISTS names)
	file(READ "${FOLDER}/${name}" bytes HEX)
	string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
	string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
	string(REGEX REPLACE "[^a-z0-9]" "_" symbol "${name}")
	string(APPEND arrays "static const unsigned char www_${symbol}[] = {\n${bytes}\n0x00 };\n")
endforeach()
file(WRITE "${OUTPUT}" "/* Written by cmake/embed_files.cmake. */\n${arrays}")
