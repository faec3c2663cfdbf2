import v8 from 'node:v8';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { transformWithOxc } from 'vite';
import { describe, expect, it, vi } from 'vitest';
import { boundHeap, YOUNG_GENERATION_BYTES } from '../../../src/server/process/heap-bounds.ts';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';

const ROOT = new URL('../../../', import.meta.url);
const SOURCE = 'src/server/process/heap-bounds.ts';
/** As JavaScript: a process that has to compile it takes longer for that than for all else. */
const { code: BOUNDS } = await transformWithOxc(
  await readFile(new URL(SOURCE, ROOT), 'utf8'),
  SOURCE,
);
const MIB = 1024 * 1024;

/** Objects that a process makes at most. */
const MOST_OBJECTS = 6e6;

interface Load {
  /** Most bytes of the young generation, as V8 tells them. */
  bytes: number;
  /** Objects that were made. */
  objects: number;
}

/** A process that makes much that lives for a while: so many objects, or until its young generation is so large. */
async function loadOf(
  prepare: string,
  { flags = [], objects = MOST_OBJECTS, bytes = Infinity }: Partial<Load> & { flags?: string[] },
): Promise<Load> {
  const code = `
    ${BOUNDS}
    ${prepare};
    const kept = new Array(20_000);
    let objects = 0, bytes = 0;
    const turn = () => {
      for (let k = 0; k < 5_000; k++, objects++) kept[objects % kept.length] = { objects, b: [objects, {}] };
      const spaces = v8.getHeapSpaceStatistics();
      bytes = Math.max(bytes, spaces.find((one) => one.space_name === 'new_space').space_size);
      if (objects < ${objects} && bytes < ${bytes}) return setImmediate(turn);
      process.stdout.write(JSON.stringify({ bytes, objects }));
      process.exit();
    };
    turn();`;
  const argv = [...flags, '--input-type=module', '-e', code];
  const { stdout } = await execa(process.execPath, argv, { cwd: fileURLToPath(ROOT) });
  return JSON.parse(stdout);
}

describe('the old generation', () => {
  it.each([
    ['', '--heap-growing-percent=100'],
    ['--max-semi-space-size=32', '--heap-growing-percent=100'],
    ['--heap-growing-percent=50', undefined],
    ['--heap_growing_percent=50', undefined],
  ])('is collected at twice of what lives there, or as the operator says: %j', (flags, given) => {
    const setFlags = vi.spyOn(v8, 'setFlagsFromString').mockReturnValue();
    boundHeap({ flags })();
    const told = setFlags.mock.calls.flat();
    setFlags.mockRestore();
    expect(told.find((flag) => flag.startsWith('--heap-growing'))).toBe(given);
  });
});

/** Writes down every flag that V8 is given while the process runs. */
const RECORDER = `
import v8 from 'node:v8';
import { syncBuiltinESMExports } from 'node:module';
const { setFlagsFromString } = v8;
v8.setFlagsFromString = (flag) => { process.stderr.write('flag ' + flag + '\\n'); setFlagsFromString(flag); };
syncBuiltinESMExports();`;

describe('the young generation', () => {
  it('stays within its bound under a load that would double it', async () => {
    const free = await loadOf('', { bytes: YOUNG_GENERATION_BYTES + 1 });
    expect(free.bytes).toBeGreaterThan(YOUNG_GENERATION_BYTES);
    // Eight times of what doubled the other.
    const { bytes } = await loadOf('boundHeap({ flags: "" })', { objects: free.objects * 8 });
    expect(bytes).toBeLessThanOrEqual(YOUNG_GENERATION_BYTES);
    expect(bytes).toBeGreaterThan(YOUNG_GENERATION_BYTES / 4);
  });

  it('has the size that the operator sets by a flag', async () => {
    const flags = ['--max-semi-space-size=32'];
    const prepare = 'boundHeap({ flags: process.execArgv.join(" ") })';
    const { bytes } = await loadOf(prepare, { flags, bytes: 64 * MIB });
    expect(bytes).toBe(64 * MIB);
  });

  it(
    verifies(
      'ops.start.same-memory',
      'is bounded in the one process of `gateway start`, which `npm start` runs with no flags of its own',
    ),
    async () => {
      const recorder = `--import=data:text/javascript,${encodeURIComponent(RECORDER)}`;
      const config = {
        providers: [{ name: 'mock', type: 'mock' }],
        models: [{ name: 'acme/echo', routes: [{ provider: 'mock' }] }],
      };
      const gateway = await startGateway(config, { binary: true, env: { NODE_OPTIONS: recorder } });
      const content = 'word '.repeat(40_000);
      const body = { messages: [{ role: 'user', content }] };
      // Answers of this size make the young generation grow until the bound is felt.
      await eventually(async () => {
        await Promise.all(Array.from({ length: 8 }, () => gateway.chat('acme/echo', { body })));
        return gateway.log().includes('flag --semi-space-growth-factor=1');
      });
      expect(gateway.log()).toContain('flag --heap-growing-percent=100\n');
      const pid = gateway.child?.pid;
      expect(await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).toBe('');
      await gateway.stop();
      const { scripts } = JSON.parse(await readFile(new URL('package.json', ROOT), 'utf8'));
      expect(scripts.start).toMatch(/ && node bin\/gateway\.js start --config \S+$/);
    },
  );
});
