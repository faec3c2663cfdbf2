import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROTOCOL_IDS } from '../src/protocols/registry.ts';
import { imports, modules, ROOT, roomOf, textOf } from './house/tree.ts';
import { verifies } from './requirements.ts';

/** A folder may import itself and folders of an earlier row, never one of its own or a later row. */
const ROWS = [
  ['core'],
  ['protocols', 'store', 'upstream'],
  ['providers'],
  ['jobs'],
  ['audit'],
  ['webhooks'],
  ['usage', 'routing'],
  ['inference'],
  ['surfaces', 'resources'],
  ['assets', 'apis'],
  ['tasks'],
  ['sessions'],
  ['runtime', 'scheduler'],
  ['alerts'],
  ['client'],
  ['config'],
  ['server'],
  ['cli'],
  ['console'],
];

/** Routes carry prices, so routing may know what usage calls them; the other way round it may not. */
const ALSO_ALLOWED = new Set(['routing -> usage']);

/** What runs in a browser, too. */
const KNOWN_TO_CONSOLE: ReadonlySet<string> = new Set([
  'client/http/pages.ts',
  'client/run-outcome.ts',
  'core/access.ts',
  'core/kinds.ts',
  'core/shell-word.ts',
]);

/** Folders whose children stand for themselves: none may import another. */
const INDEPENDENT = ['protocols/', 'store/backends/'];
/** Folders of `protocols/` that are no protocol. */
const SHARED_BY_PROTOCOLS: ReadonlySet<string> = new Set(['canonical', 'capabilities', 'media']);

/** Variables of modules that can change: reassigned ones, collections that begin empty, queues. */
const STATE =
  /^(?:export )?(?:let|var|const(?= \w+(?:: (?!Readonly)[^=]+)? = new (?:Turns\(|(?:Weak)?(?:Map|Set)(?:<.*>)?\(\)))) (\w+)/gm;
/**
 * Modules that hold what is one by nature: the event loop, the program that ends what is left over, and what
 * the words of a rule mean.
 */
const ONE_PER_PROCESS = [
  'core/time/cron.ts rules',
  'core/turns/in-turns.ts turns',
  'core/turns/with-others.ts gathered',
  'runtime/reaper/reaper-process.ts groups',
];

/** Recorded wire data, which is no code. */
const isData = (folder: string): boolean => /\/(?:fixtures|__snapshots__)(?:\/|$)/.test(folder);

const rowOf = (room: string): number => ROWS.findIndex((row) => row.includes(room));

describe('the house', () => {
  it('knows every room', () => {
    const rooms = new Set(modules.filter((file) => file.includes('/')).map(roomOf));
    expect([...rooms].filter((room) => rowOf(room) < 0)).toEqual([]);
  });

  it('imports only downwards', () => {
    const wrong = imports
      .filter(({ from, to }) => from.includes('/') && roomOf(from) !== roomOf(to))
      .filter(({ from, to }) => !ALSO_ALLOWED.has(`${roomOf(from)} -> ${roomOf(to)}`))
      .filter(({ from, to }) => rowOf(roomOf(to)) >= rowOf(roomOf(from)))
      .map(({ from, to }) => `${from} -> ${to}`);
    expect(wrong).toEqual([]);
  });

  it('lets the console know the types of the client and its lists, kinds, roles, and the words of commands', () => {
    const wrong = imports
      .filter(({ from, to }) => roomOf(from) === 'console' && roomOf(to) !== 'console')
      .filter(({ to }) => !KNOWN_TO_CONSOLE.has(to))
      .filter(({ to, atLoad }) => roomOf(to) !== 'client' || atLoad);
    expect(wrong).toEqual([]);
  });

  it('keeps siblings apart', () => {
    const childOf = (file: string, parent: string): string | undefined =>
      file.startsWith(parent) ? file.slice(parent.length).split('/')[0] : undefined;
    const wrong = imports.filter(({ from, to }) =>
      INDEPENDENT.some((parent) => {
        const [a, b] = [childOf(from, parent), childOf(to, parent)];
        // What all share stands beside them, and so does the list that names them all.
        const shared =
          parent === 'protocols/' && (b?.endsWith('.ts') || SHARED_BY_PROTOCOLS.has(b ?? ''));
        const isList = a === 'registry.ts';
        return a !== undefined && b !== undefined && a !== b && !shared && !isList;
      }),
    );
    expect(wrong).toEqual([]);
  });

  it('keeps kinds apart: none imports another', () => {
    const loaded = imports.filter(({ atLoad }) => atLoad);
    const kinds = loaded.filter(({ from }) => from === 'resources/registry.ts').map(({ to }) => to);
    expect(kinds.length).toBeGreaterThan(10);
    expect(loaded.filter(({ from, to }) => kinds.includes(from) && kinds.includes(to))).toEqual([]);
  });

  it.each(['src', 'test'])('keeps folders of %s small: at most 25 files', (top) => {
    const root = join(ROOT, top);
    const counts = new Map<string, number>();
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) counts.set(entry.parentPath, (counts.get(entry.parentPath) ?? 0) + 1);
    const walls = [...counts].filter(([folder, count]) => count > 25 && !isData(folder));
    expect(walls.map(([folder, count]) => `${relative(root, folder)}: ${count}`)).toEqual([]);
  });

  it('has no cycles, neither of values nor of types', () => {
    const graph = new Map<string, string[]>();
    for (const { from, to, isLazy } of imports)
      if (!isLazy) graph.set(from, [...(graph.get(from) ?? []), to]);
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (file: string, path: string[]): void => {
      const at = path.indexOf(file);
      if (at >= 0) {
        cycles.push([...path.slice(at), file].join(' -> '));
        return;
      }
      if (done.has(file)) return;
      for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
      done.add(file);
    };
    for (const file of modules) visit(file, []);
    expect(cycles).toEqual([]);
  });

  it('reaches the server from the command line only by a lazy import', () => {
    const eager = modules
      .filter((file) => roomOf(file) === 'cli')
      .filter((file) => /^import (?!type)[^;]*from '(?:\.\.\/)+server\//m.test(textOf(file)));
    expect(eager).toEqual([]);
  });

  it(verifies('extend.protocol', 'asks for no protocol by name outside its folder'), () => {
    const asks = PROTOCOL_IDS.map((id) => ({
      folder: `protocols/${id}/`,
      question: new RegExp(
        `(?:\\b(?:protocol|id|origin) [!=]== |\\.has\\(|new Set\\(\\[)'${id}'`,
        'i',
      ),
    }));
    const asking = modules
      .filter((file) => !/^(?:providers\/mock|client|cli|console)\//.test(file))
      .filter((file) => {
        const text = textOf(file);
        return asks.some(({ folder, question }) => !file.startsWith(folder) && question.test(text));
      });
    expect(asking).toEqual([]);
  });

  it('reads the environment in the configuration alone', () => {
    const reading = modules
      .filter((file) => roomOf(file) !== 'config')
      .filter((file) => /\bprocess\.env\b/.test(textOf(file)));
    expect(reading).toEqual([]);
  });

  it('keeps no state in modules but what the process has one of', () => {
    const kept = modules.flatMap((file) =>
      [...textOf(file).matchAll(STATE)].map(([, name]) => `${file} ${name}`),
    );
    expect(kept).toEqual(ONE_PER_PROCESS);
  });

  it('keeps files small: none over 400 lines, 95 of 100 within 250, half within 90', () => {
    const lines = modules.map((file) => textOf(file).split('\n').length).sort((a, b) => a - b);
    const percentile = (share: number): number =>
      lines[Math.floor((lines.length - 1) * share)] as number;
    expect(percentile(1)).toBeLessThanOrEqual(400);
    expect(percentile(0.95)).toBeLessThanOrEqual(250);
    expect(percentile(0.5)).toBeLessThanOrEqual(90);
  });

  it('has no barrels but the public one', () => {
    const barrels = modules.filter((file) => file.endsWith('/index.ts'));
    expect(barrels).toEqual([]);
  });
});
