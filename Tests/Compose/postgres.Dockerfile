# A stand-in for the image `postgres`, of Debian's package, where that cannot be pulled: the same port, volume and
# variables.
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends postgresql && rm -rf /var/lib/apt/lists/* \
  && install -d -o postgres -g postgres -m 700 /var/lib/postgresql/data && ln -s /usr/lib/postgresql/*/bin/* /usr/local/bin/
COPY --chmod=755 postgres-entrypoint /usr/local/bin/
ENV PGDATA=/var/lib/postgresql/data
VOLUME /var/lib/postgresql/data
USER postgres
STOPSIGNAL SIGINT
ENTRYPOINT ["postgres-entrypoint"]
CMD ["postgres"]
