import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { emptyDirectory } from './run-cli.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BINARY = join(ROOT, 'bin/gateway.js');

/** Writes down the address of every module that is loaded. */
const RECORDER = `
import { register } from 'node:module';
const hooks = \`
import { appendFileSync } from 'node:fs';
export async function load(url, context, next) {
  appendFileSync(process.env.LOADED, url + '\\\\n');
  return next(url, context);
}\`;
register('data:text/javascript,' + encodeURIComponent(hooks));
`;

/** Modules of the package, by their place below `dist`, and of others, that a command line loads. */
export async function loadedBy(argv: string[], env: Record<string, string> = {}) {
  const cwd = await emptyDirectory();
  const list = join(cwd, 'loaded');
  const recorder = `data:text/javascript,${encodeURIComponent(RECORDER)}`;
  await execa(process.execPath, ['--import', recorder, BINARY, ...argv], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', LOADED: list, ...env },
    extendEnv: false,
    stdin: 'ignore',
  });
  const urls = (await readFile(list, 'utf8')).trimEnd().split('\n');
  const files = urls.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url));
  const dist = join(ROOT, 'dist/');
  return {
    own: files.filter((file) => file.startsWith(dist)).map((file) => file.slice(dist.length)),
    packages: files.filter((file) => file.includes('/node_modules/')),
  };
}
