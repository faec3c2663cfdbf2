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
