/*
 * group - creations and notices that arrive together are committed together.
 *
 * The disk has to be waited for once a commit, so a busy gateway would otherwise be as slow as the
 * disk.  docs/adr/0009 tells what it brings and what it costs.
 */
#ifndef GATEWAY_GROUP_H
#define GATEWAY_GROUP_H

#include "common/io/httpd.h"

/* For httpd; its context is struct context. */
extern const struct httpd_group group_of_writes;

#endif
