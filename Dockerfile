# Footnote in a container: the same locks, the same checks of hashes as tools/setup.sh. The data directory is a volume on a LOCAL disk:
# SQLite and the file locks do not hold on network mounts.
#   docker build -t footnote .
#   docker run --rm -v footnote:/data -v ./footnote.toml:/etc/footnote.toml:ro --env-file .env footnote
FROM python:3.11-slim

RUN apt-get update \
 && apt-get install -y --no-install-recommends git ca-certificates openssh-client \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 10001 footnote \
 && install -d -o footnote -g footnote -m 700 /data

WORKDIR /app
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONUNBUFFERED=1 VENV=/app/.venv
COPY requirements.lock requirements-dev.lock requirements-torch.lock requirements-cuda.lock pyproject.toml README.md ./
COPY tools tools
COPY rag rag
COPY bot bot
COPY scheduler scheduler
COPY playground playground
RUN WITH_DEV=0 bash tools/setup.sh

USER footnote
ENV FOOTNOTE_DATA_DIR=/data FOOTNOTE_CONFIG=/etc/footnote.toml FOOTNOTE_LOG_FORMAT=json PATH=/app/.venv/bin:$PATH
VOLUME /data
STOPSIGNAL SIGTERM
# The bot answers its questions before it goes: give it more than the 20 seconds that it may take.
HEALTHCHECK --interval=60s --timeout=40s --start-period=60s CMD ["footnote", "status", "--json"]
ENTRYPOINT ["footnote"]
CMD ["serve"]
