import type { Buffer } from 'node:buffer';
import { readContent } from './content-rows.ts';
import { file } from '../kinds/file.ts';
import type { Repository } from '../store/repository.ts';

/** A file as a turn uses it: its type is known, its bytes are read when they are wanted. */
export interface LoadedFile {
  readonly name: string;
  /** Media type that the uploader declared. */
  readonly mediaType: string;
  /** Bytes. */
  readonly size: number;
  /** Undefined when it was deleted meanwhile. */
  read(): Promise<Buffer | undefined>;
}

/** A file of the organization; undefined for an unknown or foreign one. */
export async function loadFile(
  repository: Repository,
  organization: string,
  id: string,
): Promise<LoadedFile | undefined> {
  const stored = await repository.find(file, id, { organization });
  if (!stored) return undefined;
  const size = Number(stored.spec['size_bytes']);
  return {
    name: stored.spec.name,
    mediaType: String(stored.spec['mime_type']),
    size,
    read: () => readContent(repository.store, stored.id, size),
  };
}
