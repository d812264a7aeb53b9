// A plugin as an operator would write it, compiled.
let calls = 0;

export default [
  {
    name: 'has_keys',
    description: 'The snapshot has every key that is named.',
    input_schema: {
      type: 'object',
      properties: { keys: { type: 'array', items: { type: 'string' } } },
      required: ['keys'],
    },
    validate({ args, subject }) {
      const missing = args.keys.filter((key) => !(key in subject));
      console.log(`looked for ${args.keys.length} keys`);
      return { passed: missing.length === 0, message: `${missing.length} missing`, data: { missing } };
    },
  },
  {
    name: 'echo',
    async validate(input, { deadline_ms, signal }) {
      calls += 1;
      return { passed: true, data: { input, deadline_ms, aborted: signal.aborted, calls } };
    },
  },
  {
    name: 'heeds',
    validate: (_input, { signal }) =>
      new Promise((resolve) => {
        const alive = setInterval(() => {}, 1_000);
        signal.addEventListener('abort', () => {
          clearInterval(alive);
          resolve({ passed: true });
        });
      }),
  },
];
