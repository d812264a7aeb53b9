// A consumer of Sluice's webhooks on plain Node, with the published package `standardwebhooks` alone.
// WEBHOOK_SECRET: a whsec_ secret, or two with a space between; PORT: default 8090; ANSWER: the status that
// it answers with, such as 500, to see how it is tried again.
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const { WEBHOOK_SECRET = '', PORT = '8090', ANSWER = '204' } = process.env;
const verifiers = WEBHOOK_SECRET.split(' ').map((secret) => new Webhook(secret));
const MOST_BYTES = 2 * 2 ** 20;
const MOST_IDS = 100_000;
const seen = new Set();

/** The content of a request that one of the secrets has signed; throws when none has. */
function verify(body, headers) {
  const verified = verifiers.flatMap((verifier) => {
    try {
      return [verifier.verify(body, headers)];
    } catch {
      return [];
    }
  });
  if (verified.length === 0) throw new Error('not signed by a secret of ours');
  return verified[0];
}

const server = createServer(async (request, response) => {
  try {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) {
      body += chunk;
      if (body.length > MOST_BYTES) return response.writeHead(413).end();
    }
    const events = [verify(body, request.headers)].flat();
    if (ANSWER !== '204') return response.writeHead(Number(ANSWER)).end();
    for (const { id, type, subject, data } of events) {
      // The same event may come twice: what counts is what is done the first time.
      if (!seen.has(id)) console.log(`webhook: ${type} ${subject} ${data?.decision ?? ''}`.trimEnd());
      seen.add(id);
      if (seen.size > MOST_IDS) seen.delete(seen.values().next().value);
    }
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(401).end(error.message);
  }
});
server.listen(Number(PORT), '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
