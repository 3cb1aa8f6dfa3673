#include "tests/support/proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <check.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "tests/support/listener.h"
#include "tests/support/shared.h"
#include "tests/support/wait_until.h"

enum {
	LINES_MAX = 200,
	BUFFER_SIZE = 65536,
	TURN_MS = 5
};

/* Wishes of the test and facts from the server, in memory that both see. */
struct board {
	atomic_uint_fast64_t cut_wishes;
	atomic_uint_fast64_t cuts_done; /* follows cut_wishes */
	atomic_bool is_refusing;
	atomic_bool is_refused; /* follows is_refusing */
	atomic_bool is_frozen;
	atomic_uint_fast64_t delay_ms;
	atomic_uint_fast32_t text_count;
	atomic_int text_place;
	char text[PROXY_TEXT_SIZE]; /* written while text_count is 0 */
	atomic_uint_fast64_t bytes_left;
	atomic_uint_fast64_t lines_cut;
	atomic_uint_fast64_t lines_opened;
};

struct proxy {
	struct board *board;
	uint16_t port;
	pid_t server;
};

/* Bytes under way in one direction. */
struct flow {
	uint8_t bytes[BUFFER_SIZE];
	size_t size;
	size_t sent;
	uint64_t release_ms;
};

struct line {
	int client;
	int server;
	bool is_cut_on_answer;
	char tail[PROXY_TEXT_SIZE]; /* the last bytes to the server, for texts cut in two */
	size_t tail_size;
	struct flow up;
	struct flow down;
};

struct switchboard {
	struct board *board;
	int listener;
	uint16_t port;
	uint16_t server_port;
	struct line *lines[LINES_MAX];
	size_t count;
};

static void close_line(struct switchboard *all, size_t index, bool is_reset)
{
	struct line *line = all->lines[index];
	const struct linger abrupt = { .l_onoff = 1 };

	if (is_reset) {
		(void)setsockopt(line->client, SOL_SOCKET, SO_LINGER, &abrupt, sizeof(abrupt));
		(void)setsockopt(line->server, SOL_SOCKET, SO_LINGER, &abrupt, sizeof(abrupt));
		atomic_fetch_add(&all->board->lines_cut, 1);
	}
	(void)close(line->client);
	(void)close(line->server);
	free(line);
	all->count--;
	all->lines[index] = all->lines[all->count];
}

static void close_all(struct switchboard *all)
{
	while (all->count > 0)
		close_line(all, all->count - 1, true);
}

static void take_line(struct switchboard *all)
{
	int client = accept(all->listener, NULL, NULL);

	if (client < 0)
		return;
	int server = all->count < LINES_MAX ? listener_connect(all->server_port) : -1;
	if (server < 0) {
		(void)close(client);
		return;
	}
	(void)fcntl(client, F_SETFL, O_NONBLOCK);
	struct line *line = memory_allocate(sizeof(*line));
	line->client = client;
	line->server = server;
	all->lines[all->count++] = line;
	atomic_fetch_add(&all->board->lines_opened, 1);
}

static void follow_wishes(struct switchboard *all)
{
	uint64_t wishes = atomic_load(&all->board->cut_wishes);
	bool is_refusing = atomic_load(&all->board->is_refusing);

	if (is_refusing && all->listener >= 0) {
		(void)close(all->listener);
		all->listener = -1;
		close_all(all);
	}
	if (!is_refusing && all->listener < 0)
		all->listener = listener_open(&all->port);
	atomic_store(&all->board->is_refused, all->listener < 0);
	if (wishes != atomic_load(&all->board->cuts_done)) {
		close_all(all);
		atomic_store(&all->board->cuts_done, wishes);
	}
}

/* Searches what was just read together with the end of what came before. */
static bool holds_text(struct line *line, const char *text)
{
	static char joined[PROXY_TEXT_SIZE + BUFFER_SIZE];
	size_t length = strlen(text);
	size_t size = line->tail_size + line->up.size;
	bool is_found = false;

	memcpy(joined, line->tail, line->tail_size);
	memcpy(joined + line->tail_size, line->up.bytes, line->up.size);
	for (size_t i = 0; i + length <= size && !is_found; i++)
		is_found = memcmp(joined + i, text, length) == 0;
	line->tail_size = size < length - 1 ? size : length - 1;
	memcpy(line->tail, joined + size - line->tail_size, line->tail_size);
	return is_found;
}

/* false: the line is to be reset before these bytes are passed on. */
static bool may_go_up(struct switchboard *all, struct line *line)
{
	struct board *board = all->board;
	uint64_t left = atomic_load(&board->bytes_left);

	if (left > 0 && line->up.size > left) {
		/* A part gets through, so that the server is left with half a message. */
		line->up.size = (size_t)left;
		(void)send(line->server, line->up.bytes, line->up.size, MSG_NOSIGNAL);
		atomic_store(&board->bytes_left, 0);
		return false;
	}
	if (left > 0)
		atomic_store(&board->bytes_left, left - line->up.size);
	if (atomic_load(&board->text_count) == 0 || !holds_text(line, board->text))
		return true;
	atomic_fetch_sub(&board->text_count, 1);
	line->is_cut_on_answer = atomic_load(&board->text_place) == PROXY_AFTER;
	return line->is_cut_on_answer;
}

/* false: the sender has ended. */
static bool read_flow(struct flow *flow, int from)
{
	ssize_t got = recv(from, flow->bytes, sizeof(flow->bytes), 0);

	flow->sent = 0;
	flow->size = got > 0 ? (size_t)got : 0;
	return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

static bool write_flow(struct flow *flow, int to)
{
	ssize_t put = send(to, flow->bytes + flow->sent, flow->size - flow->sent, MSG_NOSIGNAL);

	if (put < 0)
		return errno == EAGAIN || errno == EINTR;
	flow->sent += (size_t)put;
	if (flow->sent == flow->size)
		flow->size = 0;
	return true;
}

enum fate {
	FATE_STAYS,
	FATE_ENDS,
	FATE_RESET
};

static enum fate work_on_line(struct switchboard *all, struct line *line, const struct pollfd *ends)
{
	uint64_t now_ms = clock_now_ms();

	if (line->up.size == 0 && ends[0].revents != 0) {
		if (!read_flow(&line->up, line->client))
			return FATE_ENDS;
		if (line->up.size > 0 && !may_go_up(all, line))
			return FATE_RESET;
	}
	if (line->down.size == 0 && ends[1].revents != 0) {
		if (!read_flow(&line->down, line->server))
			return FATE_ENDS;
		if (line->is_cut_on_answer && line->down.size > 0)
			return FATE_RESET;
		line->down.release_ms = now_ms + atomic_load(&all->board->delay_ms);
	}
	if (line->up.size > 0 && !write_flow(&line->up, line->server))
		return FATE_ENDS;
	if (line->down.size > 0 && now_ms >= line->down.release_ms &&
		!write_flow(&line->down, line->client))
		return FATE_ENDS;
	return FATE_STAYS;
}

/* Places 1 + 2i and 2 + 2i are the ends of line i; place 0 is the listener. */
static size_t list_ends(const struct switchboard *all, struct pollfd *ends, bool is_frozen)
{
	ends[0] = (struct pollfd){ .fd = all->listener, .events = POLLIN };
	for (size_t i = 0; i < all->count; i++) {
		const struct line *line = all->lines[i];

		ends[1 + 2 * i] =
			(struct pollfd){ .fd = is_frozen || line->up.size > 0 ? -1 : line->client,
				.events = POLLIN };
		ends[2 + 2 * i] =
			(struct pollfd){ .fd = is_frozen || line->down.size > 0 ? -1 : line->server,
				.events = POLLIN };
	}
	return 1 + 2 * all->count;
}

static void serve(void *context)
{
	struct switchboard *all = context;
	struct pollfd ends[1 + 2 * LINES_MAX];

	for (;;) {
		bool is_frozen = atomic_load(&all->board->is_frozen);
		size_t count = list_ends(all, ends, is_frozen);

		(void)poll(ends, (nfds_t)count, TURN_MS);
		/* From the last to the first: closing a line moves the last one into its place. */
		for (size_t i = is_frozen ? 0 : all->count; i > 0; i--) {
			enum fate fate = work_on_line(all, all->lines[i - 1], &ends[2 * i - 1]);

			if (fate != FATE_STAYS)
				close_line(all, i - 1, fate == FATE_RESET);
		}
		if (ends[0].revents != 0)
			take_line(all);
		follow_wishes(all);
	}
}

void proxy_create(uint16_t server_port, struct proxy **proxy_out)
{
	struct proxy *proxy = memory_allocate(sizeof(*proxy));
	struct switchboard all = { .server_port = server_port };

	*proxy_out = proxy;
	proxy->board = shared_create(sizeof(*proxy->board));
	all.board = proxy->board;
	all.listener = listener_open(&all.port);
	ck_assert_int_ge(all.listener, 0);
	proxy->port = all.port;
	proxy->server = shared_fork(serve, &all);
	(void)close(all.listener);
}

void proxy_destroy(struct proxy **proxy)
{
	if (*proxy == NULL)
		return;
	shared_end((*proxy)->server);
	shared_destroy((*proxy)->board, sizeof(*(*proxy)->board));
	free(*proxy);
	*proxy = NULL;
}

uint16_t proxy_port(const struct proxy *proxy)
{
	return proxy->port;
}

static bool is_cut(void *context)
{
	struct board *board = context;

	return atomic_load(&board->cuts_done) == atomic_load(&board->cut_wishes);
}

void proxy_cut(struct proxy *proxy)
{
	atomic_fetch_add(&proxy->board->cut_wishes, 1);
	WAIT_UNTIL(is_cut, proxy->board);
}

static bool is_refused(void *context)
{
	struct board *board = context;

	return atomic_load(&board->is_refused) == atomic_load(&board->is_refusing);
}

void proxy_refuse(struct proxy *proxy, bool is_on)
{
	atomic_store(&proxy->board->is_refusing, is_on);
	WAIT_UNTIL(is_refused, proxy->board);
}

void proxy_freeze(struct proxy *proxy, bool is_on)
{
	atomic_store(&proxy->board->is_frozen, is_on);
}

void proxy_slow(struct proxy *proxy, uint64_t delay_ms)
{
	atomic_store(&proxy->board->delay_ms, delay_ms);
}

void proxy_cut_at(struct proxy *proxy, const char *text, enum proxy_place place, uint32_t count)
{
	struct board *board = proxy->board;

	atomic_store(&board->text_count, 0);
	ck_assert(text_copy(board->text, sizeof(board->text), text));
	atomic_store(&board->text_place, place);
	atomic_store(&board->text_count, count);
}

void proxy_cut_after(struct proxy *proxy, uint64_t bytes)
{
	atomic_store(&proxy->board->bytes_left, bytes);
}

uint64_t proxy_count_cuts(const struct proxy *proxy)
{
	return atomic_load(&proxy->board->lines_cut);
}

uint64_t proxy_count_lines(const struct proxy *proxy)
{
	return atomic_load(&proxy->board->lines_opened);
}
