import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './paths.mjs';

/** Folder of the bundle, beside the compiled sources. */
export const BUNDLE = 'bundle';

/** Programs that are started often: each is one file to load, not a thousand. */
const PROGRAMS = ['src/cli/main.js', 'src/embedded/guard.js'];

/**
 * What stays a package: WebAssembly is found next to its own module, the native part of msgpackr is
 * optional and looked for at run time, and servers and buses are for processes that live long.
 */
export const PACKAGES = [
  'quickjs-emscripten-core',
  '@jitl/quickjs-wasmfile-release-sync',
  'msgpackr-extract',
  'fastify',
  '@fastify/*',
  '@nats-io/*',
  'rabbitmq-client',
  'mqtt',
  'jsonata',
  'prom-client',
  'bullmq-otel',
  '@opentelemetry/*',
  // CommonJS, of which a bundle's `import()` finds the default alone.
  'ipaddr.js',
  'standardwebhooks',
];

/** What CommonJS takes for granted. */
const COMMON_JS = [
  `import { createRequire as sluiceCreateRequire } from 'node:module';`,
  `import { dirname as sluiceDirname } from 'node:path';`,
  `import { fileURLToPath as sluicePathOf } from 'node:url';`,
  `const require = sluiceCreateRequire(import.meta.url);`,
  `const __filename = sluicePathOf(import.meta.url);`,
  `const __dirname = sluiceDirname(__filename);`,
].join('');

const HOUR_MS = 3_600_000;

const OPTIONS = {
  absWorkingDir: ROOT,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  legalComments: 'none',
  banner: { js: COMMON_JS },
  external: PACKAGES,
  logLevel: 'error',
};

/**
 * Bundles the programs among the compiled files in `stage`, with the packages that they use, into
 * `folder`. Modules that only some commands load stay files of their own. Answers with what stands in
 * the place of each program: a line that imports its bundle. Throws when a module is missing.
 */
export async function bundlePrograms(stage, folder) {
  const { build } = await import('esbuild');
  const { metafile, outputFiles } = await build({
    ...OPTIONS,
    entryPoints: PROGRAMS.map((program) => ({ in: join(stage, program), out: entryName(program) })),
    outdir: folder,
    chunkNames: '[hash]',
    splitting: true,
    // Names stay: they stand in the stack traces that users send.
    minifyWhitespace: true,
    minifySyntax: true,
    plugins: [placesOf(stage, (path) => `new URL('../${path}', import.meta.url).href`)],
    metafile: true,
    write: false,
  });
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { path, contents } of outputFiles) writeFileSync(path, contents);
  writeFileSync(join(folder, 'LICENSES.txt'), licenses(Object.keys(metafile.inputs)));
  return new Map(PROGRAMS.map((program) => [program, stub(stage, program)]));
}

/** Bundles one TypeScript program of this checkout into `file`, which must lie in the checkout too. */
export async function bundleSource(program, file) {
  const { build } = await import('esbuild');
  const place = (path) => JSON.stringify(pathToFileURL(join(ROOT, path)).href);
  await build({ ...OPTIONS, entryPoints: [program], outfile: file, plugins: [placesOf(ROOT, place)] });
}

const entryName = (program) => program.replace(/\.js$/, '').replaceAll('/', '-');

function stub(stage, program) {
  const shebang = /^#!.*\n/.exec(readFileSync(join(stage, program), 'utf8'))?.[0] ?? '';
  const up = '../'.repeat(program.split('/').length - 1);
  return `${shebang}import '${up}${BUNDLE}/${entryName(program)}.js';\n`;
}

/**
 * A module below `root` that looks for files next to itself finds them where they are without a
 * bundle; `placeOf` writes that as an expression, from the path of the module in `root`.
 */
const placesOf = (root, placeOf) => ({
  name: 'places',
  setup(build) {
    build.onLoad({ filter: /\.[jt]s$/ }, ({ path }) => {
      const inside = relative(root, path);
      if (inside.startsWith('..') || inside.includes('node_modules')) return undefined;
      const contents = readFileSync(path, 'utf8')
        .replaceAll('import.meta.url', () => `(${placeOf(inside)})`)
        // The same object; but of a namespace, what nobody uses (half of it: languages) is left out.
        .replace("import { z } from 'zod';", "import * as z from 'zod';");
      return { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' };
    });
  },
});

/** Texts of the licenses of every package in the bundle, which they ask to go with it. */
function licenses(inputs) {
  const folders = new Set();
  for (const input of inputs) {
    const found = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input)?.[0];
    if (found !== undefined && existsSync(join(ROOT, found, 'package.json'))) folders.add(found);
  }
  return [...folders]
    .sort()
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
      const file = readdirSync(join(ROOT, folder)).find((entry) => /^licen[cs]e/i.test(entry));
      const text = file === undefined ? '' : readFileSync(join(ROOT, folder, file), 'utf8').trim();
      return `${name} ${version} (${license})\n\n${text}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}

/**
 * Removes from `published` what the bundle in `folder` no longer has. With `all: false` only what is
 * an hour old: a process that runs may yet load the part that it was built with.
 */
export function pruneBundle(folder, published, { all }) {
  if (!existsSync(published)) return;
  for (const name of readdirSync(published)) {
    if (existsSync(join(folder, name))) continue;
    const file = join(published, name);
    if (all || Date.now() - statSync(file).mtimeMs > HOUR_MS) rmSync(file);
  }
}
