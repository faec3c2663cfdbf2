import { createWriteStream } from 'node:fs';
import { oneLine } from '../../../core/printable.ts';
import { rm } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { usageError } from '../../cli-error.ts';
import { findResource } from '../../resources/find-resource.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'files download'> = async ({ args, flags, context }) => {
  const { signal } = context;
  const client = await context.connect();
  const sought = { kind: 'files', named: args.id } as const;
  const { id, name } = await findResource(client, sought, signal);
  const path = resolve(context.io.cwd, flags.out ?? plainName(name));
  const body = await client.admin('files').below(id).bytes('content', signal);
  await write(body, path, { isForced: flags.force, signal });
  return { data: { id, path }, text: `${oneLine(name)} (${id}) is in ${path}` };
};

/** Refuses names that lead to another folder: the uploader chose the name. */
function plainName(name: string): string {
  const plain = basename(name.replaceAll('\\', '/'));
  if (plain === '' || plain === '.' || plain === '..' || plain.includes('\0'))
    throw usageError('the name of the file is not valid here', 'give one with --out');
  return plain;
}

async function write(
  body: ReadableStream<Uint8Array>,
  path: string,
  { isForced, signal }: { isForced: boolean; signal: AbortSignal },
): Promise<void> {
  const file = createWriteStream(path, { flags: isForced ? 'w' : 'wx' });
  let isOurs = false;
  file.once('open', () => (isOurs = true));
  try {
    await pipeline(body, file, { signal });
  } catch (thrown) {
    // Half a file must not look like a whole one.
    if (isOurs) await rm(path, { force: true });
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw Object.assign(usageError(`${path} already exists`, 'add --force'), { cause: thrown });
    throw thrown;
  }
}
