import { z } from 'zod';
import { once } from '../../core/lazy.ts';
import { cronFault, isTimeZone } from '../../core/time/cron.ts';
import type { CronSchedule } from '../../core/time/cron.ts';
import { agentOverrides, description } from './agent-fields.ts';
import { declaredRuntime } from './declared-runtime.ts';
import {
  exactly,
  labels,
  meaningless,
  metadata,
  name,
  owner,
  shownInstant,
} from '../fields/fields.ts';
import { systemMessage, userMessage } from '../files/message-parts.ts';

/** Events of every Session. */
const MAX_EVENTS = 50;
const MAX_ATTACHED = 100;
/** Ten years. */
const MAX_SECONDS = 315_360_000;

const version = once(() =>
  z
    .union([z.int().min(1), z.string().regex(/^[1-9]\d{0,14}$/, 'expected a version')])
    .transform(Number),
);

const initialEvents = once(() =>
  z
    .array(z.discriminatedUnion('type', [userMessage(), systemMessage()]))
    .min(1)
    .max(MAX_EVENTS)
    .refine(
      (events) => events.some(({ type }) => type === 'user.message'),
      'expected at least one user.message',
    ),
);

const cron = once(() =>
  z.object({
    type: z.literal('cron').describe('cron.'),
    expression: z
      .string()
      .superRefine((value, context) => {
        const fault = cronFault(value);
        if (fault !== undefined) meaningless(context, fault);
      })
      .describe('Minute, hour, day of month, month, day of week.'),
    timezone: z
      .string()
      .refine(isTimeZone, {
        error: 'expected an IANA time zone such as Europe/Berlin',
        params: { unprocessable: true },
      })
      .describe('IANA time zone in which the expression is read.'),
  }),
);

const seconds = once(() => z.int().min(1).max(MAX_SECONDS).nullish());

export interface TimeoutPolicy {
  session_timeout_seconds?: number;
  idle_timeout_seconds?: number;
}

const timeoutPolicy = once(() =>
  exactly({
    session_timeout_seconds: seconds().describe('Most that a Session lives.'),
    idle_timeout_seconds: seconds().describe('Most that a Session is idle without a new event.'),
  })
    .nullable()
    .default(null)
    .transform((given): TimeoutPolicy | null => {
      const limits = Object.entries(given ?? {}).filter(([, limit]) => limit !== null);
      return limits.length === 0 ? null : Object.fromEntries(limits);
    }),
);

const notificationSettings = once(() =>
  exactly({
    chat_webhook_url: z
      .string()
      .min(1)
      .max(2048)
      .nullable()
      .describe('Official custom-bot webhook of the chat provider; write-only.'),
  })
    .nullable()
    .optional(),
);

/** Null is an empty list. */
const attached = <T extends z.ZodType>(item: T) =>
  z
    .array(item)
    .max(MAX_ATTACHED)
    .nullish()
    .transform((value) => value ?? []);

/** Fields of a Schedule (contract: Deployment / Schedule). */
export const deploymentFields = once(() =>
  z.object({
    name: name.describe('Shown to people.'),
    organization: owner,
    description,
    agent_id: z.string().min(1).max(128).nullable().default(null).describe('Agent that it runs.'),
    agent_version: version()
      .nullable()
      .default(null)
      .describe('Version of the Agent; default: the latest when it is bound.'),
    runtime: declaredRuntime()
      .nullable()
      .default(null)
      .describe('Definition in place of an Agent.'),
    agent_config: agentOverrides()
      .nullable()
      .default(null)
      .describe("What its Sessions have in place of the Agent's own."),
    initial_events: initialEvents().describe('Messages that every Session begins with.'),
    paused: z
      .boolean()
      .default(false)
      .describe('True: it does not fire by itself, from its creation on.'),
    schedule: cron().nullable().default(null).describe('When it fires; default: by hand alone.'),
    timeout_policy: timeoutPolicy().describe('When its Sessions are terminated; default: never.'),
    notification_settings: notificationSettings().describe('Where its runs are announced.'),
    environment_id: z
      .string()
      .min(1)
      .max(256)
      .nullish()
      .transform((value) => value ?? 'env_default')
      .describe('Environment of its Sessions; kept and shown.'),
    resources: attached(z.looseObject({ type: z.string() })).describe(
      'Resources of its Sessions; kept and shown.',
    ),
    vault_ids: attached(z.string().min(1).max(256)).describe(
      'Vaults of its Sessions; kept and shown.',
    ),
    metadata,
    labels,
  }),
);

/** Members that Schedules show in addition to their fields. */
export const deploymentState = once(() =>
  z.object({
    agent: z
      .object({ type: z.literal('agent'), id: z.string(), version: z.int().nullable() })
      .nullable(),
    agent_binding: z.object({ agent_id: z.string(), agent_version: z.int().nullable() }).nullable(),
    schedule: z
      .object({
        type: z.literal('cron'),
        expression: z.string(),
        timezone: z.string(),
        last_run_at: shownInstant,
        upcoming_runs_at: z.array(z.string()),
      })
      .nullable(),
    paused: z.boolean(),
    status: z.enum(['active', 'paused', 'archived']),
    paused_reason: z.object({ type: z.string() }).nullable(),
    chat_webhook_configured: z.boolean(),
    notification_settings_configured: z.boolean(),
  }),
);

type Spec = Readonly<Record<string, unknown>>;

/** Null: it fires only by hand. */
export function scheduleOf(spec: Spec): (CronSchedule & { type: 'cron' }) | null {
  return spec['schedule'] as (CronSchedule & { type: 'cron' }) | null;
}

export type AgentConfig = z.output<ReturnType<typeof agentOverrides>>;

export function agentConfigOf(spec: Spec): AgentConfig | null {
  return spec['agent_config'] as AgentConfig | null;
}
