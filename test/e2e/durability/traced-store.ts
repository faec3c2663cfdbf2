import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const CALLS = 'pwrite64,pwritev,write,writev,fdatasync,fsync';
/** More than a page of the store or the head and body of an answer. */
const MOST_BYTES = 16_384;
const DSYNC = 0o10000;
const LINE = /^(\d+) +(?:<\.\.\. )?(\w+)(?:\((\d+)<([^>]*)>)?/;

/** A call of the system, and the lines of the trace at which it began and was over. */
interface SystemCall {
  readonly name: string;
  readonly file: number;
  readonly path: string;
  readonly text: string;
  readonly from: number;
  to: number;
}

export interface StoreTrace {
  /** Ends the trace; gives of these ids those that were answered before the store had them on the disk. */
  early(ids: readonly string[]): Promise<string[]>;
}

/** Watches what a process does with its embedded store and what it answers, by strace. */
export async function traceStore(pid: number): Promise<StoreTrace> {
  const folder = mkdtempSync(join(tmpdir(), 'trace-'));
  const path = join(folder, 'trace');
  const synchronous = synchronousFiles(pid);
  const words = ['-f', '-y', '-s', `${MOST_BYTES}`, '-e', `trace=${CALLS}`, '-o', path];
  const tracer = spawn('strace', [...words, '-p', `${pid}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exit = once(tracer, 'exit');
  const [told] = (await Promise.race([once(tracer.stderr, 'data'), exit])) as [unknown];
  if (!String(told).includes('attached')) throw new Error(`strace: ${String(told)}`);
  return {
    async early(ids) {
      tracer.kill('SIGINT');
      await exit;
      const calls = readCalls(readFileSync(path, 'latin1'));
      rmSync(folder, { recursive: true });
      return ids.filter((id) => !isOnDiskFirst(calls, id, synchronous));
    },
  };
}

/** Descriptors whose writes return when the disk has them. */
function synchronousFiles(pid: number): Set<number> {
  const numbers = readdirSync(`/proc/${pid}/fd`).filter((file) => {
    if (!readlinkSync(`/proc/${pid}/fd/${file}`).endsWith('/data.mdb')) return false;
    const flags = /^flags:\s+0?(\d+)$/m.exec(
      readFileSync(`/proc/${pid}/fdinfo/${file}`, 'utf8'),
    )?.[1];
    return (Number.parseInt(flags ?? '0', 8) & DSYNC) !== 0;
  });
  return new Set(numbers.map(Number));
}

function readCalls(trace: string): SystemCall[] {
  const calls: SystemCall[] = [];
  const underWay = new Map<string, SystemCall>();
  for (const [index, line] of trace.split('\n').entries()) {
    const [, thread = '', name = '', file, path = ''] = LINE.exec(line) ?? [];
    const begun = underWay.get(thread);
    if (line.includes('resumed>') && begun) {
      begun.to = index;
      underWay.delete(thread);
    } else if (file !== undefined) {
      const isOver = !line.endsWith('<unfinished ...>');
      const call = { name, file: Number(file), path, text: line, from: index, to: index };
      if (!isOver) underWay.set(thread, { ...call, to: Infinity });
      calls.push(underWay.get(thread) ?? call);
    }
  }
  return calls;
}

/** A page with the id was synced, then the root that makes it count was written, then it was answered. */
function isOnDiskFirst(
  calls: readonly SystemCall[],
  id: string,
  synchronous: Set<number>,
): boolean {
  const named = calls.filter(({ text }) => text.includes(id));
  const page = named.find(({ path }) => path.endsWith('/data.mdb'));
  const answer = named.find(
    ({ path, text }) => path.startsWith('socket:') && text.includes('HTTP/1.1 2'),
  );
  if (!page || !answer) return false;
  const synced = calls.find(
    ({ name, path, from }) => name === 'fdatasync' && path.endsWith('/data.mdb') && from > page.to,
  );
  const root = synced && calls.find(({ file, from }) => synchronous.has(file) && from > synced.to);
  return root !== undefined && root.to < answer.from;
}
