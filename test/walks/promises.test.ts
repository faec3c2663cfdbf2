import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { verifies } from '../requirements.ts';
import { ROOT } from '../docs/reader.ts';

/** Marks a sentence on what happens without anybody's doing. */
const PROMISE = /\b(?:by itself|by themselves|automatically)\b/g;
/** Characters around a mark that identify its sentence. */
const AROUND = 200;

/** Each promise of the gateway, with the file and the title of the test that shows it. */
const SHOWN: readonly (readonly [words: string, file: string, title: string])[] = [
  [
    'finds? it by itself|`gateway` command finds by itself',
    'test/server/process/admin-key-place.test.ts',
    'found where commands look',
  ],
  [
    'commands on this machine find it by themselves',
    'test/server/process/admin-key.test.ts',
    'takes the place of a lost one',
  ],
  ['`gateway dev` watches by itself', 'test/e2e/cli/dev.test.ts', 'reloads changed files'],
  [
    '`gateway dev` notices it by itself',
    'test/server/process/run-start.test.ts',
    'a gateway.yaml that comes later is served',
  ],
  [
    'every change of it by itself|does so by itself|follows \\S+ by itself',
    'test/cli/project/followed.test.ts',
    'files that the gateway follows',
  ],
  [
    'asks the provider by itself',
    'test/e2e/tasks/videos.test.ts',
    'are charged for when nobody looks at them',
  ],
  ['(?:learns|makes) by itself', 'test/audit/audit-log.test.ts', "kind: 'gateway'"],
  ['does not fire by itself', 'test/scheduler/firing.test.ts', 'never fires, whenever it is made'],
  [
    'when Agents begin Sessions by themselves',
    'test/scheduler/firing.test.ts',
    'every instant of %s in %s fires once',
  ],
  [
    'recovers by itself when the database',
    'test/e2e/process/store-failure.deep.test.ts',
    'goes on when it is back',
  ],
  [
    'recovers by itself once there is room',
    'test/store/lmdb-disk-full.test.ts',
    'recovers with space',
  ],
  [
    'decides by itself after 5 seconds',
    'test/usage/journal/journal.property.deep.test.ts',
    'only one alone keeps a journal',
  ],
  ['ends by itself', 'test/cli/commands/process-commands.test.ts', 'gives up after --timeout'],
  ['turn goes on by itself', 'test/docs/agents.test.ts', 'docs/agents.md'],
];

/** What other programs do, and what is no promise. */
const OTHERS: readonly string[] = [
  'as browsers do by themselves',
  'Coding tools name theirs by themselves',
  'Caddy gets its certificate by itself',
  'Traefik passes on',
  'nginx finds out by itself',
  'harness connects by itself',
  'agent that does not stop by itself',
  'a tour that runs by itself',
  'provider by itself and a minimal Node proxy',
  'conformance suite takes it up by itself',
  'one worker kept by itself',
  'all of it by itself, on a free port',
  'what is not JSON, or a stream, is read by itself',
];

it(
  verifies('docs.promises', 'has a test for each sentence that promises what happens by itself'),
  () => {
    const found = [...pages(), ...words()];
    expect(found.length).toBeGreaterThan(20);
    const known = [...SHOWN.map(([text]) => text), ...OTHERS];
    const unknown = found.filter((text) => !known.some((one) => new RegExp(one).test(text)));
    expect(unknown).toEqual([]);
    const unsaid = known.filter((one) => !found.some((text) => new RegExp(one).test(text)));
    expect(unsaid).toEqual([]);
  },
);

it.each(SHOWN)('%s: %s', (_words, file, title) => {
  expect(readFileSync(join(ROOT, file), 'utf8')).toContain(title);
});

/** Sentences of what people read in files. */
function pages(): string[] {
  const files = [
    'README.md',
    'gateway.yaml.example',
    ...under('docs', /\.md$/),
    ...under('templates', /\.(?:md|yaml)$/),
  ];
  return files.flatMap((file) => promisesOf(readFileSync(join(ROOT, file), 'utf8')));
}

/** Sentences of the command line and of the server: all but comments. */
function words(): string[] {
  return under('src', /\.tsx?$/).flatMap((file) =>
    promisesOf(readFileSync(join(ROOT, file), 'utf8').replace(/^\s*(?:\/\/|\/?\*).*$/gm, '')),
  );
}

function promisesOf(text: string): string[] {
  const line = text.replace(/\s+/g, ' ');
  return [...line.matchAll(PROMISE)].map(({ index }) =>
    line.slice(Math.max(0, index - AROUND), index + AROUND),
  );
}

function under(folder: string, name: RegExp): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => name.test(file))
    .map((file) => join(folder, file));
}
