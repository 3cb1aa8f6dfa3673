#include "console/statics.h"

#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "console/respond.h"
#include "www_embedded.h"

struct file {
	const char *path;
	const char *type;
	const char *text;
};

static const struct file files[] = {
	{ "/console.css", "text/css; charset=utf-8", (const char *)www_console_css },
	{ "/console.js", "text/javascript; charset=utf-8", (const char *)www_console_js },
	{ "/console.svg", "image/svg+xml", (const char *)www_console_svg },
};

void statics_send(struct visit *visit)
{
	for (size_t i = 0; i < ARRAY_LENGTH(files); i++)
		if (text_equals(files[i].path, visit->path))
			respond_text(visit, 200, files[i].type, memory_copy_text(files[i].text),
				strlen(files[i].text));
}
