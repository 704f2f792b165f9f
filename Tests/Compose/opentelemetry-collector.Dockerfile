# A stand-in for the image `otel/opentelemetry-collector`, where that cannot be pulled. Without COLLECTOR_EXPORT it is
# where a collector sends spans.
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends python3 && rm -rf /var/lib/apt/lists/*
COPY collector.py /
USER nobody
CMD ["python3", "-u", "/collector.py"]
