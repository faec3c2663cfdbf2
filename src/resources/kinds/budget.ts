import { z } from 'zod';
import { once } from '../../core/lazy.ts';
import { toNanos } from '../../core/money.ts';
import { isTimeZone } from '../../core/time/cron.ts';
import { GatewayError } from '../../core/errors.ts';
import { matchesModel } from '../../routing/model-patterns.ts';
import { createBudgetWindows } from '../../usage/budgets/budget-window.ts';
import type { BudgetPeriod } from '../../usage/budgets/budget-window.ts';
import type { Budget } from '../../usage/budgets/budget.ts';
import { defineResource } from '../store/define-resource.ts';
import type { Spec, Stored } from '../store/stored.ts';
import type { ResourceDefinition } from '../store/define-resource.ts';
import { dollars, exactly, labels, meaningless, name, owner } from '../fields/fields.ts';

const MOST_NAMES = 256;
const EXCEED = 'expected refuse, warn, or {downgrade: MODEL}';

const names = (what: string) =>
  z.array(z.string().trim().min(1).max(256)).max(MOST_NAMES).optional().describe(what);

const match = once(() =>
  exactly({
    labels: z
      .record(z.string().min(1).max(128), z.string().max(512))
      .optional()
      .describe('Labels that the key of the call has, each with this value.'),
    models: names('Logical models that are asked for; * stands for any characters.'),
    keys: names('Keys of the organization, by name or id.'),
  }),
);

const onExceed = once(() =>
  z.union(
    [
      z.enum(['refuse', 'warn']),
      exactly({
        downgrade: z
          .string()
          .trim()
          .min(1)
          .max(256)
          .superRefine((value, context) => {
            if (value.includes('*')) meaningless(context, 'expected one model, not a pattern');
          })
          .describe('Model that answers in its place.'),
      }),
    ],
    { error: EXCEED },
  ),
);

interface Match {
  readonly labels?: Readonly<Record<string, string>>;
  readonly models?: readonly string[];
  readonly keys?: readonly string[];
}

/** Amount for some of the calls of an organization, exact like a spending limit. */
export const budget: ResourceDefinition = defineResource('budgets', {
  idPrefix: 'bud',
  description: 'Amounts of money for teams, models and keys.',
  fields: () =>
    z.object({
      name,
      organization: owner,
      match: match()
        .default({})
        .describe(
          'Calls that count: those that fit every member. Default: all of the organization.',
        ),
      amount: dollars.describe('USD per window.'),
      per: z
        .enum(['day', 'week', 'month', 'lifetime'])
        .describe('Window of the amount; weeks begin on Monday.'),
      timezone: z
        .string()
        .trim()
        .default('UTC')
        .superRefine((value, context) => {
          if (!isTimeZone(value))
            meaningless(context, 'expected an IANA zone such as Europe/Berlin');
        })
        .describe('Zone in whose calendar windows begin.'),
      on_exceed: onExceed()
        .default('refuse')
        .describe(
          'What becomes of a call that does not fit: refuse, warn (serve it and raise an alert), or {downgrade: MODEL}.',
        ),
      enabled: z.boolean().default(true).describe('False counts and refuses nothing.'),
      labels,
    }),
  immutable: ['organization'],
  deletable: true,
  uses: { read: 'costs', change: 'govern' },
  filters: ['organization', 'enabled', 'per'],
  refs: (spec) => [
    { kind: 'organization', target: String(spec['organization']), path: 'organization' },
    ...(matchOf(spec).keys ?? []).map((target, index) => ({
      kind: 'api_key',
      target,
      path: `match.keys[${index}]`,
    })),
  ],
  check: (spec) => {
    for (const [member, value] of Object.entries(matchOf(spec))) {
      if (Object.keys(value as object).length > 0) continue;
      const param = `match.${member}`;
      const message = `${param}: names nothing, so no call would count; leave it out to count all`;
      throw new GatewayError('unprocessable', { message, param });
    }
  },
});

function matchOf(spec: Spec): Match {
  return spec['match'] ?? {};
}

/** A budget as calls are held to it; its keys and labels are compared by {@link isBudgetOf}. */
export function toBudget({ id, spec }: Stored): Budget {
  const { models, keys } = matchOf(spec);
  const per = spec['per'] as BudgetPeriod;
  const exceed = spec['on_exceed'] as 'refuse' | 'warn' | { downgrade: string };
  return {
    id,
    name: spec.name,
    amount: toNanos(String(spec['amount'])),
    per,
    isOfKeys: keys !== undefined,
    ...(typeof exceed === 'string'
      ? { onExceed: exceed }
      : { onExceed: 'downgrade', downgradeTo: exceed.downgrade }),
    counts: (model) => models === undefined || (model !== undefined && matchesModel(models, model)),
    windowAt: createBudgetWindows(per, String(spec['timezone'])),
  };
}

/** True for a budget that calls of the key can count in; undefined: calls that no key asked for. */
export function isBudgetOf({ spec }: Stored, key: Stored | undefined): boolean {
  const { labels: wanted = {}, keys } = matchOf(spec);
  if (keys && !keys.some((one) => one === key?.id || one === key?.spec.name)) return false;
  return Object.entries(wanted).every(([label, value]) => key?.spec.labels[label] === value);
}
