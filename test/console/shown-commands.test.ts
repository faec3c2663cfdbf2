import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readKinds } from '../../src/config/actual/dump.ts';
import { CONFIGURATION_KINDS } from '../../src/console/logic/configuration-kinds.ts';
import { PAGES } from '../../src/console/frame/pages.ts';
import { listDimensions, readCosts, toUsageCommand } from '../../src/console/logic/costs-view.ts';
import { toKeyCommand, toRecipes } from '../../src/console/logic/key-recipes.ts';
import { toLogsCommand } from '../../src/console/logic/logs-command.ts';
import { readView, SPANS } from '../../src/console/logic/requests-view.ts';
import { faultOf } from './support/command-fault.ts';

const ROOT = fileURLToPath(new URL('../../src/console/', import.meta.url));
const TEMPLATES = fileURLToPath(new URL('../../templates/', import.meta.url));
/** Literals of TypeScript and text between tags. */
const TEXTS = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|(?<=>)[^<>{}]+(?=<)/g;
/** A command at the beginning of a text or a line, or behind a question or a colon. */
const COMMAND = /(?:^|\n|[?:] )gateway ([a-z-][^\n]*)/g;
/** Stands for whatever is known only when the page is shown. */
const UNKNOWN = 'MODEL';

/** Commands that the texts of a file name. */
function commandsIn(source: string): string[] {
  return (source.match(TEXTS) ?? []).flatMap((literal) => {
    const text = literal
      .replace(/^['"`]|['"`]$/g, '')
      .replaceAll('\\n', '\n')
      .replaceAll('\\"', '"')
      .replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, UNKNOWN);
    return [...text.trim().matchAll(COMMAND)].map(([, words = '']) => words.trim());
  });
}

describe('the commands that the console names', () => {
  it('exist, with the flags that it shows', async () => {
    const files = await readdir(ROOT, { recursive: true });
    const sources = files.filter((name) => /\.(?:tsx?|html)$/.test(name));
    const found = await Promise.all(
      sources.map(async (name) =>
        commandsIn(await readFile(join(ROOT, name), 'utf8')).map((line) => ({ name, line })),
      ),
    );
    const named = found.flat();
    expect(named.length).toBeGreaterThan(40);
    const faults = named.flatMap(({ name, line }) => {
      // What is put in may be the value of an argument, or further flags.
      const without = line.replace(new RegExp(`\\s${UNKNOWN}$`), '');
      const told = [line, without].map(faultOf);
      return told.includes(undefined) ? [] : [`${name}: gateway ${line}: ${told[0]}`];
    });
    expect(faults).toEqual([]);
    const templates = named.flatMap(({ line }) => /--template (\S+)/.exec(line)?.[1] ?? []);
    for (const name of templates) expect(await readdir(join(TEMPLATES, name))).not.toEqual([]);
    const fields = named.flatMap(({ line }) => /^explain (server\.\S+)/.exec(line)?.[1] ?? []);
    expect(fields).toEqual(['server.log.content']);
  });

  it('exist for every page, view and form', () => {
    const key = {
      name: 'ci',
      isLimited: true,
      scopes: ['inference', 'admin'],
      role: 'viewer' as const,
      day: '5',
      month: '50',
    };
    const lines = [
      ...PAGES.map(({ cli }) => cli),
      ...SPANS.map(([last]) => toLogsCommand({ ...readView(''), last })),
      ...['model:gpt-5', 'key:web status:404', 'result:error', 'key:"a b"', 'status:>=400'].map(
        (filter) => toLogsCommand({ ...readView(''), filter }),
      ),
      toLogsCommand({ ...readView(''), open: 'req_1' }),
      ...listDimensions(['label:team', 'tag:feature'], true).map(({ id }) =>
        toUsageCommand(readCosts(`?by=${id}&period=30d`, '2026-11-23')),
      ),
      toUsageCommand(readCosts('', '2026-11-23')),
      toKeyCommand({ ...key, days: '30', models: 'a/*, b' }),
      ...toRecipes('http://127.0.0.1:8080', 'sk-1').flatMap(({ text }) =>
        text.split('\n').filter((line) => line.startsWith('gateway ')),
      ),
    ];
    for (const line of lines) expect(faultOf(line), line).toBeUndefined();
    for (const [kind] of CONFIGURATION_KINDS) expect(readKinds([kind]), kind).toBeDefined();
    expect(faultOf('gateway usage --group model')).toContain('--group');
    expect(faultOf('gateway logs --since soon')).toContain('soon');
  });
});
