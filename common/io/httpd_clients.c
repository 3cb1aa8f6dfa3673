#include "common/io/httpd_clients.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "common/base/clock.h"
#include "common/base/memory.h"

static void unlink_client(struct httpd_clients *clients, struct httpd_client *client)
{
	if (client->older == NULL)
		clients->oldest = client->newer;
	else
		client->older->newer = client->newer;
	if (client->newer == NULL)
		clients->newest = client->older;
	else
		client->newer->older = client->older;
}

static void link_newest(struct httpd_clients *clients, struct httpd_client *client)
{
	client->since_ms = clock_now_ms();
	client->newer = NULL;
	client->older = clients->newest;
	if (clients->newest == NULL)
		clients->oldest = client;
	else
		clients->newest->newer = client;
	clients->newest = client;
}

static struct httpd_client *find_oldest(const struct httpd_clients *clients)
{
	struct httpd_client *client = clients->oldest;

	while (client != NULL && (client->is_cut || client->is_waiting))
		client = client->newer;
	return client;
}

static void cut(struct httpd_client *client)
{
	(void)shutdown(client->socket, SHUT_RDWR);
	client->is_cut = true;
}

struct httpd_client *httpd_clients_add(struct httpd_clients *clients, int socket, size_t crowd_size)
{
	struct httpd_client *client = memory_allocate(sizeof(*client));

	client->all = clients;
	client->socket = socket;
	link_newest(clients, client);
	clients->count++;
	struct httpd_client *oldest = find_oldest(clients);
	if (clients->count > crowd_size && oldest != client)
		cut(oldest);
	return client;
}

void httpd_clients_touch(struct httpd_clients *clients, struct httpd_client *client)
{
	unlink_client(clients, client);
	link_newest(clients, client);
}

void httpd_clients_remove(struct httpd_clients *clients, struct httpd_client *client)
{
	if (client == NULL)
		return;
	unlink_client(clients, client);
	clients->count--;
	free(client);
}

void httpd_clients_cut_slow(struct httpd_clients *clients, uint64_t time_limit_ms)
{
	uint64_t now_ms = clock_now_ms();

	for (struct httpd_client *client = find_oldest(clients);
		client != NULL && now_ms - client->since_ms >= time_limit_ms;
		client = find_oldest(clients))
		cut(client);
}

uint64_t httpd_clients_next_cut_ms(const struct httpd_clients *clients, uint64_t time_limit_ms)
{
	const struct httpd_client *client = find_oldest(clients);

	return client == NULL ? UINT64_MAX : client->since_ms + time_limit_ms;
}
