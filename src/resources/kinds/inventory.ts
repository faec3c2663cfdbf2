import { z } from 'zod';
import { defineResource } from '../store/define-resource.ts';
import { labels, name } from '../fields/fields.ts';

/**
 * Objects that the files of one namespace have made: `apply` keeps it, so that a later plan knows
 * which objects were deleted by hand and which fields are no longer declared. Deleting it loses
 * that knowledge and nothing else.
 */
export const inventory = defineResource('inventories', {
  idPrefix: 'inv',
  description: 'Objects and fields that the files of a namespace declared last.',
  fields: () =>
    z.object({
      name: name.describe('The namespace.'),
      objects: z
        .array(
          z.object({
            kind: z.string().min(1).max(64),
            identity: z.string().min(1).max(1024).describe('Name, below its organization if any.'),
            id: z.string().min(1).max(128),
            fields: z
              .string()
              .max(65_536)
              .nullable()
              .default(null)
              .describe('Declared fields, separated by spaces. Null: not known.'),
          }),
        )
        .default([])
        .describe('Objects that the namespace owns.'),
      managed: z
        .record(z.string().min(1).max(64), z.string().max(64))
        .default({})
        .describe(
          'Collections that the files manage, by kind, with the creation time of the newest object ' +
            'that was there when they began to.',
        ),
      labels,
    }),
  deletable: true,
  uses: { change: 'govern' },
});
