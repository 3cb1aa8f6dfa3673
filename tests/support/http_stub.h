/*
 * http_stub - a product service that lies on request and counts effects by idempotency key.
 *
 * It runs in a process of its own on a loopback port and answers POST /v1/stock/restores, single
 * and batch, and POST on any path that http_stub_accept_path has named.  Each key is applied once
 * and answered like the first time afterwards, as the contract asks of a product service.
 */
#ifndef TESTS_SUPPORT_HTTP_STUB_H
#define TESTS_SUPPORT_HTTP_STUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_stub;

enum {
	HTTP_STUB_URL_SIZE = 64,
	HTTP_STUB_KEY_SIZE = 200,
	HTTP_STUB_SKU_SIZE = 80,
	HTTP_STUB_HEAD_SIZE = 8192,
	HTTP_STUB_BODY_SIZE = 131072,
	HTTP_STUB_TEXT_SIZE = 256,
	HTTP_STUB_TIMES = 16
};

enum http_stub_mode {
	HTTP_STUB_OK,
	HTTP_STUB_STATUS,      /* status, with Retry-After when retry_after_s is not 0; no effect */
	HTTP_STUB_CODE,        /* 200 with an object whose code is this one; no effect */
	HTTP_STUB_TEXT,        /* 200 with this text as body; no effect */
	HTTP_STUB_MISSING,     /* batch: no result for this item, though it is applied */
	HTTP_STUB_REDIRECT,    /* 302 to the address in text; no effect */
	HTTP_STUB_HANG,        /* takes the request and never answers; no effect */
	HTTP_STUB_TRICKLE,     /* a good answer, one byte a second, after the effect */
	HTTP_STUB_ENDLESS,     /* a body that never ends; no effect */
	HTTP_STUB_CUT,         /* cuts the connection; no effect */
	HTTP_STUB_ANSWER_LOST, /* cuts the connection after the effect */
};

struct http_stub_rule {
	const char *sku_id; /* "": every call that no other rule is about */
	enum http_stub_mode mode;
	uint32_t times;     /* holds for so many calls, then all is well; 0: for ever */
	uint32_t per_mille; /* holds for so many of 1000 calls, by chance; 0: for all */
	unsigned int status;
	int code;
	uint32_t retry_after_s;
	uint64_t delay_ms; /* before the answer, in every mode */
	const char *text;
};

void http_stub_create(struct http_stub **stub_out);
void http_stub_destroy(struct http_stub **stub);
void http_stub_format_url(const struct http_stub *stub, char url[HTTP_STUB_URL_SIZE]);

/* Takes the place of the rule for the same SKU. */
void http_stub_set_rule(struct http_stub *stub, const struct http_stub_rule *rule);
/* All is well again. */
void http_stub_drop_rules(struct http_stub *stub);
/* Nobody listens on the port while it is on; open connections are cut. */
void http_stub_refuse(struct http_stub *stub, bool is_on);
/* POST on this path, with any query, is recorded and answered 200 {"code":0,"errcode":0}. */
void http_stub_accept_path(struct http_stub *stub, const char *path);

/* What is known about one idempotency key. */
struct http_stub_key {
	char key[HTTP_STUB_KEY_SIZE];
	char sku_id[HTTP_STUB_SKU_SIZE];
	uint64_t quantity;
	uint64_t calls;
	uint64_t effects;                   /* 0 or 1 */
	bool has_changed;                   /* it came with another SKU, order or quantity once */
	uint64_t times_ms[HTTP_STUB_TIMES]; /* of the first calls, by clock_now_ms */
};
/* false: no call had this key. */
bool http_stub_find(struct http_stub *stub, const char *key, struct http_stub_key *key_out);
uint64_t http_stub_count_keys(struct http_stub *stub);
/* Requests that came whole; items of a batch are one call. */
uint64_t http_stub_count_calls(struct http_stub *stub);
/* Most calls of any key; keys that came with other content. */
uint64_t http_stub_most_calls(struct http_stub *stub);
uint64_t http_stub_count_changed(struct http_stub *stub);
/* Keys applied, and the sum of their quantities for a SKU ("": for all). */
uint64_t http_stub_count_effects(struct http_stub *stub);
uint64_t http_stub_sum_effects(struct http_stub *stub, const char *sku_id);
uint64_t http_stub_max_in_flight(struct http_stub *stub);
/* Requests that no product service of the contract would expect: path, method, key, body. */
uint64_t http_stub_count_strange(struct http_stub *stub, char last_out[HTTP_STUB_TEXT_SIZE]);

/* Bodies on accepted paths: the last 64. */
uint64_t http_stub_count_bodies(struct http_stub *stub);
/* index counts from 0, the oldest ever; false when it is not kept (any more). */
bool http_stub_get_body(struct http_stub *stub, uint64_t index, char body_out[HTTP_STUB_BODY_SIZE]);
/* Request line and headers of the same request, and when it came by clock_now_ms. */
bool http_stub_get_head(struct http_stub *stub, uint64_t index, char head_out[HTTP_STUB_HEAD_SIZE]);
uint64_t http_stub_get_time(struct http_stub *stub, uint64_t index);

#endif
