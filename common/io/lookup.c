/* getaddrinfo_a is an extension of the C library. */
/* NOLINTNEXTLINE(bugprone-*,cert-*,readability-identifier-naming): its own name. */
#define _GNU_SOURCE

#include "common/io/lookup.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/text.h"

struct lookup {
	struct gaicb request;
	struct gaicb *list[1];
	struct addrinfo hints;
	char *name;
	int failure; /* of the start; 0: it was started */
};

void lookup_start(const char *name, struct lookup **lookup_out)
{
	struct lookup *lookup = memory_allocate(sizeof(*lookup));

	lookup->name = memory_copy_text(name);
	lookup->hints.ai_family = AF_UNSPEC;
	lookup->hints.ai_socktype = SOCK_STREAM;
	lookup->request.ar_name = lookup->name;
	lookup->request.ar_request = &lookup->hints;
	lookup->list[0] = &lookup->request;
	lookup->failure = getaddrinfo_a(GAI_NOWAIT, lookup->list, 1, NULL);
	*lookup_out = lookup;
}

void lookup_destroy(struct lookup **lookup)
{
	struct lookup *own = *lookup;

	*lookup = NULL;
	if (own == NULL)
		return;
	if (own->failure == 0 && gai_error(&own->request) == EAI_INPROGRESS &&
		gai_cancel(&own->request) == EAI_NOTCANCELED)
		return;
	if (own->request.ar_result != NULL)
		freeaddrinfo(own->request.ar_result);
	free(own->name);
	free(own);
}

static bool format_address(const struct addrinfo *info, char address_out[LOOKUP_ADDRESS_SIZE])
{
	const void *address = info->ai_addr;
	const void *bytes = NULL;

	if (info->ai_family == AF_INET)
		bytes = &((const struct sockaddr_in *)address)->sin_addr;
	else if (info->ai_family == AF_INET6)
		bytes = &((const struct sockaddr_in6 *)address)->sin6_addr;
	return bytes != NULL &&
	       inet_ntop(info->ai_family, bytes, address_out, LOOKUP_ADDRESS_SIZE) != NULL;
}

static bool is_there(
	char addresses[LOOKUP_ADDRESS_MAX][LOOKUP_ADDRESS_SIZE], size_t count, const char *address)
{
	for (size_t i = 0; i < count; i++)
		if (text_equals(addresses[i], address))
			return true;
	return false;
}

enum result lookup_take(struct lookup *lookup,
	char addresses_out[LOOKUP_ADDRESS_MAX][LOOKUP_ADDRESS_SIZE], size_t *count_out,
	struct error *error)
{
	int status = lookup->failure != 0 ? lookup->failure : gai_error(&lookup->request);

	*count_out = 0;
	if (status == EAI_INPROGRESS)
		return RESULT_NONE;
	if (status != 0)
		return error_set(RESULT_TEMPORARY, error, "look up %s: %s", lookup->name,
			gai_strerror(status));
	for (const struct addrinfo *info = lookup->request.ar_result;
		info != NULL && *count_out < LOOKUP_ADDRESS_MAX; info = info->ai_next) {
		char address[LOOKUP_ADDRESS_SIZE];

		if (format_address(info, address) && !is_there(addresses_out, *count_out, address))
			(void)text_copy(
				addresses_out[(*count_out)++], LOOKUP_ADDRESS_SIZE, address);
	}
	return RESULT_OK;
}
