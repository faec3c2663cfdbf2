import { z } from 'zod';

const base64 = z.object({ type: z.literal('base64'), media_type: z.string(), data: z.string() });
const url = z.object({ type: z.literal('url'), url: z.string() });
const file = z.object({ type: z.literal('file'), file_id: z.string() });
const plain = z.object({
  type: z.literal('text'),
  media_type: z.literal('text/plain'),
  data: z.string(),
});

export const textPart = z.object({ type: z.literal('text'), text: z.string() });

const imagePart = z.object({
  type: z.literal('image'),
  source: z.discriminatedUnion('type', [base64, url, file]),
});
const documentPart = z.object({
  type: z.literal('document'),
  source: z.discriminatedUnion('type', [base64, plain, url, file]),
  title: z.string().nullish(),
  context: z.string().nullish(),
});

/** Part of a message to an Agent. */
export const messagePart = z.discriminatedUnion('type', [textPart, imagePart, documentPart]);

/** A message of a person. */
export const userMessage = z.object({
  type: z.literal('user.message'),
  content: z.array(messagePart).min(1),
});

/** Context for the turns that follow. */
export const systemMessage = z.object({
  type: z.literal('system.message'),
  content: z.array(textPart).min(1),
});
