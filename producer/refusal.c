#include "producer/refusal.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/io/broker.h"

void refusal_note(struct refusal *refusal, uint32_t attempts)
{
	if (attempts >= REFUSAL_ATTEMPTS)
		refusal->is_suspicious = true;
}

void refusal_renew(struct refusal *refusal, struct broker *broker, size_t open_count)
{
	uint64_t now_ms = clock_now_ms();

	if (!refusal->is_suspicious || open_count > 0 ||
		(refusal->renewed_ms != 0 && now_ms - refusal->renewed_ms < REFUSAL_GAP_MS))
		return;
	log_info(log_event("connection_renewed"),
		log_text("reason", "the broker refuses messages again and again"));
	refusal->is_suspicious = false;
	refusal->renewed_ms = now_ms;
	broker_disconnect(broker);
}
