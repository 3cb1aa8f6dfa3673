#include "common/io/httpd_exchange.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "common/base/memory.h"

enum {
	BODY_FIRST_BYTES = 1024,
	STREAM_BLOCK_BYTES = 16384,
};

struct stream {
	struct httpd_source source;
	struct httpd_client *client;
};

struct head {
	unsigned int lengths;
	unsigned int codings;
	unsigned int hosts;
	bool has_strange_coding;
};

static enum MHD_Result count_header(
	void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct head *head = context;

	(void)kind;
	if (strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0)
		head->lengths++;
	if (strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0)
		head->hosts++;
	if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) {
		head->codings++;
		if (value == NULL || strcasecmp(value, "chunked") != 0)
			head->has_strange_coding = true;
	}
	return MHD_YES;
}

bool httpd_exchange_has_clear_head(struct MHD_Connection *connection)
{
	struct head head = { 0 };

	(void)MHD_get_connection_values(connection, MHD_HEADER_KIND, count_header, &head);
	return head.lengths + head.codings <= 1 && head.hosts <= 1 && !head.has_strange_coding;
}

void httpd_exchange_take_body(
	struct exchange *exchange, size_t body_max, const char *data, size_t size)
{
	size_t needed = exchange->body_size + size;

	if (exchange->is_too_large || size > body_max || needed > body_max) {
		exchange->is_too_large = true;
		return;
	}
	if (needed + 1 > exchange->body_capacity) {
		size_t capacity = exchange->body_capacity * 2 + BODY_FIRST_BYTES;

		exchange->body_capacity = capacity > needed ? capacity : needed + 1;
		exchange->body = memory_resize_array(exchange->body, exchange->body_capacity, 1);
	}
	memcpy(exchange->body + exchange->body_size, data, size);
	exchange->body_size = needed;
	exchange->body[needed] = '\0';
}

struct httpd_request httpd_exchange_request(const struct exchange *exchange)
{
	return (struct httpd_request){
		.method = exchange->method,
		.path = exchange->path,
		.body = exchange->body == NULL ? "" : exchange->body,
		.body_size = exchange->body_size,
		.library_request = exchange->connection,
	};
}

/* The library would end the stream in good order, which over HTTP/1.0 looks like the end. */
static void reset(int socket)
{
	const struct sockaddr nobody = { .sa_family = AF_UNSPEC };

	(void)connect(socket, &nobody, sizeof(nobody));
}

static ssize_t read_stream(void *context, uint64_t position, char *bytes, size_t size)
{
	const struct stream *stream = context;
	long count = stream->source.read(stream->source.context, bytes, size);

	(void)position;
	/* The client has taken what was there before. */
	httpd_clients_touch(stream->client->all, stream->client);
	if (count > 0)
		return (ssize_t)count;
	if (count == 0)
		return MHD_CONTENT_READER_END_OF_STREAM;
	reset(stream->client->socket);
	return MHD_CONTENT_READER_END_WITH_ERROR;
}

static void destroy_stream(void *context)
{
	struct stream *stream = context;

	stream->source.destroy(stream->source.context);
	free(stream);
}

static struct MHD_Response *create_stream(
	const struct exchange *exchange, const struct httpd_source *source)
{
	struct stream *stream = memory_allocate(sizeof(*stream));

	stream->source = *source;
	stream->client = exchange->client;
	struct MHD_Response *response = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES, read_stream, stream, destroy_stream);
	if (response == NULL)
		destroy_stream(stream);
	return response;
}

static struct MHD_Response *create_response(
	const struct exchange *exchange, struct httpd_answer *answer)
{
	if (answer->source.read != NULL)
		return create_stream(exchange, &answer->source);
	if (answer->body_adopt == NULL)
		answer->body_adopt = memory_allocate(1);
	struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback(
		answer->body_size, answer->body_adopt, free);
	if (response == NULL)
		free(answer->body_adopt);
	return response;
}

void httpd_exchange_keep_answer(struct exchange *exchange, struct httpd_answer *answer,
	const struct httpd_constant *constants, bool ends_connection)
{
	const char *type =
		answer->content_type == NULL ? "text/plain; charset=utf-8" : answer->content_type;

	exchange->is_answered = true;
	exchange->drop_connection = answer->drop_connection;
	exchange->status = answer->status;
	exchange->response = create_response(exchange, answer);
	if (exchange->response == NULL) { /* no memory inside the library */
		exchange->drop_connection = true;
		return;
	}
	(void)MHD_add_response_header(exchange->response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (ends_connection)
		(void)MHD_add_response_header(
			exchange->response, MHD_HTTP_HEADER_CONNECTION, "close");
	for (const struct httpd_constant *constant = constants;
		constant != NULL && constant->name != NULL; constant++)
		(void)MHD_add_response_header(exchange->response, constant->name, constant->value);
	for (size_t i = 0; i < HTTPD_HEADER_MAX && answer->headers[i].name != NULL; i++)
		(void)MHD_add_response_header(
			exchange->response, answer->headers[i].name, answer->headers[i].value);
}

enum MHD_Result httpd_exchange_send_answer(struct exchange *exchange)
{
	if (exchange->drop_connection)
		return MHD_NO;
	return MHD_queue_response(exchange->connection, exchange->status, exchange->response);
}

void httpd_exchange_destroy(struct exchange **exchange)
{
	if (*exchange == NULL)
		return;
	if ((*exchange)->response != NULL)
		MHD_destroy_response((*exchange)->response);
	free((*exchange)->body);
	free(*exchange);
	*exchange = NULL;
}
