import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openDoorbell, type Doorbell, type Ring } from '../../src/store/backends/lmdb/doorbell.ts';
import { temporaryDirectory } from '../conformance/store-kill.ts';
import { until } from '../conformance/store.ts';

function open(directory: string, heard: Ring[] = []): Doorbell {
  const bell = openDoorbell(directory, (ring) => heard.push(ring));
  onTestFinished(() => bell.close());
  return bell;
}

describe('doorbell', () => {
  it('rings at everybody else, whoever came first', async () => {
    const directory = await temporaryDirectory();
    const heard: Ring[][] = [[], [], []];
    const bells: Doorbell[] = [];
    for (const list of heard) {
      bells.push(open(directory, list));
      await until(() => bells.every((bell) => bell.peers >= bells.length - 1));
    }
    bells[0]?.ring({ transaction: 1, heads: ['\u0010ÿ\0'] });
    bells[2]?.ring({ transaction: 2 });
    const told = () => heard.map((rings) => [...new Set(rings.map((ring) => ring.transaction))]);
    await until(() => told().flat().length === 4);
    expect(told().map((transactions) => transactions.toSorted((a, b) => a - b))).toEqual([
      [2],
      [1, 2],
      [1],
    ]);
    expect(heard[2]?.[0]).toEqual({ transaction: 1, heads: ['\u0010ÿ\0'] });
  });

  it('works in a directory whose path is too long for a socket', async () => {
    const parent = await temporaryDirectory();
    vi.stubEnv('TMPDIR', parent);
    onTestFinished(() => void vi.unstubAllEnvs());
    const directory = join(parent, 'x'.repeat(120));
    await mkdir(directory);
    const heard: Ring[] = [];
    open(directory, heard);
    const other = open(directory);
    await until(() => other.peers > 0);
    other.ring({ transaction: 7 });
    await until(() => heard.length > 0);
    expect(heard[0]).toEqual({ transaction: 7 });
  });

  it('removes the socket of a process that was killed', async () => {
    const directory = await temporaryDirectory();
    // No process has a pid beyond the limit of the system.
    const stale = join(directory, 'watch-99999999-0a0b0c0d.sock');
    await leaveSocket(stale);
    open(directory);
    await until(() => !existsSync(stale));
  });

  it('survives a neighbour that talks nonsense', async () => {
    const directory = await temporaryDirectory();
    const path = join(directory, `watch-${process.pid}-00000000.sock`);
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.write('nonsense\n{"transaction":"x"}\nnull\n{"transaction":3,"heads":[1]}\n');
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    onTestFinished(() => void server.close());
    const heard: Ring[] = [];
    open(directory, heard);
    await until(() => heard.length > 0);
    expect(heard).toEqual([{ transaction: 3, heads: ['1'] }]);
  });

  it('does without a socket where none can be made', async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'watch-1-00.sock'), '');
    const bell = open(directory);
    bell.ring({ transaction: 1 });
    bell.close();
    expect(bell.peers).toBe(0);
  });
});

/** A socket file without a listener, as SIGKILL leaves it. */
async function leaveSocket(path: string): Promise<void> {
  const { execFileSync } = await import('node:child_process');
  const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  try {
    execFileSync(process.execPath, ['-e', script], { stdio: 'ignore' });
  } catch {
    // It kills itself.
  }
  expect(existsSync(path)).toBe(true);
}
