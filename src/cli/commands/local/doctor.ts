import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatDiagnostics, hasErrors } from '../../../config/source/diagnostic.ts';
import type { Diagnostic } from '../../../config/source/diagnostic.ts';
import { loadConfig, type GatewayConfig } from '../../../config/read/load-config.ts';
import { nodeConfigFiles } from '../../../config/read/load.ts';
import { resolveAllSecrets } from '../../../config/read/secrets.ts';
import { checkProviders } from '../../local/check-providers.ts';
import { nodeFileLimits, readFileLimit } from '../../../upstream/places/file-limit.ts';
import { checkGateway } from '../../local/check-gateway.ts';
import { shippedPrices } from '../../../usage/prices/live-prices.ts';
import { checkPrices, servedUnpriced, unpricedName } from '../../local/check-prices.ts';
import { EXIT } from '../../exit-codes.ts';
import {
  checkDirectory,
  checkFileLimit,
  checkKeyFile,
  checkLedger,
  checkNode,
  type Finding,
} from '../../local/health-checks.ts';
import { DEFAULT_CONFIG, startPaths } from '../../project/project.ts';
import { describeEnvironment, environmentConfig } from '../../../config/read/environment-config.ts';
import { keepsJournal } from '../../../store/find-backend.ts';
import { oneLine } from '../../../core/printable.ts';
import type { Style } from '../../output/style.ts';
import type { InputOf, RunOf } from '../../commands.ts';

const CONFIGURATION = 'configuration';
const DEFAULT_PORT = 8787;

export const run: RunOf<'doctor'> = async (input) => {
  const findings: Finding[] = [checkNode(process.versions.node)];
  const { config, env, finding } = await checkConfig(input);
  findings.push(finding);
  if (config !== undefined) findings.push(...(await checkMachine(config, input, env)));
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

/** The configuration that a start would serve, and the environment in which it would. */
interface Checked {
  readonly config: GatewayConfig | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly finding: Finding;
}

async function checkConfig({ flags, context }: InputOf<'doctor'>): Promise<Checked> {
  const { cwd, env } = context.io;
  const prices = { now: context.clock.now(), load: shippedPrices };
  const given = startPaths(flags.config, cwd);
  const found =
    given.length === 0 &&
    (await environmentConfig({ env, cwd, files: nodeConfigFiles }, DEFAULT_PORT));
  if (found && found.found.length > 0) {
    const { text: stdin, env: own } = found;
    const { config } = await loadConfig({ paths: ['-'], stdin, cwd, env: own, prices });
    const message = describeEnvironment(found).trim();
    return { config, env: own, finding: { name: CONFIGURATION, state: 'ok', message } };
  }
  const paths = given.length === 0 ? [DEFAULT_CONFIG] : given;
  const { config, diagnostics } = await loadConfig({ paths, cwd, env, prices });
  return { config, env, finding: findingOf(config, diagnostics) };
}

function findingOf(config: GatewayConfig | undefined, diagnostics: readonly Diagnostic[]): Finding {
  const name = CONFIGURATION;
  if (config && !hasErrors(diagnostics))
    return { name, state: 'ok', message: `${config.files.join(', ')}: valid` };
  const message = formatDiagnostics(diagnostics, 'text');
  const hint = 'fix it at the lines above; without a file, `gateway init` writes one';
  return { name, state: 'bad', message, hint };
}

async function checkMachine(
  config: GatewayConfig,
  input: InputOf<'doctor'>,
  env: Checked['env'],
): Promise<Finding[]> {
  const { flags, context } = input;
  const { server, desired } = config;
  const keys = [join(server.dataDir, 'admin.key'), server.secrets.masterKeyFile];
  const keyFiles = await Promise.all(keys.map((path) => checkKeyFile(path)));
  const { findings, baseUrl } = await checkGateway(server, context, flags.config[0]);
  const served =
    baseUrl === undefined
      ? undefined
      : await servedUnpriced({ baseUrl, dataDir: server.dataDir }, context);
  return [
    await checkSecrets(config, env),
    await checkDirectory('data directory', server.dataDir),
    checkLedger(server.ledgerSync, {
      hasJournal: keepsJournal(server.store.driver),
      workers: server.workers,
    }),
    ...keyFiles.filter((finding) => finding !== undefined),
    ...findings,
    checkFileLimit(connectionsOf(desired), await fileLimitOf(server.dataDir)),
    checkPrices(served ?? config.unpriced.map(unpricedName), server),
    ...(flags.offline ? [] : await checkProviders(desired, context)),
  ];
}

async function checkSecrets({ desired }: GatewayConfig, env: Checked['env']): Promise<Finding> {
  const sources = { env, files: nodeConfigFiles };
  const { secrets, diagnostics } = await resolveAllSecrets(desired, sources);
  const name = 'secrets';
  if (diagnostics.length === 0)
    return { name, state: 'ok', message: `${secrets.size} can be read` };
  const hint = 'set the variable or write the file that the reference names';
  return { name, state: 'bad', message: formatDiagnostics(diagnostics, 'text'), hint };
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
  const gateway = await runningGateway(dataDir);
  const running = gateway && (await readFileLimit(nodeFileLimits, gateway));
  return running ?? readFileLimit(nodeFileLimits);
}

/** Process of the gateway that was started last; it may be gone. */
async function runningGateway(dataDir: string): Promise<number | undefined> {
  try {
    const { pid } = JSON.parse(await readFile(join(dataDir, 'runtime.json'), 'utf8')) as {
      pid?: unknown;
    };
    return typeof pid === 'number' ? pid : undefined;
  } catch {
    return undefined;
  }
}

function renderFinding({ name, state, message, hint }: Finding, style: Style): string {
  const marks = { ok: style.green('ok  '), warn: style.yellow('warn'), bad: style.red('bad ') };
  const lines = message.split('\n').map((line) => oneLine(line));
  const text = [`${marks[state]} ${oneLine(name)}: ${lines.join('\n       ')}`];
  if (hint !== undefined && state !== 'ok') text.push(`       ${style.dim(hint)}`);
  return text.join('\n');
}
