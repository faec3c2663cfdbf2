import { z } from 'zod';
import { defineResource } from '../store/define-resource.ts';
import { dollars, labels, name, spendingLimit } from '../fields/fields.ts';

/** Owner of keys and usage; spending limits apply to all of its keys together. */
export const organization = defineResource('organizations', {
  idPrefix: 'org',
  description: 'Owners of keys and usage.',
  fields: () =>
    z.object({
      name,
      display_name: z.string().max(256).nullable().default(null).describe('Shown to people.'),
      enabled: z
        .boolean()
        .default(true)
        .describe('False refuses every request of its keys with 403.'),
      spending_limit: spendingLimit,
      credit: dollars
        .nullable()
        .default(null)
        .describe(
          'USD paid or granted in advance; once spent, calls are refused. Null: no prepayment.',
        ),
      labels,
    }),
  deletable: true,
  uses: { change: 'govern' },
  filters: ['enabled'],
});
