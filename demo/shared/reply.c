#include "demo/shared/reply.h"

#include <string.h>

#include "common/io/httpd.h"
#include "common/io/json.h"

void reply_json(struct httpd_answer *answer, unsigned int status, struct json **root)
{
	answer->status = status;
	answer->content_type = "application/json";
	answer->body_adopt = json_write(*root);
	answer->body_size = strlen(answer->body_adopt);
	json_destroy(root);
}

void reply(struct httpd_answer *answer, unsigned int status, int code, const char *message)
{
	struct json *root = json_create_object();

	json_set_int(root, "code", code);
	json_set_text(root, "message", message);
	reply_json(answer, status, &root);
}
