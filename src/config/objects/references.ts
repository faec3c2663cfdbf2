import { resolve as resolvePath } from 'node:path';
import type { ConfigFiles } from '../read/load.ts';

/**
 * A secret named in the configuration (`${secret:env:NAME}`, `${secret:file:PATH}`). It is resolved
 * only when it is sent; printed or serialised it is always its name.
 */
export class SecretRef {
  readonly source: 'env' | 'file';
  readonly name: string;
  /** Folder against which relative paths of files resolve. */
  readonly directory: string;

  constructor(source: 'env' | 'file', name: string, directory: string) {
    this.source = source;
    this.name = name;
    this.directory = directory;
  }

  toString(): string {
    return `\${secret:${this.source}:${this.name}}`;
  }

  toJSON(): string {
    return this.toString();
  }
}

/** A field of another declared object (`${ref:provider.openai.id}`), known when that object exists. */
export class ObjectRef {
  readonly kind: string;
  readonly name: string;
  readonly field: string;

  constructor(kind: string, name: string, field: string) {
    this.kind = kind;
    this.name = name;
    this.field = field;
  }

  toString(): string {
    return `\${ref:${this.kind}.${this.name}.${this.field}}`;
  }

  toJSON(): string {
    return this.toString();
  }
}

/** Sources that references resolve against; injected. */
export interface ReferenceSources {
  env: Readonly<Record<string, string | undefined>>;
  files: ConfigFiles;
  /** Path of the `.env` that `env` includes, whether it exists or not. */
  envFile?: string | undefined;
}

/** The words for a variable that a reference does not find. */
export function notSet(name: string, { envFile }: Pick<ReferenceSources, 'envFile'>): string {
  const searched = envFile === undefined ? '' : ` (looked for in ${envFile}, too)`;
  return `the environment variable ${name} is not set${searched}`;
}

const MAX_SECRET_BYTES = 64 * 1024;

/**
 * The value of a secret without the final line break of its file. Rejects with an error that names
 * the reference and never the value.
 */
export async function resolveSecret(ref: SecretRef, sources: ReferenceSources): Promise<string> {
  if (ref.source === 'env') {
    const value = sources.env[ref.name];
    if (value === undefined || value === '') {
      throw new Error(notSet(ref.name, sources));
    }
    return value;
  }
  let bytes: Buffer;
  try {
    bytes = await sources.files.read(resolvePath(ref.directory, ref.name), MAX_SECRET_BYTES);
  } catch (error) {
    throw new Error(`the secret file ${ref.name} cannot be read`, { cause: error });
  }
  const value = bytes.toString('utf8').replace(/\r?\n$/, '');
  if (value === '') throw new Error(`the secret file ${ref.name} is empty`);
  return value;
}
