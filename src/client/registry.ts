import { ClientError } from './error.js';
import { type CallOptions, segment, type Transport } from './transport.js';
import type {
  Attached,
  AttachInput,
  Attachments,
  Detached,
  Document,
  Documents,
  DocumentsInput,
  Explained,
  Registered,
  Removed,
} from './types.js';

export interface PageOptions extends CallOptions {
  /** Items of a page, at most 1,000; default 100. */
  limit?: number;
  /** `cursor` of the page before. */
  cursor?: string;
}

export interface DocumentsOptions extends PageOptions {
  /** Also what comes with Sluice. */
  builtIn?: boolean;
}

type List = (options?: DocumentsOptions) => Promise<Documents>;
type Get = (name: string, options?: CallOptions) => Promise<Document>;
type Remove = (name: string, options?: CallOptions) => Promise<Removed>;

/** Tools, validations, skills, and what they are attached to. Names are `namespace/name`, or short for `local/`. */
export interface RegistryClient {
  listTools: List;
  listValidations: List;
  listSkills: List;
  getTool: Get;
  getValidation: Get;
  getSkill: Get;
  /** Registers documents together: all of them, or none. */
  registerDocuments(documents: DocumentsInput, options?: CallOptions): Promise<Registered>;
  removeTool: Remove;
  /** Its attachments go with it. */
  removeValidation: Remove;
  removeSkill: Remove;
  /** The oldest first. */
  listAttachments(options?: PageOptions & { resource?: string; validation?: string }): Promise<Attachments>;
  /** Attaches a validation, or all of a skill, to a resource. */
  attach(given: AttachInput, options?: CallOptions): Promise<Attached>;
  detach(attachment: string, options?: CallOptions): Promise<Detached>;
  /** Every attachment of a resource, with why it applies or does not. */
  explainResource(
    resource: string,
    where?: { project?: string; plan?: string },
    options?: CallOptions,
  ): Promise<Explained>;
}

type Kind = 'tool' | 'validation' | 'skill';

function placeOf(kind: Kind, name: string): string {
  const [namespace, ...rest] = name.includes('/') ? name.split('/') : ['local', name];
  return `/v1/${kind}s/${segment(namespace ?? '')}/${segment(rest.join('/'))}`;
}

/** What is gone when the request is made again was removed by a try before, whose answer was lost. */
async function goneIsDone<T>(work: (onRetry: () => void) => Promise<T>, done: T): Promise<T> {
  let isAgain = false;
  try {
    return await work(() => {
      isAgain = true;
    });
  } catch (error) {
    if (isAgain && error instanceof ClientError && error.code === 'NOT_FOUND') return done;
    throw error;
  }
}

export function registryClient(transport: Transport): RegistryClient {
  const list =
    (kind: Kind): List =>
    ({ builtIn, limit, cursor, signal } = {}) =>
      transport.read(`/v1/${kind}s`, { built_in: builtIn, limit, cursor }, { signal });
  const get =
    (kind: Kind): Get =>
    (name, options) =>
      transport.read(placeOf(kind, name), undefined, options);
  const remove =
    (kind: Kind): Remove =>
    (name, options) => {
      const removed = { kind, name: name.includes('/') ? name : `local/${name}` };
      const work = (onRetry: () => void) => transport.remove<Removed>(placeOf(kind, name), onRetry, options);
      return goneIsDone(work, { removed, attachments: [] });
    };
  return {
    listTools: list('tool'),
    listValidations: list('validation'),
    listSkills: list('skill'),
    getTool: get('tool'),
    getValidation: get('validation'),
    getSkill: get('skill'),
    registerDocuments: (documents, options) => transport.change('POST', '/v1/documents', documents, options),
    removeTool: remove('tool'),
    removeValidation: remove('validation'),
    removeSkill: remove('skill'),
    listAttachments: ({ signal, ...query } = {}) => transport.read('/v1/attachments', query, { signal }),
    attach: (given, options) => transport.change('POST', '/v1/attachments', given, options),
    detach(attachment, options) {
      const path = `/v1/attachments/${segment(attachment)}`;
      const work = (onRetry: () => void) => transport.remove<Detached>(path, onRetry, options);
      return goneIsDone(work, { detached: attachment });
    },
    explainResource: (resource, where, options) =>
      transport.read(`/v1/resources/${segment(resource)}/explanation`, where, options),
  };
}
