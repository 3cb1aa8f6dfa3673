#include "common/io/http.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/url.h"

enum {
	HEAD_MAX = 32768, /* bytes of all header lines of one call */
	FIRST_ROOM = 1024,
	/* A connection idle for longer is not used again: many servers cut it after 5 seconds. */
	IDLE_MAX_S = 4,
	WAIT_MAX_MS = 60000,
	BUFFER_SIZE = 16384, /* of the library, for each call and direction; its smallest */
	RETRY_AFTER_MAX_S = 604800,
};

enum call_state {
	CALL_STATE_FREE,
	CALL_STATE_RUNNING,
	CALL_STATE_FINISHED,
};

struct call {
	enum call_state state;
	CURL *easy;
	struct curl_slist *headers;
	void *context;
	char *body; /* of the answer */
	size_t body_size, body_room, body_max;
	size_t head_size;
	bool is_body_too_long;
	bool is_sent;
	uint64_t start_ms;
	CURLcode code;
	char error[CURL_ERROR_SIZE];
};

struct http {
	CURLM *multi;
	struct call *calls;
	size_t concurrency;
	size_t free_count;
	size_t running_count;
	size_t finished_count;
};

/* Setting fails for values that are wrong here, in the source, only. */
static const struct {
	CURLoption option;
	long value;
} fixed_options[] = {
	{ CURLOPT_FOLLOWLOCATION, 0 },
	{ CURLOPT_NOSIGNAL, 1 },
	/* A name server that is silent must not hold up the loop when a call is over. */
	{ CURLOPT_QUICK_EXIT, 1 },
	{ CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1 },
	{ CURLOPT_MAXAGE_CONN, IDLE_MAX_S },
	{ CURLOPT_TCP_KEEPALIVE, 1 },
	{ CURLOPT_BUFFERSIZE, BUFFER_SIZE },
	{ CURLOPT_UPLOAD_BUFFERSIZE, BUFFER_SIZE },
};

static void set_number(CURL *easy, CURLoption option, long value)
{
	REQUIRE(curl_easy_setopt(easy, option, value) == CURLE_OK);
}

static void set_text(CURL *easy, CURLoption option, const char *value)
{
	REQUIRE(curl_easy_setopt(easy, option, value) == CURLE_OK);
}

static size_t take_body(char *bytes, size_t item_size, size_t count, void *context)
{
	struct call *call = context;
	size_t size = item_size * count;

	if (size > call->body_max - call->body_size) {
		call->is_body_too_long = true;
		return 0; /* ends the call */
	}
	while (call->body_room < call->body_size + size + 1) {
		call->body_room = call->body_room == 0 ? FIRST_ROOM : 2 * call->body_room;
		call->body = memory_resize_array(call->body, call->body_room, 1);
	}
	memcpy(call->body + call->body_size, bytes, size);
	call->body_size += size;
	return size;
}

/* NOLINTBEGIN(readability-non-const-parameter): the library prescribes the parameters. */

/* The library keeps header lines for as long as the call lasts. */
static size_t count_head(char *bytes, size_t item_size, size_t count, void *context)
{
	struct call *call = context;
	size_t size = item_size * count;

	(void)bytes;
	call->head_size += size;
	return call->head_size <= HEAD_MAX ? size : 0;
}

/* Runs before each request is written, and a second time when the library, unasked, wants to send
 * it again because a kept connection was cut under it. */
static int allow_once(
	void *context, char *remote_ip, char *local_ip, int remote_port, int local_port)
{
	struct call *call = context;

	(void)remote_ip;
	(void)local_ip;
	(void)remote_port;
	(void)local_port;
	if (call->is_sent)
		return CURL_PREREQFUNC_ABORT;
	call->is_sent = true;
	return CURL_PREREQFUNC_OK;
}

/* NOLINTEND(readability-non-const-parameter) */

/* These cannot fail: pointers are only stored. */
static void set_callbacks(CURL *easy, struct call *call)
{
	(void)curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, allow_once);
	(void)curl_easy_setopt(easy, CURLOPT_PREREQDATA, call);
	(void)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, count_head);
	(void)curl_easy_setopt(easy, CURLOPT_HEADERDATA, call);
	(void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
	(void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
	(void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call->error);
	(void)curl_easy_setopt(easy, CURLOPT_PRIVATE, call);
}

static CURL *create_easy(struct call *call, uint64_t connect_limit_ms)
{
	CURL *easy = curl_easy_init();

	REQUIRE(easy != NULL);
	for (size_t i = 0; i < ARRAY_LENGTH(fixed_options); i++)
		set_number(easy, fixed_options[i].option, fixed_options[i].value);
	set_number(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_limit_ms);
	set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	set_text(easy, CURLOPT_PROXY, "");
	set_text(easy, CURLOPT_USERAGENT, "lapse");
	set_callbacks(easy, call);
	return easy;
}

void http_create(uint32_t concurrency, uint64_t connect_limit_ms, struct http **http_out)
{
	struct http *http = memory_allocate(sizeof(*http));

	REQUIRE(concurrency > 0 && curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
	http->multi = curl_multi_init();
	REQUIRE(http->multi != NULL);
	(void)curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, (long)concurrency);
	http->concurrency = concurrency;
	http->free_count = concurrency;
	http->calls = memory_allocate_array(concurrency, sizeof(*http->calls));
	for (size_t i = 0; i < concurrency; i++)
		http->calls[i].easy = create_easy(&http->calls[i], connect_limit_ms);
	*http_out = http;
}

void http_destroy(struct http **http)
{
	if (*http == NULL)
		return;
	for (size_t i = 0; i < (*http)->concurrency; i++) {
		struct call *call = &(*http)->calls[i];

		if (call->state == CALL_STATE_RUNNING)
			(void)curl_multi_remove_handle((*http)->multi, call->easy);
		curl_easy_cleanup(call->easy);
		curl_slist_free_all(call->headers);
		free(call->body);
	}
	(void)curl_multi_cleanup((*http)->multi);
	curl_global_cleanup();
	free((*http)->calls);
	free(*http);
	*http = NULL;
}

bool http_is_url(const char *url)
{
	struct url parts;

	for (const char *c = url; *c != '\0'; c++)
		if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7F || *c == '#')
			return false;
	return strlen(url) <= HTTP_URL_MAX && url_parse(url, &parts) && parts.host[0] != '\0' &&
	       (text_equals(parts.scheme, "http") || text_equals(parts.scheme, "https"));
}

void http_format_target(const char *url, char *target, size_t target_size)
{
	struct url parts;

	target[0] = '\0';
	if (!url_parse(url, &parts))
		return;
	unsigned int port = parts.port != 0                      ? parts.port
			    : text_equals(parts.scheme, "https") ? 443
								 : 80;
	(void)text_format(target, target_size,
		strchr(parts.host, ':') == NULL ? "%s:%u" : "[%s]:%u", parts.host, port);
}

size_t http_count_free(const struct http *http)
{
	return http->free_count;
}

size_t http_count_running(const struct http *http)
{
	return http->running_count;
}

static struct call *find_call(const struct http *http, enum call_state state)
{
	for (size_t i = 0; i < http->concurrency; i++)
		if (http->calls[i].state == state)
			return &http->calls[i];
	return NULL;
}

static struct curl_slist *copy_headers(const char *const *headers)
{
	/* The library would ask large bodies' receivers first, and wait. */
	struct curl_slist *list = curl_slist_append(NULL, "Expect:");

	for (size_t i = 0; headers != NULL && headers[i] != NULL; i++) {
		struct curl_slist *longer = curl_slist_append(list, headers[i]);

		REQUIRE(longer != NULL);
		list = longer;
	}
	return list;
}

static void set_body(struct call *call, const struct http_request *request)
{
	if (request->body == NULL) {
		set_number(call->easy, CURLOPT_HTTPGET, 1);
		return;
	}
	set_number(call->easy, CURLOPT_POST, 1);
	set_number(call->easy, CURLOPT_POSTFIELDSIZE, (long)request->body_size);
	set_text(call->easy, CURLOPT_COPYPOSTFIELDS, request->body);
}

void http_start(struct http *http, const struct http_request *request)
{
	struct call *call = find_call(http, CALL_STATE_FREE);

	REQUIRE(call != NULL);
	call->context = request->context;
	call->body_size = 0;
	call->body_max = request->answer_max == 0 ? HTTP_ANSWER_MAX : request->answer_max;
	call->head_size = 0;
	call->is_body_too_long = false;
	call->is_sent = false;
	call->error[0] = '\0';
	call->headers = copy_headers(request->headers);
	call->start_ms = clock_now_ms();
	set_text(call->easy, CURLOPT_URL, request->url);
	set_number(call->easy, CURLOPT_TIMEOUT_MS, (long)request->time_limit_ms);
	(void)curl_easy_setopt(call->easy, CURLOPT_HTTPHEADER, call->headers);
	set_body(call, request);
	REQUIRE(curl_multi_add_handle(http->multi, call->easy) == CURLM_OK);
	call->state = CALL_STATE_RUNNING;
	http->free_count--;
	http->running_count++;
}

static void finish(struct http *http, CURL *easy, CURLcode code)
{
	char *private = NULL;

	(void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, &private);
	struct call *call = (struct call *)(void *)private;
	call->code = code;
	call->state = CALL_STATE_FINISHED;
	http->running_count--;
	http->finished_count++;
	(void)curl_multi_remove_handle(http->multi, easy);
	curl_slist_free_all(call->headers);
	call->headers = NULL;
}

static void collect(struct http *http)
{
	const CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(http->multi, &left)) != NULL)
		if (message->msg == CURLMSG_DONE)
			finish(http, message->easy_handle, message->data.result);
}

void http_work(struct http *http, uint64_t wait_ms)
{
	int running = 0;
	int wait = (int)(wait_ms < WAIT_MAX_MS ? wait_ms : WAIT_MAX_MS);

	(void)curl_multi_perform(http->multi, &running);
	collect(http);
	if (http->finished_count > 0 || wait == 0)
		return;
	(void)curl_multi_poll(http->multi, NULL, 0, wait, NULL);
	(void)curl_multi_perform(http->multi, &running);
	collect(http);
}

static enum http_failure find_failure(const struct call *call)
{
	switch ((int)call->code) {
	case CURLE_OK:
		return HTTP_FAILURE_NONE;
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_PEER_FAILED_VERIFICATION:
		return HTTP_FAILURE_CONNECT;
	case CURLE_OPERATION_TIMEDOUT:
		return call->is_sent ? HTTP_FAILURE_TIME : HTTP_FAILURE_CONNECT;
	default:
		return HTTP_FAILURE_BROKEN;
	}
}

static void describe_failure(const struct call *call, struct http_answer *answer)
{
	const char *words = call->error[0] != '\0' ? call->error : curl_easy_strerror(call->code);

	if (call->is_body_too_long)
		words = "the answer is too long";
	else if (call->code == CURLE_WRITE_ERROR)
		words = "the head of the answer is too long";
	else if (call->code == CURLE_ABORTED_BY_CALLBACK)
		words = "the connection was cut before an answer";
	(void)text_clip(answer->error, sizeof(answer->error), words, strlen(words));
}

static uint64_t read_retry_after(CURL *easy)
{
	curl_off_t seconds = 0;

	if (curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &seconds) != CURLE_OK || seconds <= 0)
		return 0;
	return (uint64_t)(seconds < RETRY_AFTER_MAX_S ? seconds : RETRY_AFTER_MAX_S) * 1000;
}

static void read_answer(struct call *call, struct http_answer *answer)
{
	memset(answer, 0, sizeof(*answer));
	answer->context = call->context;
	answer->failure = find_failure(call);
	answer->duration_ms = clock_now_ms() - call->start_ms;
	answer->body = "";
	(void)curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &answer->head_status);
	if (answer->failure != HTTP_FAILURE_NONE) {
		describe_failure(call, answer);
		return;
	}
	answer->status = answer->head_status;
	answer->retry_after_ms = read_retry_after(call->easy);
	if (call->body_size > 0) {
		call->body[call->body_size] = '\0';
		answer->body = call->body;
		answer->body_size = call->body_size;
	}
}

bool http_take_answer(struct http *http, struct http_answer *answer_out)
{
	struct call *call = http->finished_count == 0 ? NULL : find_call(http, CALL_STATE_FINISHED);

	if (call == NULL)
		return false;
	read_answer(call, answer_out);
	call->state = CALL_STATE_FREE;
	http->finished_count--;
	http->free_count++;
	return true;
}
