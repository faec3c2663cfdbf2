import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '../../../client/create-client.ts';
import { formatDiagnostics, hasErrors } from '../../../config/source/diagnostic.ts';
import { loadConfig, type GatewayConfig } from '../../../config/read/load-config.ts';
import { nodeConfigFiles } from '../../../config/read/load.ts';
import { resolveAllSecrets } from '../../../config/read/secrets.ts';
import { checkProviders } from '../../local/check-providers.ts';
import { nodeFileLimits, readFileLimit } from '../../../upstream/places/file-limit.ts';
import { checkSchedules } from '../../local/check-schedules.ts';
import type { CommandContext } from '../../context.ts';
import type { CommandInput, CommandRun } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import {
  checkDirectory,
  checkFileLimit,
  checkKeyFile,
  checkLedger,
  checkNode,
  checkPort,
  type Finding,
} from '../../local/health-checks.ts';
import { keepsJournal } from '../../../store/find-backend.ts';
import { addressOf } from '../../connection/declared-gateway.ts';
import { DEFAULT_CONFIG } from '../../project/project.ts';
import { oneLine } from '../../../core/printable.ts';
import type { Style } from '../../output/style.ts';

export const run: CommandRun = async (input) => {
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

async function checkConfig({
  flags,
  context,
}: CommandInput): Promise<{ config: GatewayConfig | undefined; finding: Finding }> {
  const given = flags.list('config');
  const paths = given.length === 0 ? [DEFAULT_CONFIG] : given;
  const { cwd, env } = context.io;
  const { config, diagnostics } = await loadConfig({ paths, cwd, env });
  const name = 'configuration';
  if (hasErrors(diagnostics) || config === undefined) {
    const message = formatDiagnostics(diagnostics, 'text');
    return {
      config,
      finding: {
        name,
        state: 'bad',
        message,
        hint: 'fix it at the lines above; without a file, `gateway init` writes one',
      },
    };
  }
  return { config, finding: { name, state: 'ok', message: `${config.files.join(', ')}: valid` } };
}

async function checkMachine(config: GatewayConfig, input: CommandInput): Promise<Finding[]> {
  const { flags, context } = input;
  const { server, desired } = config;
  const keys = [join(server.dataDir, 'admin.key'), server.secrets.masterKeyFile];
  const keyFiles = await Promise.all(keys.map((path) => checkKeyFile(path)));
  return [
    await checkSecrets(config, context),
    await checkDirectory('data directory', server.dataDir),
    checkLedger(server.ledgerSync, {
      hasJournal: keepsJournal(server.store.driver),
      workers: server.workers,
    }),
    ...keyFiles.filter((finding) => finding !== undefined),
    ...(await checkGateway(config, context)),
    checkFileLimit(connectionsOf(desired), await fileLimitOf(server.dataDir)),
    ...(flags.on('offline') ? [] : await checkProviders(desired, context)),
  ];
}

async function checkSecrets({ desired }: GatewayConfig, { io }: CommandContext): Promise<Finding> {
  const sources = { env: io.env, files: nodeConfigFiles };
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
 * File limit of the gateway that runs, where the system tells it; else of one started from here.
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

/** A gateway that answers holds its own port; otherwise the port must be free. */
async function checkGateway(
  { server }: GatewayConfig,
  context: CommandContext,
): Promise<Finding[]> {
  const { dataDir, listen } = server;
  const baseUrl = addressOf(listen);
  if (baseUrl === undefined || !(await answers(baseUrl, context)))
    return [await checkPort(listen.host, listen.port)];
  return [
    { name: 'gateway', state: 'ok', message: `a gateway answers at ${baseUrl}` },
    ...(await checkSchedules({ baseUrl, dataDir }, context)),
  ];
}

/** False when nobody, or somebody else, is there: the port itself tells which. */
async function answers(baseUrl: string, { clock, signal, io }: CommandContext): Promise<boolean> {
  const client = createClient({
    baseUrl,
    clock,
    fetch: io.fetch,
    timeoutMs: 2000,
    retry: { maxAttempts: 1 },
  });
  try {
    await client.raw({ method: 'GET', path: '/healthz', signal });
    return true;
  } catch {
    return false;
  }
}

function renderFinding({ name, state, message, hint }: Finding, style: Style): string {
  const marks = { ok: style.green('ok  '), warn: style.yellow('warn'), bad: style.red('bad ') };
  const lines = message.split('\n').map((line) => oneLine(line));
  const text = [`${marks[state]} ${oneLine(name)}: ${lines.join('\n       ')}`];
  if (hint !== undefined && state !== 'ok') text.push(`       ${style.dim(hint)}`);
  return text.join('\n');
}
