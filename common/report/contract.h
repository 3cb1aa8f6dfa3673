/*
 * contract - promises that were seen broken by the one who kept them: counted and logged.
 *
 * What is counted here has been rolled back.  It must stay 0.
 */
#ifndef COMMON_REPORT_CONTRACT_H
#define COMMON_REPORT_CONTRACT_H

#include <stdint.h>

enum contract_check {
	CONTRACT_CHECK_CLOSE_COUNT, /* rows closed are not the winners */
	CONTRACT_CHECK_CLOSE_EARLY, /* a winner is not due */
	CONTRACT_CHECK_LEASE,       /* rows leased are not the chosen */
};

/* Makes lapse_contract_violations_total part of this program's metrics. */
void contract_register(void);
/* Counts, and writes an error line unless count is 0. */
void contract_count(enum contract_check check, uint64_t count);

#endif
