import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import { createReaper } from '../../../src/runtime/reaper/create-reaper.ts';
import type { Reaper } from '../../../src/runtime/reaper/create-reaper.ts';
import { endGroups } from '../../../src/runtime/reaper/end-groups.ts';
import { findMembers, MARKER_VARIABLE } from '../../../src/runtime/reaper/marked-group.ts';
import type { MarkedGroup } from '../../../src/runtime/reaper/marked-group.ts';
import { readProcessTable } from '../../../src/runtime/reaper/process-table.ts';
import { eventually } from '../../support/gateway.ts';
import { quietLog } from '../harness/harness-options.ts';

/** A shell that leads a group of its own and waits. */
function startShell(script: string): Required<MarkedGroup> & { readonly pid: number } {
  const marker = randomUUID();
  const env = { PATH: process.env['PATH'], [MARKER_VARIABLE]: marker };
  const child = spawn('sh', ['-c', script], { detached: true, stdio: 'ignore', env });
  const group = { marker, pid: child.pid as number };
  onTestFinished(async () => {
    await endGroups([group], { clock: systemClock, graceMs: 0 });
  });
  return group;
}

function startReaper(): Reaper {
  const reaper = createReaper({ log: quietLog });
  onTestFinished(() => reaper.close());
  return reaper;
}

const count = async (group: MarkedGroup): Promise<number> => (await findMembers([group])).length;
const present = (group: MarkedGroup, members: number) =>
  eventually(async () => (await count(group)) === members);

describe('the members of a marked group', () => {
  it('are found in another session, behind a clean environment and below a dead parent', async () => {
    const group = startShell('setsid sleep 1000 & env -i /bin/sleep 1000 & (sleep 1000 &) ; wait');
    await present(group, 4);
    await present({ marker: group.marker }, 4);
  });

  it('do not include anybody else', async () => {
    const group = startShell('exec sleep 1000');
    const other = startShell('exec sleep 1000');
    await present(other, 1);
    await eventually(async () => {
      const found = await findMembers([group]);
      return found.length === 1 && found[0]?.pid === group.pid;
    });
  });

  it('are asked to end first and killed only when they do not', async () => {
    const polite = startShell('trap "exit 0" TERM; sleep 1000 & wait');
    await present(polite, 2);
    expect(await endGroups([polite], { clock: systemClock, graceMs: 10_000 })).toBe(true);
    const deaf = startShell('trap "" TERM; sleep 1000 & wait');
    await present(deaf, 2);
    expect(await endGroups([deaf], { clock: systemClock, graceMs: 50 })).toBe(true);
    expect(await count(deaf)).toBe(0);
  });

  it('are all killed while they go on forking', async () => {
    const script = 'while :; do (setsid sh -c "sleep 1000 & sleep 1000" &) ; sleep 0.02; done';
    const group = startShell(script);
    await eventually(async () => (await count(group)) > 10);
    expect(await endGroups([group], { clock: systemClock, graceMs: 0 })).toBe(true);
    expect(await count(group)).toBe(0);
  });
});

describe('the reaper', () => {
  it('kills what it watches when it is let go, even a process that it was never told of, and leaves alone what it was told to forget', async () => {
    const reaper = startReaper();
    const group = startShell('setsid sleep 1000 & wait');
    const forgotten = startShell('exec sleep 1000');
    await reaper.watch({ marker: group.marker });
    await reaper.watch(forgotten);
    reaper.forget(forgotten.marker);
    await present(group, 2);
    await reaper.close();
    expect(await count(group)).toBe(0);
    expect(await count(forgotten)).toBe(1);
  });

  it('that dies is replaced by one that knows the same groups', async () => {
    const reaper = startReaper();
    const group = startShell('exec sleep 1000');
    await reaper.watch(group);
    const [pid = 0] = await reaperPids();
    process.kill(pid, 'SIGKILL');
    await eventually(async () => {
      const [next] = await reaperPids();
      return next !== undefined && next !== pid;
    });
    await reaper.watch(startShell('exec sleep 1000'));
    await reaper.close();
    expect(await count(group)).toBe(0);
  });

  it('refuses to watch where it cannot run', async () => {
    const reaper = createReaper({ log: quietLog, execArgv: ['--no-such-option'] });
    await expect(reaper.watch({ marker: randomUUID() })).rejects.toThrow('cannot be started');
    await reaper.close();
  });
});

/** Reapers of this process. */
async function reaperPids(): Promise<number[]> {
  const children = (await readProcessTable()).filter(({ parent }) => parent === process.pid);
  const found = await Promise.all(
    children.map(async ({ pid }) => {
      const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      return words.includes('reaper-process') ? [pid] : [];
    }),
  );
  return found.flat();
}
