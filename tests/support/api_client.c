#include "tests/support/api_client.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/signature.h"
#include "tests/support/listener.h"

enum {
	LIMIT_MS = 30000, /* the machine may be busy */
	HEAD_MAX = 2048,
	CHUNK = 16384
};

struct api_client {
	uint16_t port;
	int socket; /* -1: none */
	uint64_t limit_ms;
	bool was_refused;
	struct api_answer answer;
};

void api_client_create(uint16_t port, struct api_client **client_out)
{
	struct api_client *client = memory_allocate(sizeof(*client));

	client->port = port;
	client->socket = -1;
	client->limit_ms = LIMIT_MS;
	*client_out = client;
}

static void disconnect(struct api_client *client)
{
	if (client->socket >= 0)
		(void)close(client->socket);
	client->socket = -1;
}

void api_client_destroy(struct api_client **client)
{
	if (*client == NULL)
		return;
	disconnect(*client);
	free(*client);
	*client = NULL;
}

void api_client_set_limit(struct api_client *client, uint64_t limit_ms)
{
	client->limit_ms = limit_ms == 0 ? LIMIT_MS : limit_ms;
}

static bool wait_for(const struct api_client *client, short events, uint64_t end_ms)
{
	struct pollfd news = { .fd = client->socket, .events = events };
	uint64_t now_ms = clock_now_ms();

	return now_ms < end_ms && poll(&news, 1, (int)(end_ms - now_ms)) > 0;
}

static bool send_all(
	const struct api_client *client, const char *bytes, size_t size, uint64_t end_ms)
{
	while (size > 0) {
		ssize_t sent = send(client->socket, bytes, size, MSG_NOSIGNAL);

		if (sent < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (sent < 0 && !wait_for(client, POLLOUT, end_ms))
			return false;
		bytes += sent > 0 ? sent : 0;
		size -= sent > 0 ? (size_t)sent : 0;
	}
	return true;
}

static bool send_request(
	const struct api_client *client, const struct api_request *request, uint64_t end_ms)
{
	char head[HEAD_MAX];
	size_t body_size = request->body == NULL     ? 0
			   : request->body_size == 0 ? strlen(request->body)
						     : request->body_size;

	return text_format(head, sizeof(head),
		       "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %zu\r\n%s\r\n",
		       request->method, request->path, body_size,
		       request->headers == NULL ? "" : request->headers) &&
	       send_all(client, head, strlen(head), end_ms) &&
	       (body_size == 0 || send_all(client, request->body, body_size, end_ms));
}

/* Bytes received, 0 when the stream or the time is over. */
static size_t receive(const struct api_client *client, char *target, size_t room, uint64_t end_ms)
{
	while (wait_for(client, POLLIN, end_ms)) {
		ssize_t got = recv(client->socket, target, room, 0);

		if (got > 0)
			return (size_t)got;
		if (got == 0 || (errno != EAGAIN && errno != EINTR))
			return 0;
	}
	return 0;
}

bool api_client_header(
	const struct api_answer *answer, const char *name, char *value_out, size_t value_size)
{
	size_t length = strlen(name);

	for (const char *line = strstr(answer->head, "\r\n"); line != NULL;
		line = strstr(line, "\r\n")) {
		line += 2;
		if (strncasecmp(line, name, length) != 0 || line[length] != ':')
			continue;
		const char *value = line + length + 1 + strspn(line + length + 1, " ");
		(void)text_format(value_out, value_size, "%.*s", (int)strcspn(value, "\r"), value);
		return true;
	}
	return false;
}

/* Everything up to the empty line goes into head, what came behind it is given back. */
static bool read_head(struct api_client *client, uint64_t end_ms, size_t *behind_out)
{
	struct api_answer *answer = &client->answer;
	size_t size = 0;
	char *end = NULL;

	while (end == NULL && size < sizeof(answer->head) - 1) {
		size_t got = receive(
			client, answer->head + size, sizeof(answer->head) - 1 - size, end_ms);

		if (got == 0)
			return false;
		size += got;
		answer->head[size] = '\0';
		end = strstr(answer->head, "\r\n\r\n");
	}
	if (end == NULL)
		return false;
	*behind_out = size - (size_t)(end + 4 - answer->head);
	memcpy(answer->body, end + 4, *behind_out);
	end[2] = '\0';
	return true;
}

/* What came behind the head is at the beginning of the body. */
struct chunk_reader {
	struct api_client *client;
	uint64_t end_ms;
	char bytes[CHUNK];
	size_t at, size;
};

static bool has_bytes(struct chunk_reader *reader)
{
	if (reader->at < reader->size)
		return true;
	reader->at = 0;
	reader->size =
		receive(reader->client, reader->bytes, sizeof(reader->bytes), reader->end_ms);
	return reader->size > 0;
}

static bool read_chunk_line(struct chunk_reader *reader, char line_out[HEAD_MAX])
{
	size_t length = 0;

	while (length < HEAD_MAX - 1 && has_bytes(reader)) {
		line_out[length] = reader->bytes[reader->at++];
		if (line_out[length] == '\n') {
			line_out[length] = '\0';
			return true;
		}
		length++;
	}
	return false;
}

/* What the body has no room for is left out. */
static bool read_chunk(struct chunk_reader *reader, size_t wanted, size_t *body_size)
{
	struct api_answer *answer = &reader->client->answer;

	while (wanted > 0) {
		if (!has_bytes(reader))
			return false;
		size_t here = reader->size - reader->at;
		size_t count = here < wanted ? here : wanted;
		size_t room = sizeof(answer->body) - 1 - *body_size;
		size_t kept = count < room ? count : room;

		memcpy(answer->body + *body_size, reader->bytes + reader->at, kept);
		*body_size += kept;
		reader->at += count;
		wanted -= count;
	}
	return true;
}

static bool read_chunks(struct api_client *client, uint64_t end_ms, size_t *size)
{
	struct chunk_reader *reader = memory_allocate(sizeof(*reader));
	char line[HEAD_MAX];
	size_t wanted = 1;
	bool is_whole = true;

	reader->client = client;
	reader->end_ms = end_ms;
	reader->size = *size < CHUNK ? *size : 0;
	memcpy(reader->bytes, client->answer.body, reader->size);
	*size = 0;
	while (is_whole && wanted > 0) {
		is_whole = read_chunk_line(reader, line);
		wanted = is_whole ? strtoul(line, NULL, 16) : 0;
		is_whole = is_whole && read_chunk(reader, wanted, size) &&
			   read_chunk_line(reader, line);
	}
	free(reader);
	return is_whole;
}

static bool read_answer(struct api_client *client, bool has_no_body, uint64_t end_ms)
{
	struct api_answer *answer = &client->answer;
	char length[32] = "0";
	char coding[32] = "";
	size_t size = 0;

	if (!read_head(client, end_ms, &size))
		return false;
	(void)api_client_header(answer, "Content-Length", length, sizeof(length));
	(void)api_client_header(answer, "Transfer-Encoding", coding, sizeof(coding));
	bool is_chunked = !has_no_body && text_equals(coding, "chunked");
	if (is_chunked && !read_chunks(client, end_ms, &size))
		return false;
	size_t wanted = has_no_body || is_chunked ? 0 : strtoul(length, NULL, 10);
	while (size < wanted && size < sizeof(answer->body) - 1) {
		size_t got = receive(
			client, answer->body + size, sizeof(answer->body) - 1 - size, end_ms);

		if (got == 0)
			return false;
		size += got;
	}
	answer->body[size] = '\0';
	answer->status = (unsigned int)strtoul(answer->head + strlen("HTTP/1.1 "), NULL, 10);
	return true;
}

const struct api_answer *api_client_call(
	struct api_client *client, const struct api_request *request)
{
	uint64_t end_ms = clock_now_ms() + client->limit_ms;
	struct api_answer *answer = &client->answer;
	char connection[16] = "";

	answer->status = API_CLIENT_NO_ANSWER;
	answer->head[0] = '\0';
	answer->body[0] = '\0';
	if (client->socket < 0)
		client->socket = listener_connect(client->port);
	client->was_refused = client->socket < 0;
	/* A server that refuses a request early may answer before it has taken all of it. */
	if (client->socket >= 0)
		(void)send_request(client, request, end_ms);
	if (client->socket < 0 ||
		!read_answer(client, text_equals(request->method, "HEAD"), end_ms)) {
		answer->status = API_CLIENT_NO_ANSWER;
		disconnect(client);
	} else if (api_client_header(answer, "Connection", connection, sizeof(connection)) &&
		   strcasecmp(connection, "close") == 0) {
		disconnect(client);
	}
	return answer;
}

bool api_client_was_refused(const struct api_client *client)
{
	return client->was_refused;
}

const struct api_answer *api_client_get(struct api_client *client, const char *path)
{
	return api_client_call(client, &(struct api_request){ .method = "GET", .path = path });
}

const struct api_answer *api_client_post(
	struct api_client *client, const char *path, const char *body)
{
	return api_client_call(
		client, &(struct api_request){ .method = "POST", .path = path, .body = body });
}

void api_client_sign(char header_out[API_CLIENT_SIGNATURE_SIZE], const char *secret,
	const char *body, int64_t skew_s)
{
	int64_t time_s = (int64_t)(clock_epoch_ms() / 1000) + skew_s;
	size_t size = strlen(body) + 32;
	char *text = memory_allocate(size);
	char signature[SIGNATURE_HEX_SIZE];

	(void)text_format(text, size, "%" PRId64 ".%s", time_s, body);
	signature_hex(signature, secret, strlen(secret), text, strlen(text));
	(void)text_format(header_out, API_CLIENT_SIGNATURE_SIZE,
		"X-Lapse-Signature: t=%" PRId64 ",v1=%s\r\n", time_s, signature);
	free(text);
}
