#include "tests/support/outline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "common/base/memory.h"
#include "common/base/text.h"

enum {
	LINE_SIZE = 1024,
	DEPTH_MAX = 32
};

/* The parts of one node that are being read. */
struct level {
	size_t indent;
	struct outline **place; /* of the next part */
};

struct reader {
	const char *path;
	unsigned int number; /* of the line, for complaints */
	struct level levels[DEPTH_MAX];
	size_t depth;           /* levels in use */
	struct outline *last;   /* what was read last; parts may follow it */
	struct outline *newest; /* of all that were made */
};

static void complain(const struct reader *reader, const char *why)
{
	ck_abort_msg("%s:%u: %s", reader->path, reader->number, why);
}

/* Without its quotes. */
static char *copy_scalar(const char *text, size_t size)
{
	bool is_quoted =
		size >= 2 && (text[0] == '\'' || text[0] == '"') && text[size - 1] == text[0];

	return is_quoted ? memory_copy_bytes(text + 1, size - 2) : memory_copy_bytes(text, size);
}

static struct outline *create(struct reader *reader)
{
	struct outline *node = memory_allocate(sizeof(*node));

	node->made_before = reader->newest;
	reader->newest = node;
	return node;
}

/* "[a, b]" */
static void read_items(struct reader *reader, struct outline *node, const char *text)
{
	struct outline **place = &node->first;

	for (text++; *text != '\0' && *text != ']';) {
		text += strspn(text, ", ");
		size_t size = strcspn(text, ",]");

		if (size > 0) {
			*place = create(reader);
			(*place)->value = copy_scalar(text, size);
			place = &(*place)->next;
		}
		text += size;
	}
}

static void set_value(struct reader *reader, struct outline *node, const char *text)
{
	if (text[0] == '[')
		read_items(reader, node, text);
	else if (text[0] != '\0')
		node->value = copy_scalar(text, strlen(text));
}

/* The colon behind a key; NULL: the text is no member of a mapping. */
static const char *find_colon(const char *text)
{
	const char *colon = text;

	while ((colon = strchr(colon, ':')) != NULL && colon[1] != '\0' && colon[1] != ' ')
		colon++;
	return colon;
}

static struct outline *append(struct reader *reader)
{
	struct level *level = &reader->levels[reader->depth - 1];

	reader->last = create(reader);
	*level->place = reader->last;
	level->place = &reader->last->next;
	return reader->last;
}

/* What comes now belongs to the node that was read last. */
static void go_deeper(struct reader *reader, size_t indent)
{
	if (reader->depth == DEPTH_MAX || reader->last->value != NULL ||
		reader->last->first != NULL)
		complain(reader, "this belongs to nothing");
	reader->levels[reader->depth++] =
		(struct level){ .indent = indent, .place = &reader->last->first };
}

static void find_level(struct reader *reader, size_t indent)
{
	while (reader->depth > 1 && reader->levels[reader->depth - 1].indent > indent)
		reader->depth--;
	if (reader->levels[reader->depth - 1].indent < indent)
		go_deeper(reader, indent);
}

static void read_line(struct reader *reader, char *line)
{
	size_t indent = strspn(line, " ");
	const char *content = line + indent;

	if (content[0] == '\0' || content[0] == '#')
		return;
	find_level(reader, indent);
	while (text_starts_with(content, "- ")) {
		struct outline *item = append(reader);

		content += 2;
		indent += 2;
		if (find_colon(content) == NULL) {
			set_value(reader, item, content);
			return;
		}
		/* A mapping that begins on the line of the dash. */
		go_deeper(reader, indent);
	}
	const char *colon = find_colon(content);
	if (colon == NULL) {
		complain(reader, "neither a member nor an item");
		return;
	}
	struct outline *member = append(reader);
	member->key = copy_scalar(content, (size_t)(colon - content));
	set_value(reader, member, colon + 1 + strspn(colon + 1, " "));
}

void outline_read(const char *path, struct outline **root_out)
{
	struct reader reader = { .path = path };
	char line[LINE_SIZE];
	FILE *file = fopen(path, "re");

	ck_assert_msg(file != NULL, "%s is not there", path);
	*root_out = create(&reader);
	reader.last = *root_out;
	go_deeper(&reader, 0);
	while (fgets(line, sizeof(line), file) != NULL) {
		reader.number++;
		line[strcspn(line, "\r\n")] = '\0';
		read_line(&reader, line);
	}
	(void)fclose(file);
	/* The root knows them all. */
	(*root_out)->made_before = reader.newest;
}

void outline_destroy(struct outline **root)
{
	struct outline *node = *root == NULL ? NULL : (*root)->made_before;

	while (node != NULL) {
		struct outline *before = node == *root ? NULL : node->made_before;

		free(node->key);
		free(node->value);
		free(node);
		node = before;
	}
	*root = NULL;
}

const struct outline *outline_find(const struct outline *node, const char *key)
{
	if (node == NULL)
		return NULL;
	for (const struct outline *part = node->first; part != NULL; part = part->next)
		if (part->key != NULL && text_equals(part->key, key))
			return part;
	return NULL;
}

const char *outline_text(const struct outline *node, const char *key)
{
	const struct outline *part = outline_find(node, key);

	return part == NULL || part->value == NULL ? "" : part->value;
}

bool outline_has_item(const struct outline *node, const char *value)
{
	for (const struct outline *part = node == NULL ? NULL : node->first; part != NULL;
		part = part->next)
		if (part->value != NULL && text_equals(part->value, value))
			return true;
	return false;
}
