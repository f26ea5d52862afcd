# Ordinate as a container image: docs/operate.md, "Install". test/package/ checks this file and runs its steps.

# Builds the package as `npm run build` does, then keeps the packages that the service needs.
FROM node:26.10.0-bookworm-slim AS build
WORKDIR /opt/ordinate
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY LICENSE tsconfig.json tsconfig.build.json tsconfig.client.json ./
COPY bin bin
COPY client client
COPY docs docs
COPY cli cli
COPY scripts scripts
COPY server server
COPY sql sql
RUN npm run build
# With the optional packages, and without the Node that comes as a package: the image has the same one.
RUN node scripts/optional-packages.ts && npm prune --omit=dev && rm -rf node_modules/node-linux-* node_modules/.bin/node

FROM node:26.10.0-bookworm-slim
LABEL org.opencontainers.image.title="Ordinate" \
  org.opencontainers.image.description="Self-hosted search-analytics reporting service" \
  org.opencontainers.image.version="0.2.0" \
  org.opencontainers.image.licenses="Apache-2.0"
# An empty volume takes the owner of the folder below it.
RUN groupadd --gid 10001 ordinate \
  && useradd --uid 10001 --gid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin ordinate \
  && install --directory --owner=10001 --group=10001 --mode=0700 /data /secrets /backup \
  && ln -s /opt/ordinate/bin/ordinate /usr/local/bin/ordinate
WORKDIR /opt/ordinate
COPY LICENSE package.json ./
COPY --from=build /opt/ordinate/node_modules node_modules
COPY --from=build /opt/ordinate/bin bin
COPY --from=build /opt/ordinate/dist dist
# MALLOC_ARENA_MAX as in bin/ordinate.
ENV HOST=0.0.0.0 ORDINATE_DATA=/data ORDINATE_SECRETS_KEY_FILE=/secrets/secrets.key MALLOC_ARENA_MAX=2
# By number, so that a cluster can see that it is not root.
USER 10001:10001
VOLUME ["/data", "/secrets"]
EXPOSE 3000
STOPSIGNAL SIGTERM
# /livez and not /readyz: a failed check may restart the container, which frees no disk and brings back no provider.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "--eval", "fetch('http://127.0.0.1:' + (process.env.PORT || 3000) + '/livez').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Its option as in bin/ordinate.
ENTRYPOINT ["node", "--max-semi-space-size=8", "/opt/ordinate/dist/cli/ordinate.js"]
CMD ["serve"]
