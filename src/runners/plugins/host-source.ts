import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

let text: string | undefined;

/**
 * The program of plugins' children as JavaScript. They are given its text, so that they need to read
 * nothing of this package; from a checkout's TypeScript (tests) it is compiled here.
 */
export function hostSource(): string {
  text ??= import.meta.url.endsWith('.ts') ? compiled() : read('./host.js');
  return text;
}

const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');

function compiled(): string {
  const compiler = createRequire(import.meta.url)('typescript') as typeof import('typescript');
  const { ESNext, ES2022 } = { ESNext: compiler.ModuleKind.ESNext, ES2022: compiler.ScriptTarget.ES2022 };
  const compilerOptions = { module: ESNext, target: ES2022, verbatimModuleSyntax: true };
  return compiler.transpileModule(read('./host.ts'), { compilerOptions }).outputText;
}
