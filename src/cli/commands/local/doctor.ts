import { join, relative } from 'node:path';
import { formatDiagnostics, hasErrors } from '../../../config/source/diagnostic.ts';
import type { Diagnostic } from '../../../config/source/diagnostic.ts';
import type { GatewayConfig } from '../../../config/read/load-config.ts';
import { DEFAULT_CONFIG, nodeConfigFiles } from '../../../config/read/load.ts';
import { resolveSecret, SecretRef } from '../../../config/objects/references.ts';
import { resolveAllSecrets } from '../../../config/read/secrets.ts';
import { checkProviders } from '../../local/check-providers.ts';
import { nodeFileLimits, readFileLimit } from '../../../upstream/places/file-limit.ts';
import { findRuntime } from '../../../core/process/runtime-file.ts';
import { checkGateway } from '../../local/check-gateway.ts';
import { shippedPrices } from '../../../usage/prices/live-prices.ts';
import { checkPrices, servedUnpriced, unpricedName } from '../../local/check-prices.ts';
import { EXIT } from '../../exit-codes.ts';
import {
  checkAdminKey,
  checkDirectory,
  checkFileLimit,
  checkKeyFile,
  checkLedger,
  checkMasterKey,
  checkNode,
  type Finding,
} from '../../local/health-checks.ts';
import { loadFiles, readsEnvFile, startPaths } from '../../project/project.ts';
import { describeEnvironment, environmentConfig } from '../../../config/read/environment-config.ts';
import { isInFiles, keepsJournal } from '../../../store/find-backend.ts';
import { oneLine } from '../../../core/printable.ts';
import type { Style } from '../../output/style.ts';
import type { InputOf, RunOf } from '../../commands.ts';

const CONFIGURATION = 'configuration';

export const run: RunOf<'doctor'> = async (input) => {
  const findings: Finding[] = [checkNode(process.versions.node)];
  const { config, finding } = await checkConfig(input);
  findings.push(finding);
  if (config !== undefined) findings.push(...(await checkMachine(config, input)));
  const bad = findings.filter(({ state }) => state === 'bad').length;
  return {
    data: { findings },
    text: (style) => findings.map((one) => renderFinding(one, style)).join('\n'),
    ...(bad > 0 && {
      failure: {
        code: 'unhealthy',
        message: `${bad} of ${findings.length} checks failed`,
        exitCode: EXIT.failed.code,
      },
    }),
  };
};

/** The configuration that a start would serve. */
interface Checked {
  readonly config: GatewayConfig | undefined;
  readonly finding: Finding;
}

async function checkConfig({ flags, context }: InputOf<'doctor'>): Promise<Checked> {
  const { cwd, env } = context.io;
  const common = {
    prices: { now: context.clock.now(), load: shippedPrices },
    commands: { isOwnFile: true, allowed: flags['allow-exec'] },
  };
  const given = startPaths(flags.config, cwd);
  const found =
    given.length === 0 &&
    (await environmentConfig({
      env,
      cwd,
      files: nodeConfigFiles,
      envFile: readsEnvFile(context.globals),
    }));
  if (found && found.found.length > 0) {
    const { config } = await loadFiles(context, { ...common, paths: ['-'], stdin: found.text });
    const message = describeEnvironment(found).trim();
    return { config, finding: { name: CONFIGURATION, state: 'ok', message } };
  }
  const paths = given.length === 0 ? [DEFAULT_CONFIG] : given;
  const { config, diagnostics } = await loadFiles(context, { ...common, paths });
  return { config, finding: findingOf(config, diagnostics) };
}

function findingOf(config: GatewayConfig | undefined, diagnostics: readonly Diagnostic[]): Finding {
  const name = CONFIGURATION;
  if (config && !hasErrors(diagnostics))
    return { name, state: 'ok', message: `${config.files.join(', ')}: valid` };
  const message = formatDiagnostics(diagnostics, 'text');
  const hint = 'fix it at the lines above; without a file, `gateway init` writes one';
  return { name, state: 'bad', message, hint };
}

async function checkMachine(config: GatewayConfig, input: InputOf<'doctor'>): Promise<Finding[]> {
  const { flags, context } = input;
  const { server, desired } = config;
  const keys = [join(server.dataDir, 'admin.key'), server.secrets.masterKeyFile];
  const keyFiles = await Promise.all([
    ...keys.map((path) => checkKeyFile(path)),
    checkAdminKey(server.dataDir),
  ]);
  const { findings, baseUrl } = await checkGateway(server, context, flags.config[0]);
  const served =
    baseUrl === undefined
      ? undefined
      : await servedUnpriced({ baseUrl, dataDir: server.dataDir }, context);
  return [
    await checkSecrets(config),
    await checkDirectory('data directory', server.dataDir),
    ...(await checkStoreDirectory(server)),
    checkLedger(server.ledgerSync, {
      hasJournal: keepsJournal(server.store.driver),
      workers: server.workers,
    }),
    ...keyFiles.filter((finding) => finding !== undefined),
    ...(await checkSealKey(config)),
    ...findings,
    checkFileLimit(connectionsOf(desired), await fileLimitOf(server.dataDir)),
    checkPrices(served ?? config.unpriced.map(unpricedName), server),
    ...(flags.offline ? [] : await checkProviders(config, context)),
  ];
}

async function checkSecrets({ desired, sources }: GatewayConfig): Promise<Finding> {
  const { secrets, diagnostics } = await resolveAllSecrets(desired, sources);
  const name = 'secrets';
  if (diagnostics.length === 0)
    return { name, state: 'ok', message: `${secrets.size} can be read` };
  const hint = 'set the variable, write the file, or allow the command that the reference names';
  return { name, state: 'bad', message: formatDiagnostics(diagnostics, 'text'), hint };
}

/** Of a store in files outside of the data directory. */
async function checkStoreDirectory({
  store,
  dataDir,
}: GatewayConfig['server']): Promise<Finding[]> {
  if (!isInFiles(store.driver) || !relative(dataDir, store.path).startsWith('..')) return [];
  return [await checkDirectory('store directory', store.path)];
}

/** None for a key that the first start makes, and for one that {@link checkSecrets} reports. */
async function checkSealKey({ server, sources }: GatewayConfig): Promise<Finding[]> {
  const { masterKey, masterKeyFile } = server.secrets;
  const reference = masterKey ?? new SecretRef('file', masterKeyFile, '/');
  const key = await resolveSecret(reference, sources).catch(() => undefined);
  return key === undefined ? [] : [checkMasterKey(key.trim())];
}

function connectionsOf({ objects }: GatewayConfig['desired']): number[] {
  return objects
    .filter(({ kind }) => kind === 'provider' || kind === 'api')
    .map(({ body }) => body['connections'])
    .filter((connections) => typeof connections === 'number');
}

/**
 * File limit of the running gateway, where the system reports it; else of one started from here.
 */
async function fileLimitOf(dataDir: string): Promise<number | undefined> {
  const { pid } = findRuntime(dataDir)?.record ?? {};
  const running = pid === undefined ? undefined : await readFileLimit(nodeFileLimits, pid);
  return running ?? readFileLimit(nodeFileLimits);
}

function renderFinding({ name, state, message, hint }: Finding, style: Style): string {
  const marks = { ok: style.green('ok  '), warn: style.yellow('warn'), bad: style.red('bad ') };
  const lines = message.split('\n').map((line) => oneLine(line));
  const text = [`${marks[state]} ${oneLine(name)}: ${lines.join('\n       ')}`];
  if (hint !== undefined && state !== 'ok') text.push(`       ${style.dim(hint)}`);
  return text.join('\n');
}
