import { z } from 'zod';
import { once } from '../../core/lazy.ts';
import { DATA_FAULT, IMAGE_FAULT, isImage, isInlineData } from './inline-media.ts';

/** Data that providers cannot read would stay in the conversation, and they would refuse all that follows. */
const data = once(() => z.string().refine(isInlineData, { error: DATA_FAULT }));
const base64 = once(() =>
  z.object({ type: z.literal('base64'), media_type: z.string(), data: data() }),
);
const base64Image = once(() =>
  z.object({
    type: z.literal('base64'),
    media_type: z.string().refine(isImage, { error: IMAGE_FAULT }),
    data: data(),
  }),
);
const url = once(() => z.object({ type: z.literal('url'), url: z.string() }));
const file = once(() => z.object({ type: z.literal('file'), file_id: z.string() }));
const plain = once(() =>
  z.object({
    type: z.literal('text'),
    media_type: z.literal('text/plain'),
    data: z.string(),
  }),
);

export const textPart = once(() => z.object({ type: z.literal('text'), text: z.string() }));

const imagePart = once(() =>
  z.object({
    type: z.literal('image'),
    source: z.discriminatedUnion('type', [base64Image(), url(), file()]),
  }),
);
const documentPart = once(() =>
  z.object({
    type: z.literal('document'),
    source: z.discriminatedUnion('type', [base64(), plain(), url(), file()]),
    title: z.string().nullish(),
    context: z.string().nullish(),
  }),
);

/** Part of a message to an Agent. */
export const messagePart = once(() =>
  z.discriminatedUnion('type', [textPart(), imagePart(), documentPart()]),
);

/** A message of a person. */
export const userMessage = once(() =>
  z.object({
    type: z.literal('user.message'),
    content: z.array(messagePart()).min(1),
  }),
);

/** Context for the turns that follow. */
export const systemMessage = once(() =>
  z.object({
    type: z.literal('system.message'),
    content: z.array(textPart()).min(1),
  }),
);
