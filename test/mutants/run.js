// Changes the sources in one small place at a time and tells which changes no test notices.
//
//   npm run test:mutants -- [--count 100] [--seed N] [--room NAME] [--min 90] [--minutes 30] [--from 1]
//
// A sample is drawn from every room in turn. Each mutant lives in a copy of the repository and meets
// the tests that import its file, the nearest first, for at most so many minutes: what is not noticed
// by then is not noticed. One of the console is built and meets a browser.
// --from goes on with a sample where it was left.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { mutantsOf } from './mutate.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CONFIG = 'test/mutants/vitest.config.ts';
/** Folders that no test reads. */
const LEFT_OUT = new Set(['.git', 'coverage']);

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    room: { type: 'string' },
    min: { type: 'string', default: '90' },
    minutes: { type: 'string', default: '30' },
    from: { type: 'string', default: '1' },
  },
});
const MAX_MS = Number(values.minutes) * 60_000;

/** Numerical Recipes' linear congruential generator: one seed, one sample. */
function createRandom(seed) {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}

function sample(count, random) {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && name.includes('/'))
    .sort();
  const rooms = new Map();
  for (const name of files) {
    const room = name.split('/')[0];
    rooms.set(room, [...(rooms.get(room) ?? []), name]);
  }
  const names = [...rooms.keys()].filter((name) => !values.room || name === values.room);
  if (names.length === 0) throw new Error(`no room is called ${values.room}`);
  const chosen = [];
  for (let turn = 0; chosen.length < count; turn++) {
    const inRoom = rooms.get(names[turn % names.length]);
    const file = inRoom[Math.floor(random() * inRoom.length)];
    const mutants = mutantsOf(readFileSync(join(ROOT, 'src', file), 'utf8'));
    if (mutants.length === 0) continue;
    chosen.push({ file, ...mutants[Math.floor(random() * mutants.length)] });
  }
  return chosen;
}

/** Ends what the tests of the last mutant have left. */
let endAll = () => undefined;

/** True when one of the tests fails, undefined when they do not end in time; `stdio` as of `spawn`. */
function fails(folder, { file, stdio = 'ignore' }) {
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', CONFIG];
  const env = { ...process.env, ...(file && { MUTATED_FILE: `src/${file}` }) };
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio, detached: true });
  endAll = () => {
    try {
      process.kill(-Number(child.pid), 'SIGKILL');
    } catch {} // All of them have ended.
    // Gateways have groups of their own.
    spawnSync('pkill', ['-KILL', '-f', folder]);
  };
  return new Promise((resolve) => {
    const end = setTimeout(endAll, MAX_MS);
    child.on('exit', (code) => {
      clearTimeout(end);
      endAll();
      resolve(code === null ? undefined : code !== 0);
    });
  });
}

/** True when the build of the console, or a test, notices what was done to the file; else as `fails`. */
async function isNoticed(folder, file) {
  if (file.startsWith('console/')) {
    const built = spawnSync(process.execPath, ['scripts/build.js'], { cwd: folder });
    if (built.status !== 0) return true;
  }
  return fails(folder, { file });
}

const count = Number(values.count);
const from = Number(values.from);
const random = createRandom(Number(values.seed));
const folder = mkdtempSync(join(tmpdir(), 'gateway-mutants-'));
const survivors = [];
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    endAll();
    rmSync(folder, { recursive: true, force: true });
    process.exit(1);
  });
try {
  for (const name of readdirSync(ROOT))
    if (name === 'node_modules') symlinkSync(join(ROOT, name), join(folder, name));
    else if (!LEFT_OUT.has(name)) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  console.log(`${count} mutants, --seed ${values.seed}`);
  const mutants = sample(count, random);
  if ((await fails(folder, { stdio: 'inherit' })) !== false)
    throw new Error('the tests fail without any mutant');
  for (const [index, mutant] of mutants.entries()) {
    if (index + 1 < from) continue;
    const { file, line, was, becomes } = mutant;
    const path = join(folder, 'src', file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, mutant.apply());
    const noticed = await isNoticed(folder, file);
    writeFileSync(path, text);
    const change = `${was.replaceAll(/\s+/g, ' ').slice(0, 60)} -> ${becomes.slice(0, 60)}`;
    const outcome = noticed ? 'noticed ' : noticed === undefined ? 'OUT OF TIME' : 'SURVIVED';
    console.log(`${index + 1}  ${outcome}  ${file}:${line}  ${change}`);
    if (!noticed) survivors.push(mutant);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const judged = count - from + 1;
const share = Math.round((100 * (judged - survivors.length)) / judged);
console.log(`${share} % noticed, ${survivors.length} survived`);
process.exitCode = share < Number(values.min) ? 1 : 0;
