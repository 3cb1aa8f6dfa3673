/*
 * grants - gives what grant_table says to those users that exist.
 *
 * Granting again changes nothing, and a user with more rights keeps them: nothing is ever revoked.
 */
#ifndef CTL_GRANTS_H
#define CTL_GRANTS_H

struct session;

/*
 * Over a connection, after the migrations.  A user may be lapse_x@'%' or lapse_x@'localhost'; one
 * that is not there is left out, and a user of ours who may not grant says so and changes nothing.
 * Gives the exit status.
 */
int grants_apply(const struct session *session);

#endif
