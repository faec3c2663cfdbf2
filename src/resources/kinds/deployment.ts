import type { Clock } from '../../core/time/clock.ts';
import { GatewayError } from '../../core/errors.ts';
import { ownerRef, skillRefs } from './agent-fields.ts';
import type { OperatorNames } from './agent-fields.ts';
import { providerOf } from './chat-webhooks.ts';
import type { OwnWebhook } from './chat-webhooks.ts';
import { checkRunnable, comparableRuntime, isModeSwitch, runtimeOf } from './declared-runtime.ts';
import { isArchived } from '../store/stored.ts';
import type { Body, Spec, State, Stored } from '../store/stored.ts';
import { defineResource } from '../store/define-resource.ts';
import type { ActionInput, ActionOutcome, ResourceDefinition } from '../store/define-resource.ts';
import type { Reference } from '../store/define-resource.ts';
import { bind, refuseRebinding, withBinding } from './deployment-binding.ts';
import {
  agentConfigOf,
  deploymentFields,
  deploymentState,
  scheduleOf,
} from './deployment-fields.ts';
import { claimedOf, dueOps, firstDue, pendingRunPrefix, upcomingDue } from '../store/due-index.ts';
import { filesOf } from '../files/message-files.ts';
import { sameJson } from '../fields/same-json.ts';
import type { Draft, Lookup, Settlement } from '../store/settlement.ts';

/** The write-only field that holds the webhook's URL. */
export const CHAT_WEBHOOK = 'notification_settings';

/** Most bytes of all first messages as JSON; larger contents are files that they name. */
const MAX_EVENT_BYTES = 512 * 1024;
const UPCOMING = 5;

/** Reason why a Schedule does not fire by itself. */
export type Paused = { type: 'manual' } | { type: 'error'; error: { type: string } };

/** An Agent with its first messages, run by a clock or by hand (contract: Schedules). */
export const deployment: ResourceDefinition = defineResource('deployments', {
  idPrefix: 'depl',
  description: 'Schedules: when Agents begin Sessions by themselves.',
  fields: deploymentFields,
  secrets: [CHAT_WEBHOOK],
  immutable: ['organization'],
  deletable: true,
  lifecycle: {
    removedBy: 'archive',
    isGoneForEver: true,
    isFixed: isModeSwitch,
    boundWhilePaused: ['agent_id', 'agent_version'],
  },
  unique: [],
  archivable: true,
  newestFirst: true,
  patched: ['metadata'],
  comparable: { runtime: comparableRuntime, agent_config: comparableRuntime },
  filters: ['organization', 'agent_id', 'status'],
  search: ['description'],
  flags: {
    agent: {
      path: 'agent_id',
      value: 'AGENT',
      description: 'Id or name of the Agent that it runs',
    },
    cron: {
      path: 'schedule.expression',
      value: 'CRON',
      description: 'When it fires: minute, hour, day of month, month, day of week',
      beside: { 'schedule.timezone': 'UTC' },
    },
    timezone: {
      path: 'schedule.timezone',
      value: 'ZONE',
      description: 'IANA time zone of --cron; default: UTC',
    },
    message: {
      path: 'initial_events',
      value: 'TEXT',
      description: 'What its Sessions begin with',
      repeatable: true,
      read: (text) => ({ type: 'user.message', content: [{ type: 'text', text }] }),
    },
  },
  api: {
    path: '/v1/deployments',
    scope: 'deployments',
    hidden: ['organization', `${CHAT_WEBHOOK}_configured`],
    yaml: true,
  },
  refs: refsOf,
  check: (spec, secrets) => checkDeployment(spec, secrets),
  read: (body) => withBinding(withoutBudget(body)),
  patch: refuseRebinding,
  settle: (draft, lookup) => settleDeployment(draft, lookup),
  index: dueOps,
  shown: deploymentState,
  view: (stored) => toDeploymentView(stored),
  actions: { pause, unpause, archive },
  dispose: refusePending,
});

export interface DeploymentOptions {
  clock: Clock;
  operator: OperatorNames;
  /** Webhooks of the operator that take messages in addition to the known providers'. */
  webhooks: readonly OwnWebhook[];
}

/** Schedules that may name objects declared by the operator, and that show when they fire. */
export function defineDeployment({
  clock,
  operator,
  webhooks,
}: DeploymentOptions): ResourceDefinition {
  return {
    ...deployment,
    check: (spec, secrets) => checkDeployment(spec, secrets, { operator, webhooks }),
    settle: (draft, lookup) => settleDeployment(draft, lookup, operator),
    view: (stored) => toDeploymentView(stored, clock.now()),
  };
}

/** Null while it is not paused. */
export function pausedOf({ state }: Stored): Paused | null {
  return (state['paused'] ?? null) as Paused | null;
}

function refsOf(spec: Spec): Reference[] {
  const agent = spec['agent_id'];
  return [
    ownerRef(spec),
    ...(typeof agent === 'string' ? [{ kind: 'agent', target: agent, path: 'agent_id' }] : []),
    ...skillRefs(runtimeOf(spec)?.skills ?? [], 'runtime.'),
    ...skillRefs(agentConfigOf(spec)?.skills ?? [], 'agent_config.'),
  ];
}

function withoutBudget({ budget, ...body }: Body): Body {
  if (budget === undefined || budget === null) return body;
  const message = 'budget: budgets of Schedules are not supported';
  throw new GatewayError('invalid_request', { message, param: 'budget' });
}

function checkDeployment(
  spec: Spec,
  { [CHAT_WEBHOOK]: webhook }: Readonly<Record<string, unknown>>,
  { operator, webhooks }: Partial<DeploymentOptions> = {},
): void {
  checkRunnable(spec, operator);
  if (JSON.stringify(spec['initial_events']).length > MAX_EVENT_BYTES) {
    const param = 'initial_events';
    const message = `${param}: more than ${MAX_EVENT_BYTES} bytes`;
    throw new GatewayError('body_too_large', { message, param });
  }
  if (typeof webhook !== 'string') return;
  if (URL.canParse(webhook) && providerOf(new URL(webhook), webhooks)) return;
  const param = `${CHAT_WEBHOOK}.chat_webhook_url`;
  const message = `${param}: not the official custom-bot webhook of a known provider`;
  throw new GatewayError('unprocessable', { message, param });
}

async function settleDeployment(
  draft: Draft,
  lookup: Lookup,
  operator?: OperatorNames,
): Promise<Settlement> {
  const { before } = draft;
  const { paused: _asked, ...spec } = await bind(draft, lookup, operator);
  await findFiles(draft, lookup);
  const paused = pausedBy(draft);
  const isSamePause = before !== undefined && sameJson(pausedOf(before), paused);
  if (isSamePause && sameJson(scheduleOf(before.spec), scheduleOf(spec))) return { spec };
  const fresh = before ? {} : { last_slot: null, unclaimed: null, last_run_at: null };
  const next = paused ? null : dueFrom(spec, before?.state ?? fresh, lookup.now);
  return { spec, state: { ...fresh, paused, next_due_at: next } };
}

/** True when it is paused once a body is written, which may leave it as it is; the first reason stays. */
function pausedBy({ before, body }: Draft): Paused | null {
  const former = before ? pausedOf(before) : null;
  const asked = body['paused'];
  if (asked === undefined) return former;
  return asked === true ? (former ?? { type: 'manual' }) : null;
}

/**
 * Checks the files that are newly named; one that was named before may have been deleted since.
 *
 * @throws GatewayError `not_found`
 */
async function findFiles({ spec, before }: Draft, { find }: Lookup): Promise<void> {
  const at = 'initial_events';
  const former = before && filesOf(before.spec[at] as unknown[], at);
  for (const [target, path] of filesOf(spec[at] as unknown[], at)) {
    if (!former?.has(target)) await find({ kind: 'file', target, path });
  }
}

/** The first instant from now on: missed ones stay missed. */
function dueFrom(spec: Spec, state: State, now: string): number | null {
  const schedule = scheduleOf(spec);
  return schedule && firstDue(schedule, { ...claimedOf(state), now: Date.parse(now) });
}

function pause({ stored }: ActionInput): ActionOutcome | undefined {
  if (isArchived(stored) || pausedOf(stored) !== null) return undefined;
  return { state: { paused: { type: 'manual' }, next_due_at: null } };
}

function unpause({ stored, now }: ActionInput): ActionOutcome | undefined {
  const { id, spec, state } = stored;
  if (isArchived(stored)) {
    const message = `deployment ${id} is archived`;
    throw new GatewayError('conflict', { message, type: 'deployment_archived', retry: false });
  }
  if (pausedOf(stored) === null) return undefined;
  return { state: { paused: null, next_due_at: dueFrom(spec, state, now) } };
}

function archive({ stored, now }: ActionInput): ActionOutcome | undefined {
  return isArchived(stored) ? undefined : { state: { archived_at: now, next_due_at: null } };
}

/** Refuses while a run waits. None slips in before the commit: adding one rewrites the Schedule's row. */
async function refusePending({ id }: Stored, { store }: Lookup): Promise<[]> {
  const [pending] = await store.list({ prefix: pendingRunPrefix(id), limit: 1 });
  if (!pending) return [];
  const message = `deployment ${id} has a run that is not decided yet; try again when it is`;
  throw new GatewayError('conflict', { message, type: 'deployment_trigger_in_progress' });
}

/** @param now milliseconds since epoch; absent: the next instants are left out */
function toDeploymentView(stored: Stored, now?: number): Record<string, unknown> {
  const { spec, sealed } = stored;
  const { agent_id: id, agent_version: version } = spec;
  const archived = isArchived(stored);
  const paused = archived ? null : pausedOf(stored);
  const configured = sealed[CHAT_WEBHOOK] !== undefined;
  return {
    agent: id === null ? null : { type: 'agent', id, version },
    agent_binding: id === null ? null : { agent_id: id, agent_version: version },
    schedule: toScheduleView(stored, now),
    paused: paused !== null,
    status: archived ? 'archived' : paused ? 'paused' : 'active',
    paused_reason: paused,
    chat_webhook_configured: configured,
    [`${CHAT_WEBHOOK}_configured`]: configured,
  };
}

function toScheduleView(stored: Stored, now: number | undefined): object | null {
  const { spec, state } = stored;
  const schedule = scheduleOf(spec);
  if (!schedule) return null;
  const { type, expression, timezone } = schedule;
  return {
    type,
    expression,
    timezone,
    last_run_at: state['last_run_at'] ?? null,
    /** A paused one shows its next instants, too. Computed when it is shown: lists look at many more. */
    get upcoming_runs_at(): string[] {
      if (isArchived(stored) || now === undefined) return [];
      const instants = upcomingDue(schedule, { ...claimedOf(state), now }, UPCOMING);
      return instants.map((at) => new Date(at).toISOString());
    },
  };
}
