// Imports go one way (DESIGN 2): core <- ports <- {app | adapters} <- compose <- {workers | cli | http |
// index}; config is a leaf for compose and the entry points.

const ADAPTERS =
  'src/(?:store|runners|importers|inputs|reports|inline|embedded|doctor|metrics|telemetry)|queues';
const COMPOSE = '^src/compose(?:\\.ts$|/)';
const ENTRY = '^(?:workers|src/cli|src/http)/|^src/index\\.ts$';
const BUILT_IN = ['core'];

/** Whatever `from` imports of this project's own sources must lie in `allowed`. */
const only = (name, comment, from, allowed) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { path: '^(?:src|queues|workers|config|test|bench|scripts)/', pathNot: allowed },
});

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'not-to-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'not-to-dev-dep',
      comment: 'What is published must not need a development dependency.',
      severity: 'error',
      from: { path: '^(?:src|queues|workers|config)/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },

    only('core-own', 'Core knows core alone.', '^src/core/', '^src/core/'),
    {
      name: 'core-packages',
      comment: 'Core is pure: no package but these.',
      severity: 'error',
      from: { path: '^src/core/' },
      to: {
        dependencyTypesNot: [...BUILT_IN, 'local', 'type-only'],
        path: 'node_modules',
        pathNot: 'node_modules/(?:zod|re2js|fastest-levenshtein|ajv)/',
      },
    },
    {
      name: 'core-built-ins',
      comment: 'Core is pure: no module of Node.',
      severity: 'error',
      from: { path: '^src/core/', pathNot: '^src/core/digest\\.ts$' },
      to: { dependencyTypes: BUILT_IN },
    },
    {
      name: 'digest-built-ins',
      comment: 'createHash is the one thing that core takes from Node.',
      severity: 'error',
      from: { path: '^src/core/digest\\.ts$' },
      to: { dependencyTypes: BUILT_IN, pathNot: '^(?:node:)?crypto$' },
    },

    only('ports', 'Ports speak in the terms of core.', '^src/ports/', '^src/(?:ports|core)/'),
    only('app', 'Use cases know ports, never adapters.', '^src/app/', '^src/(?:app|ports|core)/'),
    only(
      'adapters',
      'Adapters know ports and core, and never each other.',
      `^(?!src/inputs|src/doctor)(${ADAPTERS})/`,
      '^(?:$1|src/(?:core|ports))/',
    ),
    only(
      'inputs',
      'An adapter that reads foreign logs through importers.',
      '^src/inputs/',
      '^src/(?:inputs|importers|core|ports)/',
    ),
    only(
      'doctor',
      'An adapter that asks embedded which server it would start.',
      '^src/doctor/',
      '^src/(?:doctor|embedded/binary\\.ts$|core|ports)',
    ),
    only('config', 'Config is a leaf.', '^config/', '^(?:config|src/core)/'),
    only(
      'compose',
      'Compose wires everything below the entry points.',
      COMPOSE,
      `^(?:${ADAPTERS}|config|src/(?:core|ports|app))/|${COMPOSE}`,
    ),
    only(
      'workers',
      'Workers never import a face, but for the HTTP API that one of them serves.',
      '^workers/',
      `^(?:workers|src/http|${ADAPTERS}|config|src/(?:core|ports|app))/|${COMPOSE}`,
    ),
    only(
      'faces',
      'Faces do not import each other; the command line may start the workers.',
      '^src/(cli|http)/',
      `^(?:src/$1|workers|${ADAPTERS}|config|src/(?:core|ports|app))/|${COMPOSE}`,
    ),
    only(
      'library',
      'The library is built from what compose and below hold.',
      '^src/(?:index|library)\\.ts$|^src/library/',
      `^(?:${ADAPTERS}|config|src/(?:core|ports|app))/|${COMPOSE}|^src/(?:library(?:\\.ts$|/)|(?:plugin|webhook|client)\\.ts$)`,
    ),
    only(
      'webhook',
      'What consumers of webhooks import knows core alone.',
      '^src/webhook\\.ts$',
      '^src/core/',
    ),
    only('plugin', 'What authors of plugins import knows core alone.', '^src/plugin\\.ts$', '^src/core/'),

    {
      name: 'nothing-imports-entry-points',
      severity: 'error',
      from: { path: '^(?:src|queues|config)/', pathNot: `${ENTRY}|^src/client/` },
      to: { path: ENTRY },
    },
    {
      name: 'client',
      comment: 'What programs load that call the API is small: of all else it knows types alone.',
      severity: 'error',
      from: { path: '^src/client(?:\\.ts$|/)' },
      to: {
        path: '^(?:src|queues|workers|config|test|bench|scripts)/',
        pathNot: '^src/client(?:\\.ts$|/)',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'client-packages',
      comment: 'It needs no package, and runs wherever there is fetch.',
      severity: 'error',
      from: { path: '^src/client(?:\\.ts$|/)' },
      to: { dependencyTypesNot: ['local', 'type-only'] },
    },

    {
      name: 'bullmq',
      comment: 'Everything that knows BullMQ is in queues/ and workers/.',
      severity: 'error',
      from: { path: '^(?:src|config)/' },
      to: { path: 'node_modules/bullmq/' },
    },
    {
      name: 'ioredis',
      comment: 'Redis is spoken to by the adapters that own it, and by compose.',
      severity: 'error',
      from: {
        path: '^(?:src|config|workers)/',
        pathNot: `^src/(?:store|embedded|doctor)/|${COMPOSE}`,
      },
      to: { path: 'node_modules/ioredis/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
