/*
 * reply - JSON answers of the demo's services.
 */
#ifndef DEMO_SHARED_REPLY_H
#define DEMO_SHARED_REPLY_H

struct httpd_answer;
struct json;

/* Takes the root over as the body of the answer. */
void reply_json(struct httpd_answer *answer, unsigned int status, struct json **root);
/* {"code": code, "message": message}; 0 is success. */
void reply(struct httpd_answer *answer, unsigned int status, int code, const char *message);

#endif
