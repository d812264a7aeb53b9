// Validations of an operator's own: compiled JavaScript, run in processes that can write nothing. The settings name
// this module under `plugins`, and documents name its validations as `plugin/<name>`.
export const validations = [
  {
    name: 'licensed',
    description: 'Every script says under which license it is',
    input_schema: {
      type: 'object',
      properties: { license: { type: 'string' } },
      required: ['license'],
      additionalProperties: false,
    },
    validate({ args, subject }) {
      const scripts = Object.entries(subject.files).filter(([path]) => path.endsWith('.sh'));
      const bad = scripts
        .filter(([, text]) => !text.includes(`SPDX-License-Identifier: ${args.license}`))
        .map(([path]) => path);
      return {
        passed: bad.length === 0,
        message: `${scripts.length - bad.length} of ${scripts.length} scripts are under ${args.license}`,
        data: { bad },
      };
    },
  },
];
