# The command truism in a container, which reads and writes the folder that is mounted at /data:
#
#   docker build --tag truism .
#   docker run --rm --volume "$PWD:/data" --user "$(id -u):$(id -g)" truism check today.csv -m plant.truism.json
FROM python:3.13-slim AS build
COPY . /source
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /source

FROM python:3.13-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "$(echo /wheels/*.whl)[excel,sql]" && rm -r /wheels
# Loops are compiled once, here, and not in every container, whoever runs it.
ENV NUMBA_CACHE_DIR=/var/cache/truism
RUN mkdir /data "$NUMBA_CACHE_DIR" && truism demo /tmp/demo > /dev/null && rm -r /tmp/demo \
    && chmod -R a+rwX "$NUMBA_CACHE_DIR"
USER nobody
WORKDIR /data
ENTRYPOINT ["truism"]
