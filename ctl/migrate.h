/*
 * migrate - applies the numbered migrations, each once and in order.
 *
 * Two at once are safe: the second waits for the lock and then finds nothing to do.  A migration
 * that was applied from another file than the one in this program is refused.  Afterwards each
 * program's own user gets the rights it needs.
 */
#ifndef CTL_MIGRATE_H
#define CTL_MIGRATE_H

struct session;

/* lapsectl migrate [--status] [--dry-run]; the exit status. */
int migrate_run(const struct session *session);

#endif
