import { openAsBlob } from 'node:fs';
import { oneLine } from '../../../core/printable.ts';
import { stat } from 'node:fs/promises';
import { basename, extname, resolve } from 'node:path';
import { usageError } from '../../cli-error.ts';
import type { RunOf } from '../../commands.ts';

/** Types that people upload most; the gateway looks at the bytes of anything else. */
const TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  gif: 'image/gif',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  md: 'text/markdown',
  pdf: 'application/pdf',
  png: 'image/png',
  txt: 'text/plain',
  webp: 'image/webp',
};

export const run: RunOf<'files upload'> = async ({ args, flags, context }) => {
  const given = args.path;
  const path = resolve(context.io.cwd, given);
  const isFile = await stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
  if (!isFile) throw usageError(`${given} is not a file`);
  const type = flags.type ?? TYPES[extname(path).slice(1).toLowerCase()];
  const form = new FormData();
  const content = await openAsBlob(path, { type: type ?? 'application/octet-stream' });
  form.append('file', content, flags.name ?? basename(path));
  const organization = flags.organization;
  if (organization !== undefined) form.append('organization', organization);
  const client = await context.connect();
  const made = await client.admin('files').upload(form, context.signal);
  context.output.note(`${oneLine(made.name)} uploaded, ${String(made['size_bytes'])} bytes`);
  return { data: made, text: made.id };
};
