import type { Clock } from '../../core/time/clock.ts';
import { CLOCK_SLACK_MS } from '../../core/time/deadline.ts';
import { credential } from './credential.ts';
import type { State, Stored } from '../store/stored.ts';
import { fingerprint } from '../fields/fingerprint.ts';
import type { Repository } from '../store/repository.ts';

export interface CredentialDeps {
  repository: Repository;
  clock: Clock;
}

export interface CredentialQuery {
  organization: string;
  agentId: string;
  /** Group whose Credentials are taken. */
  groupKey?: string;
  /** Thing that they are for, such as an MCP server. */
  scopeName?: string;
}

export interface SelectedCredential {
  /** `sec_…` */
  readonly id: string;
  readonly groupKey: string;
  /** Its `secret_key`: the header or variable that carries it. */
  readonly name: string;
  readonly value: string;
}

const FIRST_COOLDOWN_MS = 30_000;
const MAX_COOLDOWN_MS = 600_000;

/**
 * The next one of a group in weighted turns, over all processes of the store; undefined when all of
 * it is disabled or cools down (requirement credentials.select.weighted).
 */
export async function selectCredential(
  query: CredentialQuery & { groupKey: string },
  deps: CredentialDeps,
): Promise<SelectedCredential | undefined> {
  return (await selectCredentials(query, deps))[0];
}

/** One of each group that the query names; a group that cools down as a whole gives none. */
export async function selectCredentials(
  query: CredentialQuery,
  deps: CredentialDeps,
): Promise<SelectedCredential[]> {
  const groups = new Map<string, Stored[]>();
  for (const stored of await listUsable(query, deps)) {
    const groupKey = String(stored.spec['group_key']);
    groups.set(groupKey, [...(groups.get(groupKey) ?? []), stored]);
  }
  const selected: SelectedCredential[] = [];
  for (const [groupKey, members] of groups) {
    const group = fingerprint([query.organization, query.agentId, groupKey]);
    const turn = await deps.repository.store.increment(['credential-turn', group], 1);
    const stored = atTurn(members, turn);
    const value = stored && deps.repository.reveal(stored, 'value');
    if (stored && value !== undefined) {
      selected.push({ id: stored.id, groupKey, name: String(stored.spec['secret_key']), value });
    }
  }
  return selected;
}

/**
 * Keeps whether a credential worked. One that was refused (401, 403 or 429) cools down, longer each
 * time in a row up to 10 minutes; reports of calls that began before it cooled down add nothing.
 */
export async function reportCredential(
  { organization, id, refused }: { organization: string; id: string; refused: boolean },
  { repository, clock }: CredentialDeps,
): Promise<void> {
  const target = { definition: credential, idOrName: id, organization };
  await repository.note(target, async ({ state }) => {
    const now = clock.now();
    const count = Number(state['failure_count'] ?? 0);
    const isKnown = refused ? isCooling(state, now) : count === 0;
    if (isKnown) return undefined;
    return { state: refused ? cooled(count + 1, now) : { failure_count: 0, cooldown_until: null } };
  });
}

function cooled(failures: number, now: number): State {
  const until = new Date(now + cooldownOf(failures)).toISOString();
  return { failure_count: failures, cooldown_until: until };
}

function cooldownOf(failures: number): number {
  return Math.min(MAX_COOLDOWN_MS, FIRST_COOLDOWN_MS * 2 ** Math.max(0, failures - 1));
}

function listUsable(query: CredentialQuery, { repository, clock }: CredentialDeps) {
  const { organization, agentId, groupKey, scopeName } = query;
  const now = clock.now();
  return repository.list(credential, {
    organization,
    limit: Infinity,
    matches: ({ spec, state }) =>
      spec['agent_id'] === agentId &&
      spec['status'] === 'active' &&
      (groupKey === undefined || spec['group_key'] === groupKey) &&
      (scopeName === undefined || spec['scope_name'] === scopeName) &&
      !isCooling(state, now),
  });
}

/** True while it cools down; one that a clock ahead of this began would outlast its length. */
function isCooling(
  { cooldown_until: until, failure_count: failures }: State,
  now: number,
): boolean {
  if (typeof until !== 'string') return false;
  const left = Date.parse(until) - now;
  return left > 0 && left <= cooldownOf(Number(failures ?? 0)) + CLOCK_SLACK_MS;
}

/** Each has its weight of turns in every round; the stride mixes them. */
function atTurn(members: readonly Stored[], turn: number): Stored | undefined {
  const total = members.reduce((sum, member) => sum + weightOf(member), 0);
  let place = ((turn % total) * strideFor(total)) % total;
  for (const member of members) {
    place -= weightOf(member);
    if (place < 0) return member;
  }
  return undefined;
}

/** Step near the golden section of the round and without a common factor with it: visits every position once. */
function strideFor(total: number): number {
  let stride = Math.max(1, Math.round(total * 0.618));
  while (greatestCommonDivisor(stride, total) > 1) stride++;
  return stride;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

function weightOf({ spec }: Stored): number {
  return Number(spec['weight']);
}
