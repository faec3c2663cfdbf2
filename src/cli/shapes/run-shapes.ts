import { anything, list, number, orNull, record, text, words } from './shape.ts';
import type { Shape } from './shape.ts';

const RUN = record({
  id: text,
  object: { const: 'run' },
  model: text,
  status: words('queued', 'running', 'succeeded', 'failed', 'cancelled'),
  output: anything,
  error: orNull(record({ code: text, message: text })),
  usage: orNull(record({})),
  created_at: text,
  completed_at: orNull(text),
});

const TASK = record({
  id: text,
  object: { const: 'task' },
  type: words('run', 'video', 'prediction'),
  model: text,
  status: text,
  settlement: words('reserved', 'settled', 'released'),
  usage: orNull(record({})),
  cost: orNull(text),
  currency: text,
  created_at: text,
});

const DELIVERY = record({
  id: text,
  type: { const: 'webhook_delivery' },
  event: text,
  subject: text,
  url: text,
  status: words('pending', 'delivered', 'failed'),
  attempts: list(record({ at: text, status: orNull(number), outcome: text, ms: number })),
  created_at: text,
});

/** The `data` of the commands on runs, tasks and webhooks. */
export const RUN_SHAPES: Readonly<Record<string, Shape>> = {
  run: RUN,
  wait: record({
    target: text,
    condition: text,
    outcome: words('holds', 'impossible', 'timeout'),
    status: orNull(text),
  }),
  'tasks get': TASK,
  'webhooks secret rotate': record({
    type: { const: 'webhook_secret' },
    secret: text,
    created_at: text,
    previous_valid_until: orNull(text),
  }),
  'webhooks list': list(DELIVERY),
  'webhooks redeliver': DELIVERY,
};
