import { setTimeout as sleep } from 'node:timers/promises';
import type { Cut } from '../cut-proxy.ts';
import type { GatewayNode } from '../gateway-node.ts';
import { nodeNames } from '../journal.ts';
import type { Stage } from '../stage.ts';
import type { Fault, FaultKind } from './deck.ts';

/** One cut of three is that of everybody. */
const ALL_ARE_CUT = 1 / 3;
const RESTART_MS = 300;
const LOOK_MS = 50;

/** Lets the faults happen in their time; resolves when the last one is mended. */
export async function carryOut(stage: Stage, faults: readonly Fault[]): Promise<void> {
  const began = Date.now();
  let store: Promise<unknown> = Promise.resolve();
  const under = faults.map(async (fault) => {
    await sleep(Math.max(0, fault.at - (Date.now() - began)));
    const at = Date.now() - began;
    const strike = (): Promise<string> => STRIKES[fault.kind](stage, fault);
    const isAboutStore = /^store|^cut|^disk/.test(fault.kind);
    // Two faults of the way to the store at once would undo each other.
    const happened = isAboutStore ? store.then(strike) : strike();
    if (isAboutStore) store = happened;
    const target = await happened;
    const { kind } = fault;
    stage.journal.faults.push({ kind, target, at, forMs: Date.now() - began - at });
  });
  await Promise.all(under);
}

type Strike = (stage: Stage, fault: Fault) => Promise<string>;

/** Each gives whom it hit. */
const STRIKES: Readonly<Record<FaultKind, Strike>> = {
  kill,
  'kill-worker': killWorker,
  pause,
  'pause-past-lease': pause,
  'store-asked': endStore,
  'store-killed': endStore,
  'disk-full': fillDisk,
  'cut-refuse': cut,
  'cut-drop': cut,
  'cut-stall': cut,
  'cut-half-open': cut,
  'cut-reset': cut,
};

async function kill({ nodes }: Stage, { lot }: Fault): Promise<string> {
  const { node, end } = await take(nodes, { kind: 'killed', lot });
  await node.kill();
  await sleep(RESTART_MS);
  await node.start();
  end();
  return node.name;
}

async function killWorker({ nodes }: Stage, { lot }: Fault): Promise<string> {
  const crews = nodes.filter(({ hasWorkers }) => hasWorkers);
  const { node, end } = await take(crews, { kind: 'killed', lot });
  const wasThere = await node.killWorker(lot);
  end();
  return wasThere ? node.name : 'nobody';
}

async function pause({ nodes }: Stage, { lot, forMs }: Fault): Promise<string> {
  const { node, end } = await take(nodes, { kind: 'paused', lot });
  const goOn = await node.pause();
  await sleep(forMs);
  goOn();
  end();
  return node.name;
}

async function endStore({ database, nodes }: Stage, { kind, forMs }: Fault): Promise<string> {
  const ends = nodes.map((node) => node.beginTrouble('cut'));
  await database?.end(kind === 'store-asked' ? 'asked' : 'killed');
  await sleep(forMs);
  await database?.start();
  for (const end of ends) end();
  return 'store';
}

async function cut({ nodes, proxies }: Stage, { kind, lot, forMs }: Fault): Promise<string> {
  const isForAll = lot < ALL_ARE_CUT;
  const one = Math.floor(lot * 1e6) % nodes.length;
  const hit = nodes.map((_, index) => index).filter((index) => isForAll || index === one);
  const ends = hit.map((index) => nodes[index]!.beginTrouble('cut'));
  for (const index of hit) proxies[index]?.cut(kind.slice('cut-'.length) as Cut);
  await sleep(forMs);
  for (const index of hit) proxies[index]?.mend();
  for (const end of ends) end();
  return nodeNames(hit.map((index) => nodes[index]!));
}

async function fillDisk({ disk, nodes }: Stage, { forMs }: Fault): Promise<string> {
  const ends = nodes.map((node) => node.beginTrouble('full'));
  await disk?.fill();
  await sleep(forMs);
  await disk?.free();
  for (const end of ends) end();
  return 'disk';
}

/** One that is neither killed nor paused now, with its trouble begun; waits for it. */
async function take(
  nodes: readonly GatewayNode[],
  { kind, lot }: { kind: 'killed' | 'paused'; lot: number },
): Promise<{ node: GatewayNode; end: () => void }> {
  for (;;) {
    const now = Date.now();
    const free = nodes.filter((node) => !node.wasTroubled(now, now, ['killed', 'paused']));
    const node = free[Math.floor(lot * free.length)];
    if (node) return { node, end: node.beginTrouble(kind) };
    await sleep(LOOK_MS);
  }
}
