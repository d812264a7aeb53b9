type Reply = [Error | null, unknown];

/** The answers of a pipeline of Redis; the first error is thrown. */
export function unwrap(replies: Reply[] | null): unknown[] {
  if (replies === null) throw new Error('the pipeline was aborted');
  return replies.map(([error, value]) => {
    if (error !== null) throw error;
    return value;
  });
}
