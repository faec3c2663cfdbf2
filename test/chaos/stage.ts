import type { Caller, CallOptions, Reply } from './caller.ts';
import type { CutProxy } from './cut-proxy.ts';
import type { Database } from './database.ts';
import type { DiskQuota } from './disk-quota.ts';
import type { FastTime } from './fast-time.ts';
import type { GatewayNode } from './gateway-node.ts';
import type { Journal } from './journal.ts';
import type { Random } from './random.ts';
import type { ToolServer } from './tool-server.ts';
import type { Upstream } from './upstream.ts';

/** Limits of the keys that have some. */
export const SPENDING_LIMIT = 0.3;
export const CALL_PRICE = 0.01;
export const RPM_CAP = 20;

/** So many requests go to a gateway that is down or asleep all the same. */
const STRAY = 0.005;

export type LedgerMode = 'auto' | 'before_call' | 'during_call';

export interface PayingKey {
  readonly id: string;
  readonly value: string;
}

/** Everything of one run on one backend. */
export interface Stage {
  readonly backend: string;
  /** Of all gateways. */
  readonly ledger: LedgerMode;
  readonly random: Random;
  readonly time: FastTime;
  readonly nodes: readonly GatewayNode[];
  readonly journal: Journal;
  readonly upstream: Upstream;
  readonly tools: ToolServer;
  readonly caller: Caller;
  readonly directory: string;
  /** The file in which programs note what they did. */
  readonly notes: string;
  /** In the environment of every process that a gateway starts. */
  readonly mark: string;
  /** Of remote stores: the database, and the way of each gateway to it. */
  readonly database: Database | undefined;
  readonly proxies: readonly CutProxy[];
  /** Of the embedded store, where the machine can do it. */
  readonly disk: DiskQuota | undefined;
  readonly keys: {
    readonly admin: string;
    readonly client: PayingKey;
    readonly limited: readonly PayingKey[];
    readonly rated: PayingKey;
  };
  stop(): Promise<void>;
}

/**
 * For how long a gateway may have held up the others within this time: where one is stopped in the middle of a
 * commit of the embedded store, what needs a commit waits until it goes on.
 */
export function heldUpMs(
  { backend, nodes }: Pick<Stage, 'backend' | 'nodes'>,
  { sentAt, doneAt }: Pick<Reply, 'sentAt' | 'doneAt'>,
): number {
  if (backend !== 'lmdb') return 0;
  return nodes.reduce((sum, node) => sum + node.pausedMs(sentAt, doneAt), 0);
}

type Options = Partial<CallOptions> & { node?: GatewayNode };

/** A request to any of the gateways, unless one is named, with the key of the client. */
export function ask(
  stage: Stage,
  [what, line]: readonly [what: string, line: string],
  { node, ...options }: Options = {},
): Promise<Reply> {
  const one = node ?? choose(stage);
  return stage.caller.call(one, what, line, { key: stage.keys.client.value, ...options });
}

/** As a balancer would, that seldom asks one that does not answer. */
export function choose({ nodes, random }: Stage): GatewayNode {
  const now = Date.now();
  const up = nodes.filter((node) => !node.wasTroubled(now, now, ['killed', 'paused']));
  return random.pick(up.length === 0 || random.next() < STRAY ? nodes : up);
}

/** The same with the key of the operator. */
export function askAdmin(
  stage: Stage,
  named: readonly [what: string, line: string],
  options: Options = {},
): Promise<Reply> {
  return ask(stage, named, { key: stage.keys.admin, ...options });
}
