import { describe } from 'vitest';
import { testCalls, testLists, without } from './support.ts';

const SECRET = { secret: 's', created_at: '2026-11-21T10:00:00Z', previous_valid_until: null };
const DELIVERY = { id: 'd1', event: 'e', subject: 's', url: 'http://x', status: 'delivered' };
const LACKING = without(DELIVERY, 'id', 'event', 'subject', 'url', 'status');

describe('webhooks', () => {
  testCalls([
    {
      name: 'rotateSecret',
      call: ({ webhooks }, signal) => webhooks.rotateSecret(signal),
      method: 'POST',
      target: '/v1/webhooks/secret/rotate',
      answer: SECRET,
      refused: without(SECRET, 'secret', 'created_at'),
    },
    {
      name: 'redeliver',
      call: ({ webhooks }, signal) => webhooks.redeliver('d/1', signal),
      method: 'POST',
      target: '/v1/webhooks/deliveries/d%2F1/redeliver',
      answer: DELIVERY,
      refused: LACKING,
    },
  ]);

  testLists([
    {
      name: 'deliveries',
      call: ({ webhooks }, signal) => webhooks.deliveries(signal),
      targets: ['/v1/webhooks/deliveries?limit=100', '/v1/webhooks/deliveries?limit=100&page=p+2'],
      item: DELIVERY,
      refused: LACKING,
    },
  ]);
});
