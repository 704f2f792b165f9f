# One program of several: docker build --build-arg SERVICE=kith-auth .
#
# The program comes from one of two stages: `build` builds it, `prebuilt` takes it from .build/programs, where
# `make release` has put it: --build-arg PROGRAMS=prebuilt. BuildKit builds only the stage that is used.
ARG PROGRAMS=build

FROM swift:6.3-bookworm AS build
RUN apt-get update \
  && apt-get install -y --no-install-recommends binutils libargon2-dev libcurl4-openssl-dev libpq-dev libsqlite3-dev \
    libqrencode-dev libvips-dev pkg-config python3 zlib1g-dev \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
ARG SERVICE=kith
# The cache is shared by the images of all services, so that what they have in common is built once, and a change in
# one service builds that service only.
RUN --mount=type=cache,id=kith-build,target=/source/.build,sharing=locked \
  scripts/release "$SERVICE" && install -d /programs \
  && cp ".build/programs/$SERVICE" ".build/programs/$SERVICE.packages" ".build/programs/$SERVICE.libraries" /programs

FROM scratch AS prebuilt
COPY .build/programs /programs

FROM ${PROGRAMS} AS programs

# What all programs need of Debian and nothing else: the libraries that each of them is linked with, and those that they
# need; certificates of authorities, time zones, and where names of users and hosts are found. It is a layer of its own,
# the same in all images, so that it is once on the disk, and in memory.
FROM debian:bookworm-slim AS common
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates tzdata libpq5 libsqlite3-0 libstdc++6 \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /common
RUN useradd --system --user-group --uid 10001 --home-dir /data --shell /nonexistent kith \
  && install -d -m 1777 tmp \
  && ldconfig -p | awk '$1 ~ /^lib(pq[.]so[.]5|sqlite3[.]so[.]0|stdc[+][+][.]so[.]6)$/ { print $NF }' >/tmp/linked \
  && ldd $(cat /tmp/linked) | awk '$3 ~ /^\// { print $3 } $1 ~ /^\// && NF > 1 { print $1 }' | sort -u - /tmp/linked \
    | xargs -I LIBRARY cp -L --parents LIBRARY . \
  && cp -L --parents /etc/ssl/certs/ca-certificates.crt /etc/passwd /etc/group /etc/nsswitch.conf . \
  && cp -R --parents /usr/share/zoneinfo . && rm -rf usr/share/zoneinfo/right usr/share/zoneinfo/posix

# The program, and what it needs beyond: other libraries that it is linked with, and those that it loads. In libvips the
# decoder of HEIC, in which iPhones take photos, is a module that it loads by itself.
FROM common AS runtime
ARG SERVICE=kith
COPY --from=programs /programs/$SERVICE.packages /programs/$SERVICE.libraries /tmp/
RUN apt-get update \
  && xargs apt-get install -y --no-install-recommends --no-upgrade </tmp/$SERVICE.packages \
  && rm -rf /var/lib/apt/lists/*
COPY --from=programs /programs/$SERVICE /runtime/usr/local/bin/kith-service
WORKDIR /runtime
RUN install -d -m 700 /owned/data \
  && ldconfig -p | awk 'NR == FNR { loaded[$1]; next } $1 in loaded { print $NF }' /tmp/$SERVICE.libraries - \
    >/tmp/loaded \
  && if grep -q libvips /tmp/loaded; then \
    find /usr/lib -path '*/vips-modules-*/vips-heif.so' | grep . >>/tmp/loaded; fi \
  && ldd usr/local/bin/kith-service $(cat /tmp/loaded) \
    | awk '$3 ~ /^\// { print $3 } $1 ~ /^\// && NF > 1 { print $1 }' | sort -u - /tmp/loaded \
    | while read -r library; do [ -e "/common$library" ] || cp -L --parents "$library" .; done

FROM scratch
COPY --from=common /common /
ARG SERVICE=kith
ARG VERSION=dev
ARG REVISION=unknown
LABEL org.opencontainers.image.title="$SERVICE" \
  org.opencontainers.image.description="Kith, the backend of an iOS app for sharing with friends and family" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="$VERSION" \
  org.opencontainers.image.revision="$REVISION"
COPY --from=runtime /runtime /
COPY --from=runtime --chown=10001:10001 /owned /
USER kith
WORKDIR /data
# Every service listens on the same port, each in a container of its own. With PostgreSQL only photos are written, to
# /data; the root file system can be read-only.
ENV PATH=/usr/local/bin HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
EXPOSE 8080
STOPSIGNAL SIGTERM
# Seldom, as each check starts a process in the container: about 40 ms of CPU time.
HEALTHCHECK --interval=5m --timeout=10s --retries=2 --start-period=1m CMD ["kith-service", "healthcheck"]
ENTRYPOINT ["kith-service"]
