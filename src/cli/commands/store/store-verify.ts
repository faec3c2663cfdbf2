import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { damaged } from '../../../store/damage.ts';
import { MANIFEST } from '../../../store/backends/lmdb/backup/manifest.ts';
import { verifyBackup } from '../../../store/backends/lmdb/backup/verify-backup.ts';
import { openRaw } from '../../../store/raw/open-raw.ts';
import { verifyApart, type ApartReport } from '../../../store/raw/verify-apart.ts';
import { verifyStore, type Problem, type Verified } from '../../../store/raw/verify-store.ts';
import { BACKENDS } from '../../../store/backends/registry.ts';
import { backendOf, fileOf } from '../../../store/find-backend.ts';
import type { StoreConfig } from '../../../store/store-config.ts';
import { CliError } from '../../cli-error.ts';
import type { CommandResult } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { oneLine } from '../../../core/printable.ts';
import { toStorePlace } from '../../local/store-place.ts';
import { storeWork, withServer } from '../../local/store-work.ts';
import type { InputOf, RunOf } from '../../commands.ts';

export const run: RunOf<'store verify'> = async (input) => {
  const { args, context } = input;
  const given = args.what;
  if (given === undefined) {
    return withServer(input, ({ store }) => verify(store, `the ${store.driver} store`, input));
  }
  const path = resolve(context.io.cwd, given);
  if (existsSync(join(path, MANIFEST))) return verifyCopy(path, input);
  const driver = driverIn(path);
  if (driver !== undefined) return verify({ driver, path }, path, input);
  if (!/:|\.(ya?ml|json)$/.test(given)) {
    throw new CliError({
      code: 'not_found',
      message: `there is neither a backup nor a store in ${path}`,
    });
  }
  const { config, shown } = await toStorePlace(given, context);
  return verify(config, shown, input);
};

/** The driver whose file lies in a folder. */
function driverIn(path: string): string | undefined {
  const drivers = BACKENDS.flatMap(({ drivers }) => drivers);
  return drivers.find((driver) => {
    const file = fileOf(driver);
    return file !== undefined && existsSync(join(path, file));
  });
}

interface Report {
  readonly what: string;
  readonly format: number;
  readonly identity: string | null;
  readonly createdAt: string | null;
  readonly store: Verified | undefined;
  readonly problems: readonly Problem[];
}

async function verify(
  config: StoreConfig,
  what: string,
  input: InputOf<'store verify'>,
): Promise<CommandResult> {
  const { format, meta, verified } = await read(config, input);
  const { incoming, identity = null } = meta;
  const half = { where: what, what: 'a migration into it began and did not end' };
  const problems = incoming ? [half, ...verified.problems] : verified.problems;
  return toResult({ what, format, identity, createdAt: null, store: verified, problems });
}

async function read(config: StoreConfig, input: InputOf<'store verify'>): Promise<ApartReport> {
  const work = storeWork(input);
  if (backendOf(config.driver)?.mayEndReader === true) return verifyApart(config, work);
  const raw = await openRaw(config, { clock: input.context.clock, isHeld: false });
  try {
    const { format, meta } = raw;
    return { format, meta, verified: await verifyStore(raw, work) };
  } finally {
    await raw.close();
  }
}

async function verifyCopy(
  directory: string,
  input: InputOf<'store verify'>,
): Promise<CommandResult> {
  const { manifest, store, problems } = await verifyBackup(directory, storeWork(input));
  const { format, identity } = manifest.store;
  const createdAt = manifest.created_at;
  return toResult({ what: directory, format, identity, createdAt, store, problems });
}

function toResult({ what, format, identity, createdAt, store, problems }: Report): CommandResult {
  const segments = store?.segments ?? {};
  const lines = [
    `${what}: ${store?.rows ?? 0} rows, format ${format}`,
    ...Object.entries(segments).map(([name, rows]) => `  ${oneLine(name)}  ${rows}`),
    ...problems.map(({ where, what: found }) => `broken  ${oneLine(`${where}: ${found}`)}`),
  ];
  return {
    data: {
      what,
      format,
      identity,
      created_at: createdAt,
      rows: store?.rows ?? null,
      bytes: store?.bytes ?? null,
      checksum: store?.checksum ?? null,
      segments,
      problems,
    },
    text: lines.join('\n'),
    ...(problems.length > 0 && {
      failure: {
        code: 'store_broken',
        message: damaged(
          `${problems.length} ${problems.length === 1 ? 'thing is' : 'things are'} broken`,
          what,
        ).message,
        exitCode: EXIT.failed.code,
      },
    }),
  };
}
