import { nearestName, SluiceError, show } from '../core/problem.js';
import { isStream, type Operation } from './operation.js';
import { HttpProblem } from './problems.js';

type Route = Pick<Operation, 'method' | 'path'> & Partial<Pick<Operation, 'responses'>>;

const segmentsOf = (path: string) => path.split('/').filter((segment) => segment !== '');

/** The path of a route with the segments of a request in the place of its parameters. */
function filled(route: string, request: readonly string[]): string {
  return `/${segmentsOf(route)
    .map((segment, n) => (segment.startsWith('{') ? (request[n] ?? segment) : segment))
    .join('/')}`;
}

/** Methods that a path takes, HEAD with GET unless that streams; empty for a path that there is not. */
export function methodsAt(routes: readonly Route[], path: string): string[] {
  // As the router has it: one slash at the end does not matter, others do.
  if (path.includes('//')) return [];
  const request = segmentsOf(path);
  const wanted = `/${request.join('/')}`;
  const found = routes.filter(
    (route) => segmentsOf(route.path).length === request.length && filled(route.path, request) === wanted,
  );
  const methods = found.flatMap(({ method, responses = {} }) =>
    method === 'GET' && !isStream({ responses }) ? ['GET', 'HEAD'] : [method],
  );
  return [...new Set(methods)].sort();
}

/** What is answered where no operation is: 405 with those that are, or 404 with the path that was meant. */
export function unknownRoute(routes: readonly Route[], method: string, path: string): Error {
  const methods = methodsAt(routes, path);
  if (methods.length > 0) {
    const message = `${path} does not take ${method}; it takes ${methods.join(', ')}.`;
    return new HttpProblem('METHOD_NOT_ALLOWED', message, { headers: { allow: methods.join(', ') } });
  }
  const request = segmentsOf(path);
  // Names with a slash are compared part by part; of a path all parts count alike.
  const plain = (text: string) => text.replaceAll('/', ' ');
  const byFilled = new Map(routes.map((route) => [plain(filled(route.path, request)), route.path]));
  const meant = nearestName(plain(path), [...byFilled.keys()]);
  const nearest = meant === undefined ? {} : { nearest: byFilled.get(meant) ?? meant };
  const problem = { path: '', message: 'no operation has this path', found: show(path), ...nearest };
  return new SluiceError('NOT_FOUND', `There is nothing at ${show(path)}.`, [problem]);
}
