import type { GatewayNode } from '../gateway-node.ts';
import { isOk } from '../journal.ts';
import { ask, askAdmin } from '../stage.ts';
import type { Stage } from '../stage.ts';

/** Everything that a list of one gateway has. Throws when it cannot be read, which is no proof either. */
// oxlint-disable-next-line typescript/no-explicit-any -- items of every shape
export async function readAll(stage: Stage, node: GatewayNode, path: string): Promise<any[]> {
  const items = [];
  for (let page: string | null = ''; page !== null;) {
    const line = `GET ${path}${page === '' ? '' : `&page=${encodeURIComponent(page)}`}`;
    const asked = path.startsWith('/admin') ? askAdmin : ask;
    const reply = await asked(stage, ['proof', line], { node });
    if (!isOk(reply)) throw new Error(`${node.name} ${line}: ${reply.status} ${reply.problem}`);
    items.push(...reply.body.data);
    page = reply.body.next_page ?? null;
  }
  return items;
}

/** At most so many of many faults are told. */
const TOLD = 10;

/** One proof: how much it looked at, and what speaks against it. */
export interface Proof {
  readonly title: string;
  readonly checked: number;
  readonly faults: readonly string[];
}

export function toProof(title: string, checked: number, faults: readonly string[]): Proof {
  const more = faults.length - TOLD;
  return {
    title,
    checked,
    faults: more > 0 ? [...faults.slice(0, TOLD), `and ${more} more`] : faults,
  };
}
