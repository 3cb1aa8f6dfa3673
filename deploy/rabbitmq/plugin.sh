#!/bin/sh
# plugin.sh VERSION URL SHA256 FOLDER: the delayed-message plugin for this broker, if it is of the
# plugin's series (the first two numbers are the same); otherwise says so and leaves FOLDER empty:
# LAPSE_DELAY=auto takes the levels then.
set -eu

version=$1 url=$2 sha256=$3 folder=$4
series=${version%.*}
broker=${RABBITMQ_VERSION:-$(rabbitmqctl version)}
mkdir -p "$folder"
case $broker in
"$series".*) ;;
*)
	echo "RabbitMQ $broker is not of the series $series: no delayed-message plugin, delays by levels"
	exit 0
	;;
esac

file=$folder/rabbitmq_delayed_message_exchange-$version.ez
if command -v curl >/dev/null; then
	curl -fsSL --max-time 300 -o "$file" "$url"
else
	if ! command -v wget >/dev/null; then
		apt-get update
		DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends wget ca-certificates
	fi
	wget -q -T 60 -O "$file" "$url"
fi
echo "$sha256  $file" | sha256sum -c -
chmod 444 "$file"
