import { readFile } from 'node:fs/promises';
import { join, normalize, sep } from 'node:path';
import { z } from 'zod';
import { StoreError } from '../../../store.ts';

/** Format that this code writes; a backup of a higher number is refused. */
export const BACKUP_FORMAT = 1;
export const MANIFEST = 'backup.json';
/** Folders of the store and of media in a backup. */
export const STORE_FOLDER = 'store';
export const MEDIA_FOLDER = 'media';
export const DATA_FILE = join(STORE_FOLDER, 'data.mdb');

const count = z.int().min(0);
/** The data, or media by a path that leads nowhere else. */
const isInside = (path: string): boolean =>
  path === DATA_FILE || (path.startsWith(join(MEDIA_FOLDER, sep)) && normalize(path) === path);

const manifestSchema = z.object({
  format: z.literal(BACKUP_FORMAT),
  created_at: z.string(),
  /** Null for a store of a format that had none. */
  store: z.object({
    driver: z.literal('lmdb'),
    format: count,
    identity: z.string().nullable(),
    rows: count,
    checksum: z.string(),
  }),
  files: z.array(
    z.object({
      path: z.string().refine(isInside, 'expected a path inside of the backup'),
      size: count,
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
    }),
  ),
});

/** Contents of a backup; written last, it makes the backup count. */
export type Manifest = z.output<typeof manifestSchema>;
export type BackedUpFile = Manifest['files'][number];

/** Rejects with `unavailable` where there is none, `corrupt` or `newer_format`. */
export async function readManifest(directory: string): Promise<Manifest> {
  const text = await readFile(join(directory, MANIFEST), 'utf8').catch((cause: unknown) => {
    const message = `${directory} is no backup: it has no ${MANIFEST}`;
    throw new StoreError('unavailable', message, { cause });
  });
  const value = parse(text, directory);
  const format = z.object({ format: z.number() }).safeParse(value);
  if (format.success && format.data.format > BACKUP_FORMAT) {
    throw new StoreError(
      'newer_format',
      `the backup has format ${format.data.format}, this release knows up to ${BACKUP_FORMAT}`,
    );
  }
  const manifest = manifestSchema.safeParse(value);
  if (manifest.success) return manifest.data;
  const [issue] = manifest.error.issues;
  throw damaged(directory, `${issue?.path.join('.')}: ${issue?.message}`);
}

function parse(text: string, directory: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw damaged(directory, 'it is no JSON');
  }
}

function damaged(directory: string, what: string): StoreError {
  return new StoreError('corrupt', `${MANIFEST} of ${directory} is damaged: ${what}`);
}
