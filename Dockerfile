# One program of several: docker build --build-arg SERVICE=kith-auth .
FROM swift:6.3-bookworm AS build
RUN apt-get update \
  && apt-get install -y --no-install-recommends libargon2-dev libcurl4-openssl-dev libpq-dev libsqlite3-dev libvips-dev \
    zlib1g-dev pkg-config \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
ARG SERVICE=kith
# The cache is shared by the images of all services, so that what they have in common is built once.
RUN --mount=type=cache,id=kith-build,target=/source/.build,sharing=locked \
  swift build -c release --product "$SERVICE" --static-swift-stdlib \
  && install -D ".build/release/$SERVICE" /out/service

FROM debian:bookworm-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates libargon2-1 libcurl4 libpq5 libsqlite3-0 libstdc++6 \
    libvips42 zlib1g \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --system --user-group --uid 10001 --home-dir /data kith \
  && install -d -o kith -g kith -m 700 /data
COPY --chmod=755 scripts/healthy /usr/local/bin/healthy
COPY --from=build /out/service /usr/local/bin/kith-service
USER kith
WORKDIR /data
# Every service listens on the same port, each in a container of its own.
ENV HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=4s --start-period=30s CMD ["healthy", "/health/live"]
ENTRYPOINT ["kith-service"]
