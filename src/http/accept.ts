import type { Operation } from './operation.js';
import { HttpProblem } from './problems.js';

/** Types that an operation may answer with when all is well. */
export function answerTypes({ responses }: Pick<Operation, 'responses'>): string[] {
  const types = Object.values(responses).flatMap(({ contentType, schema, also = [] }) => [
    ...(contentType === undefined && schema === undefined ? [] : [contentType ?? 'application/json']),
    ...also,
  ]);
  return [...new Set(types)];
}

/** Whether a media range of an Accept header takes a type; parameters but `q=0` do not matter. */
function takes(range: string, type: string): boolean {
  const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
  if (parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))) return false;
  const bare = type.split(';')[0]?.trim() ?? type;
  return name === '*/*' || name === bare || name === `${bare.split('/')[0]}/*`;
}

/** Throws NOT_ACCEPTABLE when a client takes none of the types that the operation answers with. */
export function checkAccept(operation: Pick<Operation, 'responses'>, accept: string | undefined): void {
  const types = answerTypes(operation);
  if (accept === undefined || accept.trim() === '' || types.length === 0) return;
  const ranges = accept.split(',').filter((range) => range.trim() !== '');
  if (ranges.some((range) => types.some((type) => takes(range, type)))) return;
  throw new HttpProblem('NOT_ACCEPTABLE', `This answers with ${types.join(' or ')}.`, {
    problems: [{ path: 'Accept', message: 'takes none of these', allowed: types }],
  });
}

/** Types of bodies that an operation takes. */
export const bodyTypes = ({ body }: Pick<Operation, 'body'>): readonly string[] =>
  body?.contentTypes ?? ['application/json'];

/** A refusal of a type of body, with those that are taken. */
export function unsupportedType(operation: Pick<Operation, 'body'>, found: string | undefined): HttpProblem {
  const allowed = [...bodyTypes(operation)];
  const problem = {
    path: 'Content-Type',
    message: found === undefined ? 'is missing' : 'is not taken here',
    ...(found === undefined ? {} : { found }),
    allowed,
  };
  return new HttpProblem('UNSUPPORTED_MEDIA_TYPE', `This takes ${allowed.join(' or ')}.`, {
    problems: [problem],
    headers: { accept: allowed.join(', ') },
  });
}
