import { readdir, readFile, readlink, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { IS_ALL } from '../../runs.ts';
import { customProvider } from '../../support/chat.ts';
import { eventually, newDirectory, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { startLoadProvider } from '../memory/load-provider.ts';
import { runMixedLoad } from '../memory/mixed-load.ts';

/** How many, and after how many each time the process is looked at. */
const WARM_UP = { requests: 2_000, step: 1_000 };
const MEASURED = IS_ALL ? { requests: 100_000, step: 20_000 } : { requests: 4_000, step: 1_000 };
/** What malloc keeps of pictures that are gone goes up and down: of these looks the lowest counts. */
const LAST_LOOKS = 3;
const IMAGE_BYTES = (IS_ALL ? 10 : 2) * 1024 * 1024;
/** Makes malloc give large buffers back at once: how many it keeps depends on the order they come in. */
const MALLOC = { MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072' };
const CONNECTIONS = 16;
const GROWTH = 1.2;
/**
 * What objects and buffers may grow by for each request: 20 % of what is held after 100,000; while the process
 * still gets warm up to 80 more. A table that doubles lifts all later looks, work of the gateway's own a single
 * one, what is left of requests each: the middle slope between any two looks counts.
 */
const HELD_BYTES = IS_ALL ? 100 : 150;
/** Objects for each request: what comes and goes is a tenth, and one for each would be a leak. */
const HELD_OBJECTS = 0.5;
/** Timers of what the gateway does on its own come and go. */
const EMITTERS_SLACK = 4;
/** Until what is let go of late is gone. */
const MAX_LOOKS = 20;
/** The store opens its files a further time when it needs to. */
const FILES_SLACK = 1;
const OUTCOMES = [
  'chat: 200',
  'embedding: 200',
  'failing: 503',
  'failover: 200',
  'image in: 200',
  'image out: 200',
  'left early: left',
  'left: left',
  'no JSON: 400',
  'slow: 200',
  'stream: 200',
  'translated stream: 200',
  'translated: 200',
  'unknown model: 404',
  'wrong key: 401',
];
const PROBE = fileURLToPath(new URL('../memory/process-probe.js', import.meta.url));

/** What a gateway process holds once its garbage is collected. */
interface Report {
  /** Handles of the event loop by kind. */
  active: Record<string, number>;
  /** Of `process`, by event. */
  listeners: Record<string, number>;
  /** Emitters, targets of events and timers that something still holds; where these were to be counted. */
  emitters?: number;
  /** All objects. */
  objects: number;
  /** Bytes of objects and buffers in use, without code. */
  held: number;
  /** KiB of the process's own, without the pages of the mapped store file, which grow with the records. */
  resident: number;
  /** Open files and sockets by what they are. */
  files: Record<string, number>;
}

it(
  verifies(
    'ops.memory.bounded',
    'holds no more memory, sockets, timers and listeners after many mixed requests than before',
  ),
  async () => {
    const provider = await startLoadProvider(IMAGE_BYTES);
    const directory = await newDirectory();
    const file = join(directory, 'probe.json');
    const env = { NODE_OPTIONS: `--import=${PROBE}`, PROBE_FILE: file, ...MALLOC };
    const gateway = await startGateway(configOf(provider.url), { binary: true, directory, env });
    onTestFinished(async () => {
      await gateway.stop();
      await provider.close();
      await rm(directory, { recursive: true, force: true });
    });
    const { url, clientKey: key } = gateway;
    const load = { url, key, connections: CONNECTIONS, imageBytes: IMAGE_BYTES };

    const base = await probe(gateway, file, 'SIGWINCH');
    // As many pictures at once as the load can ask for: what malloc keeps of them is part of being warm.
    const kinds = ['image in', 'image out'];
    await runMixedLoad({ ...load, connections: 4, requests: 32, kinds });
    const warm = await reportsOver(WARM_UP);
    const after = await reportsOver(MEASURED);
    // Warm or not, more of these than at the start are a leak, however small.
    const { listeners } = await idleReport('SIGWINCH');
    console.info(`memory: ${mib([base])} MiB at start, ${mib(warm)} warm, ${mib(after)} since`);
    const seriesOf = (of: 'held' | 'objects') =>
      `${of}: ${warm.map((one) => one[of]).join(' ')} warm, ${after.map((one) => one[of]).join(' ')} since`;
    console.info(`${seriesOf('held')}\n${seriesOf('objects')}`);

    const warmLevel = Math.max(...warm.map(({ resident }) => resident));
    const lastLevel = Math.min(...after.slice(-LAST_LOOKS).map(({ resident }) => resident));
    expect(lastLevel).toBeLessThan(warmLevel * GROWTH);
    const [first, last] = [warm.at(-1)!, after.at(-1)!];
    expect(last.held).toBeLessThan(first.held * GROWTH);
    const levels = [first, ...after].map(({ held }) => held);
    expect(middleSlope(levels)).toBeLessThan(MEASURED.step * HELD_BYTES);
    expect(last.objects - first.objects).toBeLessThan(MEASURED.requests * HELD_OBJECTS);
    expect(listeners).toEqual(base.listeners);

    async function reportsOver({ requests, step }: typeof MEASURED): Promise<Report[]> {
      const reports: Report[] = [];
      for (let done = 0; done < requests; done += step) {
        const seen = await runMixedLoad({ ...load, requests: step });
        expect([...seen.keys()].sort()).toEqual(OUTCOMES);
        reports.push(await idleReport());
      }
      return reports;
    }

    /** Once nobody is being answered and what was held for clients and providers is let go of. */
    async function idleReport(look: Look = 'SIGUSR2'): Promise<Report> {
      await eventually(() => provider.unfinished() === 0);
      provider.closeIdle();
      await eventually(
        async () => excess({ ...base, files: await openFiles(gateway) }, base).length === 0,
      );
      let report = await probe(gateway, file, look);
      for (let looks = 1; looks < MAX_LOOKS && excess(report, base).length > 0; looks++) {
        await pause(1_000);
        report = await probe(gateway, file, look);
      }
      expect(excess(report, base)).toEqual([]);
      return report;
    }
  },
  900_000,
);

/** What there is more of than at the start. */
function excess(report: Report, base: Report): string[] {
  const more: string[] = [];
  const check = (name: string, count = 0, before = 0): void => {
    if (count > before) more.push(`${name}: ${count}, ${before} at the start`);
  };
  check('emitters', report.emitters, base.emitters! + EMITTERS_SLACK);
  check('sockets', report.active['TCPSocketWrap']);
  for (const [name, count] of Object.entries(report.files))
    check(name, count, (base.files[name] ?? 0) + (name.startsWith('/') ? FILES_SLACK : 0));
  return more;
}

function configOf(url: string): object {
  const protocols = {
    chat: { path: '/chat/completions' },
    embeddings: { path: '/embeddings' },
    images: { path: '/images/generations' },
  };
  const model = (name: string, upstream: string, extra: object = {}): object => ({
    name: `load/${name}`,
    ...extra,
    routes: [{ provider: 'up', upstream_model: upstream }],
  });
  return {
    providers: [customProvider('up', url, { protocols })],
    models: [
      model('chat', 'chat'),
      model('endless', 'endless'),
      model('long', 'long'),
      model('broken', 'broken'),
      model('vectors', 'vectors', { type: 'embedding' }),
      model('image', 'image', { type: 'image' }),
      {
        name: 'load/failover',
        routes: [
          { provider: 'up', upstream_model: 'broken', priority: 0 },
          { provider: 'up', upstream_model: 'chat', priority: 1 },
        ],
      },
    ],
  };
}

/** The signal at which the process looks at itself; at the second it counts emitters, too, which takes longer. */
type Look = 'SIGUSR2' | 'SIGWINCH';

async function probe(gateway: TestGateway, file: string, look: Look): Promise<Report> {
  const { child } = gateway;
  await rm(file, { force: true });
  child?.kill(look);
  const report = JSON.parse(
    await eventually(() => readFile(file, 'utf8').catch(() => undefined)),
  ) as Report;
  const status = await readFile(`/proc/${child?.pid}/status`, 'utf8');
  const resident = Number(/RssAnon:\s+(\d+) kB/.exec(status)?.[1]);
  return { ...report, resident, files: await openFiles(gateway) };
}

/** Those that are closed meanwhile have no name any more. */
async function openFiles({ child }: TestGateway): Promise<Record<string, number>> {
  const directory = `/proc/${child?.pid}/fd`;
  const counts: Record<string, number> = {};
  for (const fd of await readdir(directory)) {
    const link = await readlink(join(directory, fd)).catch(() => undefined);
    const name = link?.replace(/:\[\d+\]$/, '');
    if (name !== undefined) counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** Growth in one step: the middle one of the slopes between any two levels (Theil and Sen). */
function middleSlope(levels: readonly number[]): number {
  const slopes = levels.flatMap((level, index) =>
    levels.slice(index + 1).map((later, steps) => (later - level) / (steps + 1)),
  );
  slopes.sort((one, other) => one - other);
  const half = (slopes.length - 1) / 2;
  return (slopes[Math.floor(half)]! + slopes[Math.ceil(half)]!) / 2;
}

function mib(reports: readonly Report[]): string {
  return reports.map(({ resident }) => (resident / 1024).toFixed(0)).join(' ');
}
