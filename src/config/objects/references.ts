import { resolve as resolvePath } from 'node:path';
import type { ConfigFiles } from '../read/load.ts';
import { SecretCommandError, type SecretCommands } from './secret-commands.ts';

/** Where secrets come from, with the word for what names one there: `${secret:env:NAME}`. */
export const SECRET_SOURCES = { env: 'NAME', file: 'PATH', exec: 'COMMAND' } as const;
export type SecretSource = keyof typeof SECRET_SOURCES;

/**
 * A secret named in the configuration (`${secret:env:NAME}`). It is resolved only when it is sent;
 * printed or serialised it is always its name.
 */
export class SecretRef {
  readonly source: SecretSource;
  readonly name: string;
  /** Folder against which relative paths of files resolve, and in which commands run. */
  readonly directory: string;

  constructor(source: SecretSource, name: string, directory: string) {
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
  /** Absent where no command runs, as in `gateway validate`. */
  commands?: SecretCommands;
}

/** The words for a variable that a reference does not find. */
export function notSet(name: string, { envFile }: Pick<ReferenceSources, 'envFile'>): string {
  const searched = envFile === undefined ? '' : ` (looked for in ${envFile}, too)`;
  return `the environment variable ${name} is not set${searched}`;
}

const MAX_SECRET_BYTES = 64 * 1024;

/**
 * The value of a secret without the final line break of its file or command. Rejects with an error
 * that names the reference and never the value.
 */
export async function resolveSecret(ref: SecretRef, sources: ReferenceSources): Promise<string> {
  return READERS[ref.source](ref, sources);
}

const READERS: Readonly<
  Record<SecretSource, (ref: SecretRef, sources: ReferenceSources) => Promise<string>>
> = {
  async env({ name }, sources) {
    const value = sources.env[name];
    if (value === undefined || value === '') throw new Error(notSet(name, sources));
    return value;
  },
  async file({ name, directory }, { files }) {
    let bytes: Buffer;
    try {
      bytes = await files.read(resolvePath(directory, name), MAX_SECRET_BYTES);
    } catch (error) {
      throw new Error(`the secret file ${name} cannot be read`, { cause: error });
    }
    const value = bytes.toString('utf8').replace(/\r?\n$/, '');
    if (value === '') throw new Error(`the secret file ${name} is empty`);
    return value;
  },
  async exec(ref, { commands }) {
    if (commands) return commands.run(ref);
    throw new SecretCommandError(
      'no command runs here; gateway start, plan, diff, drift and apply run those that they are allowed',
    );
  },
};
