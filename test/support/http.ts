import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { Tokens } from '../../src/app/tokens.js';
import type { Engine } from '../../src/compose.js';
import type { HttpDeps } from '../../src/http/deps.js';
import { makeDeps } from '../../src/http/make-deps.js';
import { createServer } from '../../src/http/server.js';
import { ROLES, type TokenRole } from '../../src/ports/tokens.js';

export interface TestServer {
  url: string;
  app: FastifyInstance;
  deps: HttpDeps;
  /** A token of each role, by its name: `reader`, `submitter`, `operator`. */
  tokens: Record<TokenRole, string>;
  /** Sends JSON with a token; `token` null: without one. */
  ask(
    method: string,
    path: string,
    options?: { body?: unknown; token?: string | null; headers?: Record<string, string> },
  ): Promise<Response>;
  /** As a role does it: takes nothing new, waits for what is in hand. */
  close(): Promise<void>;
}

const NAMES = { read: 'reader', submit: 'submitter', operate: 'operator' } as const;

/** A server on a free port of 127.0.0.1 with a token of each role. */
export async function startTestServer(
  engine: Engine,
  more: Partial<HttpDeps> = {},
  settings: Partial<Engine['config']['http']> = {},
): Promise<TestServer> {
  const draining = new AbortController();
  const http = { ...engine.config.http, ...settings };
  const own = { ...engine, config: { ...engine.config, http } };
  const deps = { ...makeDeps(own, draining.signal), ...more };
  const app = await createServer(deps, http);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const made = new Tokens({ tokens: engine.store.tokens, clock: engine.clock });
  const tokens = {} as Record<TokenRole, string>;
  for (const role of ROLES) {
    await engine.store.tokens.remove(NAMES[role]);
    tokens[role] = (await made.add(NAMES[role], role)).value;
  }
  return {
    url,
    app,
    deps,
    tokens,
    ask(method, path, { body, token = tokens.operate, headers = {} } = {}) {
      return fetch(`${url}${path}`, {
        method,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
    },
    async close() {
      draining.abort();
      await app.close();
    },
  };
}
