#include "ctl/consent.h"

#include <stdarg.h>
#include <stdio.h>

#include "ctl/question.h"

enum {
	WORDS_SIZE = 256
};

bool consent_is_possible(const struct session *session)
{
	if (option_is_given(session->options, OPTION_YES) ||
		option_is_given(session->options, OPTION_DRY_RUN) ||
		question_can_ask(session->options))
		return true;
	output_complain("there is no terminal to ask on: --yes is needed");
	return false;
}

int consent_ask(const struct session *session, const char *format, ...)
{
	char words[WORDS_SIZE];
	va_list arguments;

	if (option_is_given(session->options, OPTION_YES))
		return EXIT_STATUS_OK;
	va_start(arguments, format);
	/* The list is started one line above; the analyzer loses sight of that. */
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
	(void)vsnprintf(words, sizeof(words), format, arguments);
	va_end(arguments);
	if (question_ask("yes", "%s", words))
		return EXIT_STATUS_OK;
	output_complain("nothing was changed");
	return EXIT_STATUS_REFUSED;
}

struct audit_actor consent_actor(const struct session *session, const char *request_id)
{
	return (struct audit_actor){
		.actor = session->actor, .role = "admin", .auth = "cli", .request_id = request_id
	};
}
