import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer as createPlainServer } from 'node:net';

/** A server on a free port of 127.0.0.1. */
export interface TestServer {
  port: number;
  /** Connections that it has accepted so far. */
  connections(): number;
  /** Ends it with everything that is connected. */
  stop(): Promise<void>;
}

export interface TestRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

async function listening(server: Server): Promise<TestServer> {
  const sockets = new Set<Socket>();
  let accepted = 0;
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => accepted,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Answers each request once its body is there; https with a certificate. */
export function startHttpServer(
  answer: (request: TestRequest, response: ServerResponse) => void,
  tls?: { cert: string; key: string },
): Promise<TestServer> {
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => {});
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      answer(
        { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body },
        response,
      );
    });
  };
  return listening(tls === undefined ? createServer(listener) : createSecureServer(tls, listener));
}

/** Does with each connection as it likes. */
export const startRawServer = (talk: (socket: Socket) => void): Promise<TestServer> =>
  listening(createPlainServer(talk));
