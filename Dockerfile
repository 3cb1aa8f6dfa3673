# One image with every program of Lapse: built from source, run by user 65532 on a root that may be
# read-only. BASE may be any Debian 12, also one of a registry of your own.
ARG BASE=debian:12-slim

FROM ${BASE} AS build
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
	cmake ninja-build pkg-config gcc libc6-dev librabbitmq-dev default-libmysqlclient-dev \
	libjansson-dev libcurl4-openssl-dev libmicrohttpd-dev libssl-dev
COPY . /src
ARG REVISION=unknown
RUN cmake -S /src -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release -DLAPSE_TESTS=OFF \
	-DLAPSE_REVISION="${REVISION}" \
	&& cmake --build /build \
	&& export DESTDIR=/out \
	&& cmake --install /build --prefix /usr --strip --component programs \
	&& cmake --install /build --prefix /usr --strip --component demo

FROM ${BASE}
# libmariadb3 brings the authentication plug-ins of the client; without caching_sha2_password
# nobody logs in to MySQL 8.4.
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
	ca-certificates librabbitmq4 libmariadb3 libjansson4 libcurl4 libmicrohttpd12 libssl3 \
	libcrypt1 && rm -rf /var/lib/apt/lists/* \
	&& ls /usr/lib/*/libmariadb3/plugin/caching_sha2_password.so
COPY --from=build /out/usr/ /usr/
# Each program starts, so nothing it needs is missing.
RUN for program in /usr/bin/lapse*; do "$program" --version || exit 1; done
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="lapse" \
	org.opencontainers.image.description="Closes unpaid orders on time, over RabbitMQ and MySQL" \
	org.opencontainers.image.licenses="Apache-2.0" \
	org.opencontainers.image.version="${VERSION}" \
	org.opencontainers.image.revision="${REVISION}"
USER 65532:65532
WORKDIR /tmp
STOPSIGNAL SIGTERM
# Asks the ops port of the program beside it (LAPSE_OPS_ADDR).
HEALTHCHECK --interval=10s --timeout=3s --retries=3 --start-period=20s \
	CMD ["lapsectl", "--healthcheck"]
CMD ["lapsectl", "--help"]
