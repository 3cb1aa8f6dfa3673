#include "tests/support/gateway.h"

#include <inttypes.h>
#include <string.h>

#include <check.h>

#include "common/base/text.h"
#include "tests/support/http_client.h"
#include "tests/support/process.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	TEXT_SIZE = 2048,
	PROBE_MS = 1000
};

/* Any answer will do: it may be about to say that MySQL is away. */
static bool is_answering(void *context)
{
	const struct gateway_run *gateway = context;

	ck_assert_msg(process_is_alive(gateway->process), "lapse-gateway did not start");
	return http_client_get(gateway->port, "/", PROBE_MS, NULL) == 404;
}

void gateway_start_again(struct gateway_run *gateway)
{
	gateway->process = sandbox_start(gateway->sandbox, "lapse-gateway", NULL);
	WAIT_UNTIL(is_answering, gateway);
}

void gateway_start(struct gateway_run *gateway, struct sandbox *sandbox)
{
	gateway->sandbox = sandbox;
	gateway->port = sandbox_free_port();
	sandbox_set(sandbox, "LAPSE_GATEWAY_ADDR", "127.0.0.1:%u", gateway->port);
	sandbox_set(sandbox, "LAPSE_NOTIFY_SECRET", "%s", GATEWAY_SECRET);
	api_client_create(gateway->port, &gateway->client);
	gateway_start_again(gateway);
}

void gateway_leave(struct gateway_run *gateway)
{
	api_client_destroy(&gateway->client);
}

const struct api_answer *gateway_notify_text(
	struct api_client *client, const char *secret, const char *body, int64_t skew_s)
{
	char header[API_CLIENT_SIGNATURE_SIZE];

	api_client_sign(header, secret, body, skew_s);
	return api_client_call(client, &(struct api_request){ .method = "POST",
					       .path = "/v1/payments/notify",
					       .headers = header,
					       .body = body });
}

const struct api_answer *gateway_notify(
	struct api_client *client, const struct gateway_notice *notice)
{
	char body[TEXT_SIZE];

	/* Without Check: callers may be processes of their own. */
	(void)text_format(body, sizeof(body),
		"{\"channel\":\"%s\",\"trade_no\":\"%s\",\"order_no\":\"%s\","
		"\"amount_cents\":%" PRId64 ",\"currency\":\"%s\",\"state\":\"%s\"%s}",
		notice->channel == NULL ? "pay" : notice->channel, notice->trade_no,
		notice->order_no, notice->amount_cents == 0 ? 9900 : notice->amount_cents,
		notice->currency == NULL ? "CNY" : notice->currency,
		notice->state == NULL ? "paid" : notice->state,
		notice->more == NULL ? "" : notice->more);
	return gateway_notify_text(client, GATEWAY_SECRET, body, 0);
}

void gateway_expect(const struct api_answer *answer, unsigned int status, const char *words)
{
	ck_assert_msg(answer->status == status && strstr(answer->body, words) != NULL,
		"%u, not %u with %s: %s%s", answer->status, status, words, answer->head,
		answer->body);
}
