import { connect } from 'node:net';

/**
 * Those of the servers (HOST:PORT) that greet as servers of NATS do. The client alone leaves a socket open
 * for each try of a server that accepts and then says nothing. Throws the first trouble when none greets.
 */
export async function greetingServers(servers: readonly string[], timeoutMs: number): Promise<string[]> {
  const answers = await Promise.allSettled(servers.map((server) => greeting(server, timeoutMs)));
  const willing = servers.filter((_, n) => answers[n]?.status === 'fulfilled');
  if (willing.length > 0) return willing;
  throw answers.find((answer) => answer.status === 'rejected')?.reason ?? new Error('no server is given');
}

function greeting(server: string, timeoutMs: number): Promise<void> {
  const at = server.lastIndexOf(':');
  const host = server.slice(0, at).replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(server.slice(at + 1)), autoSelectFamily: true });
    const end = (reason?: string) => {
      clearTimeout(timer);
      socket.destroy();
      if (reason === undefined) resolve();
      else reject(new Error(reason));
    };
    const timer = setTimeout(() => end(`${server} does not answer`), timeoutMs);
    socket.on('error', (error) => end(error.message || `${server} cannot be reached`));
    socket.on('close', () => end(`${server} closed the connection at once`));
    socket.once('data', (data) =>
      end(data.subarray(0, 4).toString('latin1') === 'INFO' ? undefined : `${server} does not speak NATS`),
    );
  });
}
