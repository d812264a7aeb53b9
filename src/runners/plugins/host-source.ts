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

/** What is used of the package `typescript`, which is there in a checkout only. */
interface Compiler {
  ModuleKind: { ESNext: number };
  ScriptTarget: { ES2022: number };
  transpileModule(text: string, options: { compilerOptions: object }): { outputText: string };
}

function compiled(): string {
  const load = createRequire(import.meta.url);
  const { ModuleKind, ScriptTarget, transpileModule } = load('typescript') as Compiler;
  const options = { module: ModuleKind.ESNext, target: ScriptTarget.ES2022, verbatimModuleSyntax: true };
  return transpileModule(read('./host.ts'), { compilerOptions: options }).outputText;
}
