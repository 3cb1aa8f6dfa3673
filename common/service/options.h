/*
 * options - the command line that all daemons share.
 */
#ifndef COMMON_SERVICE_OPTIONS_H
#define COMMON_SERVICE_OPTIONS_H

#include "common/base/result.h"
#include "common/service/service.h"

enum options_mode {
	OPTIONS_MODE_RUN,
	OPTIONS_MODE_HELP,
	OPTIONS_MODE_VERSION,
	OPTIONS_MODE_CHECK_CONFIG,
	OPTIONS_MODE_HEALTHCHECK,
	OPTIONS_MODE_HEALTHCHECK_LIVE,
};

struct options {
	enum options_mode mode;
	const char *env_file; /* borrowed from argv; NULL: none */
};

/*
 * --help, --version, --check-config, --healthcheck[=live], --env-file FILE; everything else is
 * given to program.take_argument.  PERMANENT: a wrong command line.  --help and --version count at
 * once, whatever stands behind them.
 */
MUST_USE enum result options_read(int argc, char *const *argv,
	const struct service_program *program, void *settings, struct options *options_out,
	struct error *error);

/* Both to standard output. */
void options_print_help(const struct service_program *program);
void options_print_version(const struct service_program *program);

#endif
