import { fromBytes } from '../../src/core/memory/spooled-body.ts';
import type { Form } from '../../src/core/form.ts';

export interface WrittenPart {
  name: string;
  filename?: string;
  type?: string;
  content: string | Buffer;
}

/** A multipart body as browsers write it. */
export function formText(boundary: string, parts: readonly WrittenPart[]): Buffer {
  const pieces = parts.flatMap(({ name, filename, type, content }) => [
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"` +
        (filename === undefined ? '' : `; filename="${filename}"`) +
        (type === undefined ? '' : `\r\nContent-Type: ${type}`) +
        '\r\n\r\n',
    ),
    Buffer.from(content as string),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

/** The same as the gateway understands it; what has neither file name nor type is text. */
export function toForm(parts: readonly WrittenPart[], boundary = 'b'): Form {
  return {
    boundary,
    parts: parts.map(({ name, filename, type: contentType, content }) =>
      filename === undefined && contentType === undefined
        ? { name, value: content.toString() }
        : { name, filename, contentType, content: fromBytes(Buffer.from(content as string)) },
    ),
  };
}

/** What a reader that is not ours finds in a multipart body. */
export async function readParts(contentType: string, body: Uint8Array): Promise<WrittenPart[]> {
  const headers = { 'content-type': contentType };
  const form = await new Response(new Uint8Array(body), { headers }).formData();
  return Promise.all(
    [...form].map(async ([name, value]) =>
      typeof value === 'string'
        ? { name, content: value }
        : {
            name,
            filename: value.name,
            type: value.type,
            content: Buffer.from(await value.arrayBuffer()),
          },
    ),
  );
}
