# Other images can be given where no registry is reached, or where npm needs settings of its own (see
# scripts/ci-docker.sh). What only the build needs stays out of the image that runs.
ARG NODE_IMAGE=node:20-alpine
ARG BUILD_IMAGE=node:20-alpine

FROM ${BUILD_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY config ./config
COPY queues ./queues
COPY workers ./workers
COPY src ./src
RUN npm run build && npm prune --omit=dev --ignore-scripts && rm -rf node_modules/.cache

FROM ${NODE_IMAGE}
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY examples ./examples
COPY config/container.yaml ./config/container.yaml
RUN mkdir -p /var/lib/sluice && chown node:node /var/lib/sluice
USER node
ENTRYPOINT ["node", "dist/src/cli/main.js"]
CMD ["--help"]
