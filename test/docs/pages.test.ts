import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { verifies } from '../requirements.ts';
import { formatDiagnostics } from '../../src/config/source/diagnostic.ts';
import { loadConfig } from '../../src/config/read/load-config.ts';
import { PROTOCOLS } from '../../src/protocols/registry.ts';
import { markedBlocks } from './code-blocks.ts';
import {
  errorsTable,
  familiesTable,
  lossesTable,
  pairsTable,
  statusesTable,
  streamErrorsBlock,
  translationTable,
} from './protocol-tables.ts';
import { countsTable } from './counts-table.ts';
import { capabilitiesTable, effortsTable, rulesTable } from './capability-tables.ts';
import { providersTable } from './providers-table.ts';
import { vendorsText } from './vendors-table.ts';
import { withGenerated } from './table.ts';

const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url));
const pages = (await readdir(DOCS, { recursive: true })).filter((name) => name.endsWith('.md'));
/** Pages of the repository that are not documentation of the product. */
const ROOT_PAGES = ['../CHANGELOG.md', '../CONTRIBUTING.md', '../SECURITY.md'];

const TELLS_LOSSES = verifies(
  'docs.losses-from-code',
  'tells of the protocols what the code does; `-u` writes the page again',
);
const TELLS_REFUSALS = verifies(
  'docs.vendors-refuse',
  'lists for each vendor the bounds and refusals that the code has; `-u` writes it again',
);
const COUNTS_LOSSES = verifies(
  'docs.losses-from-code',
  'counts for clients what is lost between protocols; `-u` writes it again',
);

describe('docs', () => {
  it('lists the types of provider that exist; `-u` writes the page again', async () => {
    const page = await readFile(join(DOCS, 'providers.md'), 'utf8');
    const fresh = withGenerated(page, 'providers', providersTable());
    expect(fresh).toContain('`mock`');
    await expect(fresh).toMatchFileSnapshot(join(DOCS, 'providers.md'));
    for (const [id, { provider }] of Object.entries(PROTOCOLS)) {
      expect(page).toContain(`${id} \`${provider.path}\``);
    }
  });

  it(TELLS_LOSSES, async () => {
    const file = join(DOCS, 'protocols.md');
    const parts = {
      families: familiesTable(),
      errors: errorsTable(),
      statuses: statusesTable(),
      'stream errors': streamErrorsBlock(),
      translation: translationTable(),
      losses: lossesTable(),
      counts: countsTable(),
      capabilities: capabilitiesTable(),
      efforts: effortsTable(),
      rules: rulesTable(),
    };
    const fresh = Object.entries(parts).reduce(
      (page, [name, text]) => withGenerated(page, name, text),
      await readFile(file, 'utf8'),
    );
    await expect(fresh).toMatchFileSnapshot(file);
  });

  it(TELLS_REFUSALS, async () => {
    const file = join(DOCS, 'vendors.md');
    const page = await readFile(file, 'utf8');
    await expect(withGenerated(page, 'vendors', vendorsText())).toMatchFileSnapshot(file);
  });

  it(COUNTS_LOSSES, async () => {
    const file = join(DOCS, 'clients.md');
    const page = await readFile(file, 'utf8');
    await expect(withGenerated(page, 'pairs', pairsTable())).toMatchFileSnapshot(file);
  });

  it('names every series of the metrics', async () => {
    const source = await readFile(join(DOCS, '../src/server/process/metrics.ts'), 'utf8');
    const page = await readFile(join(DOCS, 'operations/monitoring.md'), 'utf8');
    const declared = [...source.matchAll(/name: '(gateway_\w+)'/g)].map(([, name]) => name);
    const told = [...page.matchAll(/^\| `(gateway_\w+)`/gm)].map(([, name]) => name);
    expect(declared.length).toBeGreaterThan(0);
    expect(new Set(told)).toEqual(new Set(declared));
  });

  it('begins with an index that has every page, and README every task', async () => {
    const read = (name: string): Promise<string> => readFile(join(DOCS, name), 'utf8');
    const index = await read('README.md');
    const readme = await read('../README.md');
    const operations = await read('operations.md');
    const nested = pages.filter((name) => name.includes('/'));
    const others = pages.filter((name) => name !== 'README.md' && !name.includes('/'));
    expect(others.filter((name) => !index.includes(`](${name})`))).toEqual([]);
    expect(others.filter((name) => !readme.includes(`](docs/${name})`))).toEqual([]);
    expect(nested.filter((name) => !operations.includes(`](${name})`))).toEqual([]);
  });

  it('is followed by a test where a page has something to run', async () => {
    const tests = await readdir(join(DOCS, '../test/docs'));
    const unfollowed = pages.filter((name) => {
      const page = readFileSync(join(DOCS, name), 'utf8');
      const runs = markedBlocks(page).some(({ mark }) => mark === 'test');
      return runs && !tests.includes(name.replace(/(\/.*)?\.md$/, '.test.ts'));
    });
    expect(unfollowed).toEqual([]);
  });

  it.each([...pages, ...ROOT_PAGES])('%s links only to what is there', async (name) => {
    const page = await readFile(join(DOCS, name), 'utf8');
    for (const [, target = '', anchor] of page.matchAll(
      /\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g,
    )) {
      const path = join(DOCS, dirname(name), target === '' ? basename(name) : target);
      expect(existsSync(path), target).toBe(true);
      if (anchor !== undefined) expect(anchorsOf(readFileSync(path, 'utf8'))).toContain(anchor);
    }
  });

  it.each(pages)('%s shows configurations that are valid', async (name) => {
    const page = await readFile(join(DOCS, name), 'utf8');
    for (const { code, line } of markedBlocks(page).filter(({ mark }) => mark === 'validate')) {
      const { diagnostics } = await loadConfig({ paths: ['-'], stdin: code, env: {}, cwd: DOCS });
      expect(formatDiagnostics(diagnostics, 'text'), `${name}:${line}`).toBe('');
    }
  });
});

/** Anchors of the headings of a page, as GitHub spells them. */
function anchorsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}
