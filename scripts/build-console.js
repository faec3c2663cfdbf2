// Builds src/console into dist/console: what the browser loads, with names that change with their content.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('..', import.meta.url));
const out = join(root, 'dist', 'console');

/** Bytes of gzip that the sign-in and the first page may have, scripts and styles together. */
const FIRST_LOAD = 120 * 1024;
/** The page that a browser opens with. */
const FIRST_PAGE = 'pages/requests/requests-page.tsx';

/** True once the console is built; throws where its first load is over the budget. */
export async function buildConsole() {
  const { build } = await import('vite');
  await build({
    root: join(root, 'src', 'console'),
    base: '/console/',
    configFile: false,
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    worker: { format: 'es' },
    build: {
      outDir: out,
      emptyOutDir: true,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      manifest: true,
      target: 'es2022',
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      reportCompressedSize: false,
      rolldownOptions: { checks: { pluginTimings: false } },
      chunkSizeWarningLimit: 1_000,
    },
  });
  const bytes = firstLoad();
  if (bytes > FIRST_LOAD) {
    process.stderr.write(
      `the console loads ${bytes} bytes of gzip first, over its budget of ${FIRST_LOAD}: load what the first page can do without lazily\n`,
    );
    return false;
  }
  return true;
}

/** Bytes of gzip of everything that the browser needs before the first page is shown. */
function firstLoad() {
  const manifest = JSON.parse(readFileSync(join(out, '.vite', 'manifest.json'), 'utf8'));
  const names = new Set(['index.html', FIRST_PAGE]);
  const files = new Set(['index.html']);
  for (const name of names) {
    const chunk = manifest[name];
    if (!chunk) throw new Error(`the build of the console has no chunk ${name}`);
    if (chunk.file) files.add(chunk.file);
    for (const file of chunk.css ?? []) files.add(file);
    for (const imported of chunk.imports ?? []) names.add(imported);
  }
  return [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(out, file))).length, 0);
}
