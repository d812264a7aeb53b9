import { createRequire } from 'node:module';
import { parseAllDocuments } from 'yaml';

const require = createRequire(import.meta.url);
const SCHEMAS = ['kubernetes-models', '@kubernetes-models/keda'];

/** A Kubernetes object, as far as it is looked into here. */
export interface Manifest {
  file: string;
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
  // biome-ignore lint/suspicious/noExplicitAny: what it holds is held to its schema first
  spec?: any;
  data?: Record<string, string>;
  stringData?: Record<string, string>;
}

interface Model {
  prototype: { validate(this: unknown): void };
}

/** The schema of a kind, as the npm packages carry it; undefined: none of them knows the kind. */
function modelOf(apiVersion: string, kind: string): Model | undefined {
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  for (const name of SCHEMAS) {
    for (const folder of new Set([group, group.split('.')[0]])) {
      try {
        const found = require([name, folder, version].filter(Boolean).join('/'))[kind];
        if (found !== undefined) return found;
      } catch (error) {
        if (
          !/MODULE_NOT_FOUND|ERR_PACKAGE_PATH_NOT_EXPORTED/.test(`${(error as NodeJS.ErrnoException).code}`)
        )
          throw error;
      }
    }
  }
  return undefined;
}

/**
 * The same value, watched: the validators are compiled from the schemas and pass over fields that these do
 * not have, so that a field which nobody looked at is one that does not exist.
 */
function watched(value: unknown, path: string, reports: (() => string[])[]): unknown {
  if (value === null || typeof value !== 'object') return value;
  const looked = new Map<string, unknown>();
  reports.push(() =>
    Array.isArray(value)
      ? []
      : Object.keys(value)
          .filter((key) => !looked.has(key))
          .map((key) => `${path}/${key}`),
  );
  return new Proxy(value, {
    get(target, key) {
      if (typeof key !== 'string' || !Object.hasOwn(target, key)) return Reflect.get(target, key);
      if (!looked.has(key)) looked.set(key, watched(Reflect.get(target, key), `${path}/${key}`, reports));
      return looked.get(key);
    },
  });
}

/** What is wrong with an object by its schema, unknown fields included. */
function schemaProblems(manifest: object & { apiVersion?: string; kind?: string }): string[] {
  const { apiVersion = '', kind = '' } = manifest;
  const model = modelOf(apiVersion, kind);
  if (model === undefined) return [`no schema for ${apiVersion} ${kind}`];
  const reports: (() => string[])[] = [];
  const problems: string[] = [];
  try {
    model.prototype.validate.call(watched(manifest, '', reports));
  } catch (error) {
    problems.push((error as Error).message);
  }
  return [...problems, ...reports.flatMap((report) => report()).map((path) => `${path} is no field of it`)];
}

/** What KEDA's scalers take; its schema has a free map there. */
const TRIGGERS: Record<string, { required: string[]; optional: string[] }> = {
  redis: {
    required: ['listName', 'listLength'],
    optional: ['activationListLength', 'databaseIndex', 'enableTLS', 'address', 'passwordFromEnv'],
  },
  prometheus: {
    required: ['serverAddress', 'query', 'threshold'],
    optional: ['activationThreshold', 'ignoreNullValues', 'namespace', 'unsafeSsl', 'timeout'],
  },
  'metrics-api': {
    required: ['url', 'valueLocation', 'targetValue'],
    optional: ['activationTargetValue', 'format', 'authMode', 'unsafeSsl'],
  },
};

function triggerProblems({ spec }: Manifest): string[] {
  const triggers: { type: string; metadata: Record<string, string> }[] = spec?.triggers ?? [];
  return triggers.flatMap(({ type, metadata }, i) => {
    const known = TRIGGERS[type];
    if (known === undefined) return [`/spec/triggers/${i}: no trigger ${type}`];
    const { required, optional } = known;
    const lacks = required.filter((key) => metadata[key] === undefined).map((key) => `lacks ${key}`);
    const odd = Object.keys(metadata)
      .filter((key) => ![...required, ...optional].includes(key))
      .map((key) => `has ${key}, which ${type} does not know`);
    return [...lacks, ...odd].map((text) => `/spec/triggers/${i} ${text}`);
  });
}

/** Objects of a file with all that is wrong with them by themselves. */
export function readManifests(file: string, text: string): { manifests: Manifest[]; problems: string[] } {
  const manifests: Manifest[] = [];
  const problems: string[] = [];
  for (const document of parseAllDocuments(text, { uniqueKeys: true })) {
    if (document.errors.length > 0) {
      problems.push(...document.errors.map(({ message }) => `${file}: ${message}`));
      continue;
    }
    const manifest = document.toJS() as Manifest;
    manifest.file = file;
    const { file: _, ...own } = manifest;
    const name = `${file}: ${own.kind} ${own.metadata?.name}`;
    const wrong = schemaProblems(own);
    if (own.kind === 'ScaledObject') wrong.push(...triggerProblems(manifest));
    problems.push(...wrong.map((problem) => `${name}: ${problem}`));
    manifests.push(manifest);
  }
  return { manifests, problems };
}
