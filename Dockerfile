# Kindly with a Chromium beside it. Runs as an ordinary user; its root may be read-only, with /tmp in memory and
# what it keeps in the volume /data. Over stdio by default:
#   docker build -t kindly . && docker run -i --rm --read-only --tmpfs /tmp -v kindly:/data kindly
# Over HTTP: packaging/compose.yaml.

FROM python:3.13-slim-trixie AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /build
COPY pyproject.toml README.md LICENSE requirements/image.txt ./
COPY src ./src
RUN python -m venv /opt/kindly \
 && /opt/kindly/bin/pip install --require-hashes --requirement image.txt \
 && /opt/kindly/bin/pip install ".[browser,duckdb,postgres,keyless,office,otel]" \
 && /opt/kindly/bin/python -m compileall -q /opt/kindly/lib

FROM python:3.13-slim-trixie
RUN apt-get update \
 && apt-get install --yes --no-install-recommends chromium fonts-liberation fonts-noto-core fonts-noto-cjk tini \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --user-group --no-create-home --home-dir /tmp kindly \
 && install --directory --owner=kindly --group=kindly --mode=0700 /data
COPY --from=build /opt/kindly /opt/kindly
ENV PATH=/opt/kindly/bin:/usr/local/bin:/usr/bin:/bin \
    HOME=/tmp \
    PYTHONDONTWRITEBYTECODE=1 \
    DATA_DIR=/data \
    KINDLY_BROWSER_PATH=/usr/bin/chromium
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
ENTRYPOINT ["tini", "--", "kindly"]
CMD ["start-mcp-server"]
