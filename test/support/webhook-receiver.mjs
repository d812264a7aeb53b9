// A receiver of webhooks in a process of its own: `node webhook-receiver.mjs PORT FILE`. Keeps each request
// as a line of FILE before it answers; refuses what has REFUSE-ME in it. Says its port on stdout.
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [port, file] = process.argv.slice(2);
const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString('utf8');
    if (body.includes('REFUSE-ME')) {
      response.writeHead(422).end(`refused; you sent authorization: ${request.headers.authorization}`);
      return;
    }
    appendFileSync(file, `${JSON.stringify({ headers: request.headers, body })}\n`);
    response.writeHead(204).end();
  });
});
server.listen(Number(port), '127.0.0.1', () => console.log(server.address().port));
