import { realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Where a module is, and what of the host it must be able to read. */
export interface Located {
  /** As configured. */
  module: string;
  /** URL of a file, or the name of a package. */
  specifier: string;
  /** File that a package is looked up from; it need not exist. */
  base: string;
  /** Folders and files, absolute: its own package, and the packages that it may import. */
  readable: string[];
}

const PACKAGE = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*(?=\/|$)/i;

/** Finds a module by its path, or as a package by the rules of `import`; a text says why it cannot be. */
export async function locate(module: string, from: string): Promise<Located | string> {
  const base = join(resolve(from), 'plugins.js');
  if (isAbsolute(module) || /^\.\.?\//.test(module)) return byPath(module, resolve(from, module), base);
  const name = PACKAGE.exec(module)?.[0];
  if (name === undefined) return 'it is neither the path of a module (absolute, or with "./") nor a package';
  const folder = await firstOf(upwards(resolve(from)).map((each) => join(each, 'node_modules', name)));
  if (folder === undefined) return `there is no package ${name} in the node_modules of ${from} or above it`;
  const readable = await readableFor(await realpath(folder), folder);
  return { module, specifier: module, base, readable };
}

async function byPath(module: string, path: string, base: string): Promise<Located | string> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return `there is no file ${path}`;
  if (!found.isFile()) return `${path} is no file; name the module itself`;
  const real = await realpath(path);
  const own = await packageOf(dirname(real));
  const readable = await readableFor(own ?? dirname(real), path);
  return { module, specifier: pathToFileURL(real).href, base, readable };
}

/** The folder of the package that a folder belongs to; the root of the file system is none. */
async function packageOf(folder: string): Promise<string | undefined> {
  const file = await firstOf(upwards(folder).map((each) => join(each, 'package.json')));
  const found = file === undefined ? undefined : dirname(file);
  return found === '/' ? undefined : found;
}

/** A package, as it was found and where it is, and all folders of packages that `import` looks into from there. */
async function readableFor(folder: string, found: string): Promise<string[]> {
  const all = [...upwards(folder), ...upwards(dirname(found))].filter(
    (each) => !each.endsWith('/node_modules'),
  );
  const packages = await Promise.all(all.map((each) => firstOf([join(each, 'node_modules')])));
  return [...new Set([folder, found, ...packages.flatMap((each) => each ?? [])])];
}

/** The folder and those around it, the innermost first. */
function upwards(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...upwards(above)];
}

/** The first that exists. */
async function firstOf(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if (await stat(path).catch(() => undefined)) return path;
  return undefined;
}
