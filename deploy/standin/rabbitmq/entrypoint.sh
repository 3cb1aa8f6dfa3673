#!/bin/sh
# The broker never runs as root, whoever starts the image.
set -eu
if [ "$(id -u)" = 0 ]; then
	exec setpriv --reuid=rabbitmq --regid=rabbitmq --init-groups "$@"
fi
exec "$@"
