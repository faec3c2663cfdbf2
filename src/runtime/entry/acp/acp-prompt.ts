import { z } from 'zod';

const text = z.object({ type: z.literal('text'), text: z.string() });
const image = z.object({ type: z.literal('image'), mimeType: z.string(), data: z.string() });
const link = z.object({
  type: z.literal('resource_link'),
  name: z.string(),
  uri: z.string(),
  title: z.string().nullish(),
});
const contents = { uri: z.string(), mimeType: z.string().nullish() };
const resource = z.object({
  type: z.literal('resource'),
  resource: z.union([
    z.object({ ...contents, text: z.string() }),
    z.object({ ...contents, blob: z.string() }),
  ]),
});

/** The kinds of content that `promptCapabilities` offers. */
export const promptBlock = z.discriminatedUnion('type', [text, image, link, resource], {
  error: ({ code }) =>
    code === 'invalid_union' ? 'content of this type is not supported' : undefined,
});

/** A block of a prompt as a part of a `user.message`. */
export function toPart(block: z.output<typeof promptBlock>): object {
  switch (block.type) {
    case 'text':
      return block;
    case 'image':
      return { type: 'image', source: toSource(block.mimeType, block.data) };
    case 'resource_link':
      return { type: 'text', text: `[${block.title ?? block.name}](${block.uri})` };
    case 'resource':
    default:
      return toDocument(block);
  }
}

function toDocument({ resource: { uri: title, mimeType, ...given } }: z.output<typeof resource>) {
  if ('text' in given) {
    const source = { type: 'text', media_type: 'text/plain', data: given.text };
    return { type: 'document', source, title };
  }
  const type = mimeType ?? 'application/octet-stream';
  const source = toSource(type, given.blob);
  return type.startsWith('image/')
    ? { type: 'image', source }
    : { type: 'document', source, title };
}

function toSource(media_type: string, data: string): object {
  return { type: 'base64', media_type, data };
}
