#include "ctl/hash_password.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/password.h"
#include "common/order/act.h"
#include "ctl/session.h"

enum {
	PASSWORD_MIN = 8, /* bytes */
	LINE_SIZE = PASSWORD_MAX + 3,
	NAME_MAX_SIZE = 64,
};

/* A terminal does not show what is typed. */
static bool read_line(char line[LINE_SIZE])
{
	struct termios shown;
	bool is_terminal = isatty(STDIN_FILENO) == 1 && tcgetattr(STDIN_FILENO, &shown) == 0;
	struct termios hidden;

	if (is_terminal) {
		hidden = shown;
		hidden.c_lflag &= ~(tcflag_t)ECHO;
		(void)fprintf(stderr, "Password: ");
		(void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
	}
	bool was_read = fgets(line, LINE_SIZE, stdin) != NULL;
	if (is_terminal) {
		(void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown);
		(void)fprintf(stderr, "\n");
	}
	if (was_read)
		line[strcspn(line, "\r\n")] = '\0';
	return was_read;
}

static int print_line(const char *user, const char *role)
{
	char line[LINE_SIZE] = "";
	char hash[PASSWORD_HASH_SIZE];
	struct error error = { .text = "" };
	int status = EXIT_STATUS_OK;

	if (!read_line(line)) {
		output_complain("no password on standard input");
		status = EXIT_STATUS_USAGE;
	} else if (strlen(line) < PASSWORD_MIN || strlen(line) > PASSWORD_MAX) {
		output_complain("a password has %d to %d bytes", PASSWORD_MIN, (int)PASSWORD_MAX);
		status = EXIT_STATUS_USAGE;
	} else if (password_hash(line, hash, &error) != RESULT_OK) {
		output_complain("%s", error.text);
		status = EXIT_STATUS_FAILED;
	} else {
		(void)printf("%s:%s:%s\n", user, role, hash);
	}
	memory_wipe(line, sizeof(line));
	return status;
}

int hash_password_run(const struct session *session)
{
	const char *user = option_text(session->options, OPTION_USER);
	const char *role = option_text(session->options, OPTION_ROLE);

	if (user == NULL)
		user = getenv("USER");
	if (user == NULL || !text_is_key(user, strlen(user), NAME_MAX_SIZE) ||
		strchr(user, ':') != NULL)
		return session_refuse_usage(
			"--user: letters, digits and . _ - make the name of a user");
	if (role == NULL)
		role = act_role_names[ACT_ROLE_VIEWER];
	if (!text_is_one_of(act_role_names, role))
		return session_refuse_usage("--role is viewer, operator or admin");
	return print_line(user, role);
}
