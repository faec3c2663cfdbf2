import { z } from 'zod';
import { GatewayError } from '../../core/errors.ts';
import { isPattern } from '../../routing/model-patterns.ts';
import { defineResource } from '../store/define-resource.ts';
import { labels, meaningless, name } from '../fields/fields.ts';

const NAME = /^[^\s?#%]+$/;
const SPELLING = 'no blanks, ?, # or %';

const starred = (value: string, context: z.core.$RefinementCtx): void => {
  if (value.split('*').length > 2) meaningless(context, 'at most one *');
};

/** Another name of a model; with `*` of many. Its target is looked up when it is used. */
export const alias = defineResource('aliases', {
  idPrefix: 'alias',
  description: 'Other names of models.',
  fields: () =>
    z.object({
      name: name
        .regex(NAME, SPELLING)
        .superRefine(starred)
        .describe('Name that clients ask for; one * stands for any text.'),
      model: z
        .string()
        .trim()
        .min(1)
        .max(256)
        .regex(NAME, SPELLING)
        .superRefine(starred)
        .describe('Name of the model; * in it is the text that * in the name stands for.'),
      enabled: z.boolean().default(true).describe('False makes it unknown to clients.'),
      labels,
    }),
  shortForm: 'model',
  deletable: true,
  filters: ['enabled', 'model'],
  check: ({ name: from, model: to }) => {
    if (!isPattern(to as string) || isPattern(from)) return;
    const message = 'has a * that stands for nothing; write one in the name, too';
    throw new GatewayError('invalid_request', { param: 'model', message: `model: ${message}` });
  },
});
