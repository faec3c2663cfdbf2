import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ReferenceSources } from '../../config/objects/references.ts';
import type { ServerConfig } from '../../config/schema/server-config.ts';
import type { CopyOptions } from '../../store/backends/lmdb/backup/files.ts';
import { isFileDriver } from '../../store/unstorage/file-drivers.ts';
import type { WalkOptions } from '../../store/raw/summary.ts';
import type { CommandResult } from '../command.ts';
import type { FlagInput } from '../command-input.ts';
import { configPaths, invalidConfig, loadFiles, startPaths } from '../project/project.ts';
import type { CONFIG } from '../tables/shared-words.ts';

const TELL_MS = 2_000;

/** Runs `use` with the server section of gateway.yaml or what --config names; else exit 3. */
export async function withServer(
  { flags, context }: FlagInput<readonly [typeof CONFIG]>,
  use: (server: ServerConfig, sources: ReferenceSources) => Promise<CommandResult>,
): Promise<CommandResult> {
  const { cwd } = context.io;
  // A gateway of the environment has no file, and its store is in the default directory.
  const isWithout = flags.config.length === 0 && existsSync(join(cwd, '.gateway', 'store'));
  const given = isWithout ? startPaths(flags.config, cwd) : configPaths(flags.config, cwd);
  const read = given.length > 0 ? { paths: given } : { paths: ['-'], stdin: 'version: 1\n' };
  const { config, diagnostics } = await loadFiles(context, {
    ...read,
    commands: { isOwnFile: true },
  });
  return config ? use(config.server, config.sources) : invalidConfig(diagnostics);
}

/**
 * Options that stop work on an interrupt and show its progress on a terminal: every other second,
 * one line.
 */
export function storeWork({ context }: Pick<FlagInput<[]>, 'context'>): WalkOptions & CopyOptions {
  const { clock, io, output, signal } = context;
  let toldAt = clock.monotonic();
  let bytes = 0;
  const tell = (text: () => string): void => {
    if (io.stderr.isTTY !== true || clock.monotonic() < toldAt + TELL_MS) return;
    toldAt = clock.monotonic();
    output.note(text());
  };
  return {
    signal,
    onRows: (rows) => tell(() => `${rows.toLocaleString('en')} rows`),
    onBytes(more) {
      bytes += more;
      tell(() => `${toMiB(bytes)} MiB`);
    },
  };
}

/** Whole MiB, and one digit more below ten. */
export function toMiB(bytes: number): string {
  const size = bytes / (1024 * 1024);
  return size < 10 ? size.toFixed(1) : Math.round(size).toLocaleString('en');
}

/** The folder of media that lie on this machine. */
export function mediaFolder({ media }: ServerConfig): string | undefined {
  return isFileDriver(media.store.driver) ? media.store.path : undefined;
}
