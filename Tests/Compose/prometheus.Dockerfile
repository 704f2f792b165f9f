# A stand-in for the image `prom/prometheus`, of Debian's package, where that cannot be pulled: the same volume.
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends prometheus && rm -rf /var/lib/apt/lists/* \
  && install -d -o nobody -g nogroup /prometheus
VOLUME /prometheus
USER nobody
ENTRYPOINT ["prometheus"]
