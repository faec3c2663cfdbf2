// Reports which requirements are named by a test: `npm run requirements [-- --pending | --sample SEED]`.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { PARTS, REQUIREMENT_IDS } from './requirements.ts';

interface Requirement {
  id: string;
  from: 'spec' | 'decision' | 'field';
  section: string;
  text: string;
  area: string;
}

const REQUIREMENTS: ReadonlyMap<string, Requirement> = new Map(
  PARTS.flatMap((part) => parse(readFileSync(part, 'utf8')) as Requirement[]).map((one) => [
    one.id,
    one,
  ]),
);

interface Proof {
  file: string;
  title: string;
}

const testRoot = fileURLToPath(new URL('.', import.meta.url));
const TEXT = `'(?:[^'\\\\]|\\\\.)*'|"(?:[^"\\\\]|\\\\.)*"|\`(?:[^\`\\\\]|\\\\.)*\``;
const CALL = new RegExp(`\\bverifies\\(\\s*((?:(?:${TEXT})\\s*,?\\s*)+)\\)`, 'g');
const LITERAL = new RegExp(TEXT, 'g');
/** Conformance suites hand ids over in the rows of their tables: \`answer: ['chat.response.json']\`. */
const ROW_IDS = new RegExp(`[\\w'-]+: \\[\\s*((?:(?:${TEXT})\\s*,?\\s*)+)\\]`, 'g');

function findProofs(): { proofs: Map<string, Proof[]>; unknown: string[] } {
  const proofs = new Map<string, Proof[]>();
  const unknown: string[] = [];
  for (const name of readdirSync(testRoot, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!name.endsWith('.ts') || name.startsWith('requirements.')) continue;
    const text = readFileSync(join(testRoot, name), 'utf8');
    const note = (id: string, title: string): void => {
      proofs.set(id, [...(proofs.get(id) ?? []), { file: `test/${name}`, title }]);
    };
    for (const call of text.matchAll(CALL)) {
      const literals = literalsOf(call[1]);
      const title = literals.pop() ?? '';
      for (const id of literals) {
        if (!REQUIREMENTS.has(id)) unknown.push(`${id} (test/${name})`);
        note(id, title);
      }
    }
    if (!name.startsWith('conformance/')) continue;
    for (const row of text.matchAll(ROW_IDS)) {
      for (const id of literalsOf(row[1]))
        if (REQUIREMENTS.has(id)) note(id, row[0].split(':')[0] ?? '');
    }
  }
  return { proofs, unknown };
}

function literalsOf(text = ''): string[] {
  return [...text.matchAll(LITERAL)].map(([literal]) => literal.slice(1, -1));
}

function byArea(verified: ReadonlySet<string>): string[] {
  const areas = new Map<string, { done: number; total: number }>();
  for (const { id, area } of REQUIREMENTS.values()) {
    const row = areas.get(area) ?? { done: 0, total: 0 };
    row.total += 1;
    if (verified.has(id)) row.done += 1;
    areas.set(area, row);
  }
  return [...areas].map(
    ([area, { done, total }]) => `${area.padEnd(16)} ${String(done).padStart(4)} / ${total}`,
  );
}

/** Draws without replacement, the same for the same seed. */
function sample(ids: string[], seed: number, count: number): string[] {
  let state = seed >>> 0;
  const next = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const pool = [...ids];
  return Array.from(
    { length: Math.min(count, pool.length) },
    () => pool.splice(Math.floor(next() * pool.length), 1)[0] as string,
  );
}

const { values } = parseArgs({
  options: { pending: { type: 'boolean' }, sample: { type: 'string' } },
});
const { proofs, unknown } = findProofs();
const verified = new Set([...proofs.keys()].filter((id) => REQUIREMENTS.has(id)));
const pending = [...REQUIREMENTS.keys()].filter((id) => !verified.has(id));

if (values.sample !== undefined) {
  for (const id of sample([...verified].sort(), Number(values.sample), 20)) {
    console.log(id);
    for (const { file, title } of proofs.get(id) ?? []) console.log(`    ${file}: ${title}`);
  }
} else {
  if (values.pending) for (const id of pending) console.log(id);
  for (const line of byArea(verified)) console.log(line);
  console.log(
    `${verified.size} of ${REQUIREMENTS.size} requirements are named by a test, ${pending.length} pending; whether it ran and passed, a run of the tests tells`,
  );
}
const unread = [...REQUIREMENTS.keys()].filter((id) => !REQUIREMENT_IDS.has(id));
for (const id of unread) console.error(`write the id of a requirement as "- id: ${id}"`);
for (const id of unknown) console.error(`unknown requirement: ${id}`);
if (unknown.length + unread.length > 0) process.exitCode = 1;
