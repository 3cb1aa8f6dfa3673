/*
 * metrics_doc - docs/metrics.md, held against the page of a program: families, types, labels, and
 * every combination of their values.
 */
#ifndef TESTS_SUPPORT_METRICS_DOC_H
#define TESTS_SUPPORT_METRICS_DOC_H

#include <stdbool.h>
#include <stddef.h>

struct metrics_doc;

void metrics_doc_create(struct metrics_doc **doc_out);
void metrics_doc_destroy(struct metrics_doc **doc);

/*
 * Fails the test when the page (the text of /metrics) of the program ("consumer") lacks something
 * that the document promises, or has something that the document does not know.  Families "when
 * known" may be missing, but what they show has to be right.
 */
void metrics_doc_check(const struct metrics_doc *doc, const char *program, const char *page);
/* Series of the family on the page. */
size_t metrics_doc_count(const char *page, const char *family);

#endif
