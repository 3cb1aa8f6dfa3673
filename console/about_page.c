#include "console/about_page.h"

#include <inttypes.h>

#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/json.h"
#include "common/service/database.h"
#include "console/page.h"
#include "console/respond.h"
#include "console/settings.h"
#include "version.h"

enum {
	VALUE_SIZE = 1024
};

struct writing {
	const struct visit *visit;
	struct html *html; /* a page, or */
	struct json *root; /* a document */
};

static void write_property(struct writing *writing, const char *name, const char *value)
{
	if (writing->root != NULL) {
		json_set_text(writing->root, name, value);
		return;
	}
	html_element(writing->html, "dt", NULL, say(writing->visit, name));
	html_element(writing->html, "dd", NULL, value);
}

static void take_setting(void *context, const char *name, const char *value)
{
	write_property(context, name, value);
}

static void write_all(struct writing *writing)
{
	const struct context *context = writing->visit->context;
	char schema[32];

	(void)text_format(schema, sizeof(schema), "%d", LAPSE_SCHEMA_VERSION);
	write_property(writing, "version", LAPSE_VERSION);
	write_property(writing, "revision", LAPSE_REVISION);
	write_property(writing, "schema", schema);
	write_property(writing, "MySQL",
		database_away_ms(context->database) == 0 &&
				db_is_connected(database_db(context->database))
			? db_server_version(database_db(context->database))
			: say(writing->visit, PHRASE("MySQL is away.")));
	write_property(writing, "licence", "Apache-2.0");
	settings_each(console_settings_table, context->settings, take_setting, writing);
}

void about_page_show(struct visit *visit)
{
	struct writing writing = { .visit = visit };

	if (visit->is_api) {
		writing.root = json_create_object();
		write_all(&writing);
		respond_json(visit, 200, &writing.root);
		return;
	}
	writing.html = page_begin(visit, PHRASE("About Lapse"));
	html_open(writing.html, "dl", HTML_END);
	write_all(&writing);
	html_close(writing.html, "dl");
	page_end(visit, 200, &writing.html);
}
