# A stand-in for the image `redis`, of Debian's package, where that cannot be pulled.
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends redis-server && rm -rf /var/lib/apt/lists/*
USER redis
WORKDIR /tmp
# Protected mode would refuse other containers.
ENTRYPOINT ["sh", "-c", "exec \"$@\" --protected-mode no --bind '*'", "redis"]
CMD ["redis-server"]
